"""Where the store is and who asks: `s3://bucket/prefix`, with endpoint and credentials by the usual AWS ways.

Those ways are boto3's: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, the files
in ~/.aws, or the role of the machine. LanceDB gets the keys that boto3 found, but for those of a role, which it finds and renews.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from core.errors import Unavailable

CONNECT, READ, ATTEMPTS = 2, 30, 3  # seconds, seconds, tries of one request


def split(url: str) -> tuple[str, str]:
    """Bucket and prefix; the prefix is empty or ends with a slash.

    >>> split("s3://files/concord"), split("s3://files")
    (('files', 'concord/'), ('files', ''))
    """
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    prefix = prefix.strip("/")
    return bucket, f"{prefix}/" if prefix else ""


def client() -> Any:
    """A boto3 client that gives up on a dead endpoint after some seconds."""
    from botocore.config import Config

    style = {"addressing_style": "path"} if _endpoint() else {}
    config = Config(
        connect_timeout=CONNECT,
        read_timeout=READ,
        retries={"max_attempts": ATTEMPTS, "mode": "standard"},
        s3=style,
        max_pool_connections=16,
        request_checksum_calculation="when_required",  # other stores than Amazon's do not know the newer checksums
        response_checksum_validation="when_required",
    )
    return _session().client("s3", config=config)


def lance_options() -> Mapping[str, str]:
    """What LanceDB needs as `storage_options` to reach the same store.

    >>> lance_options()["aws_virtual_hosted_style_request"] if _endpoint() else "false"
    'false'
    """
    session = _session()
    found = session.get_credentials()
    if found is None:
        raise Unavailable("The store needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
    limits = {"connect_timeout": f"{CONNECT}s", "timeout": f"{READ}s", "client_retry_timeout": str(ATTEMPTS * READ)}
    endpoint, options = _endpoint(), {"region": session.region_name, **_keys(found), **limits}
    if endpoint:
        options |= {"endpoint": endpoint, "aws_virtual_hosted_style_request": "false"}
        options["allow_http"] = str(endpoint.startswith("http://")).lower()
    return options


def _keys(found: Any) -> dict[str, str]:
    """Keys that stay as they are. Those of a role expire while a table is open: LanceDB finds and renews them by itself."""
    from botocore.credentials import RefreshableCredentials

    if isinstance(found, RefreshableCredentials):
        return {}
    keys = found.get_frozen_credentials()
    token = {"aws_session_token": keys.token} if keys.token else {}
    return {"aws_access_key_id": keys.access_key, "aws_secret_access_key": keys.secret_key, **token}


def _session() -> Any:
    import boto3

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return boto3.Session(region_name=region or boto3.Session().region_name or "us-east-1")


def _endpoint() -> str:
    """Another store than Amazon's."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
