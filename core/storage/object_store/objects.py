"""Objects on an S3 store, by its address: read, written on conditions, listed, deleted. What goes wrong is
said in our words. A store must keep its word: of several who write one object on a condition, exactly one may win."""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from core import strict
from core.adapters.system.files import read_json, write_atomic
from core.errors import ConcordError, Conflict, NotFound, Refused, Unavailable, in_one_line, storing

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


def _session() -> Any:
    import boto3

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return boto3.Session(region_name=region or boto3.Session().region_name or "us-east-1")


def _endpoint() -> str:
    """Another store than Amazon's."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


_PART = 1 << 20  # bytes that are read at a time
_RESUMED = 3  # times that a download is taken up again where it broke off
_DELETED = 1000  # keys in one request, which is S3's limit


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object with its bytes."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object in a listing. `age` is in seconds, by the clock of the store."""

    key: str
    size: int
    etag: str
    age: float


class ObjectStore:
    """The objects below one prefix of a bucket; safe to share between threads."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.bucket, self.prefix = split(url)
        self._connecting = threading.Lock()

    @cached_property
    def _s3(self) -> Any:
        with self._connecting, self._asking(""):
            return client()

    @property
    def endpoint(self) -> str:
        return str(self._s3.meta.endpoint_url)

    def get(self, key: str) -> StoredObject | None:
        """The object, None where there is none."""
        try:
            with self._asking(key):
                answer = self._s3.get_object(**self._named(key))
                return StoredObject(answer["Body"].read(), answer["ETag"])
        except NotFound:
            return None

    def put(self, key: str, data: bytes, *, if_none_match: bool = False, if_match: str = "") -> str:
        """Write an object and return its ETag; Conflict if it exists already or is not the expected one."""
        condition = {"IfMatch": if_match} if if_match else {}
        if if_none_match:
            condition = {"IfNoneMatch": "*"}
        try:
            with self._asking(key):
                return str(self._s3.put_object(**self._named(key), Body=data, **condition)["ETag"])
        except Conflict:
            mine = self.get(key)  # a request that was sent twice meets what its first sending wrote
            if mine is None or mine.data != data:
                raise
            return mine.etag

    def put_file(self, key: str, path: Path) -> None:
        """Upload a file, in parts where it is large."""
        with self._asking(key):
            self._s3.upload_file(str(path), self.bucket, self.prefix + key)

    def fetch(self, key: str, path: Path) -> str:
        """Download into a file and return its sha256. A broken connection is taken up again where it broke off."""
        digest, etag = hashlib.sha256(), ""
        with storing(path), path.open("wb") as file:
            for attempt in range(_RESUMED):
                try:
                    etag = self._stream(key, file, digest, etag)
                    break
                except Unavailable:
                    if attempt == _RESUMED - 1:
                        raise
        return digest.hexdigest()

    def _stream(self, key: str, file: Any, digest: Any, etag: str) -> str:
        """Append what is missing of a file that is being downloaded."""
        start = file.tell()
        rest = {"Range": f"bytes={start}-", "IfMatch": etag} if start else {}
        with self._asking(key):
            answer = self._s3.get_object(**self._named(key), **rest)
            for part in answer["Body"].iter_chunks(_PART):
                file.write(part)
                digest.update(part)
        return str(answer["ETag"])

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Every object below a prefix, by key."""
        with self._asking(prefix):
            pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix + prefix)
            for page in pages:
                now = parsedate_to_datetime(page["ResponseMetadata"]["HTTPHeaders"]["date"])
                for row in page.get("Contents", ()):
                    yield self._listed(row, now)

    def _listed(self, row: Any, now: datetime) -> ListedObject:
        age = (now - row["LastModified"]).total_seconds()
        return ListedObject(row["Key"].removeprefix(self.prefix), row["Size"], row["ETag"], age)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; those that are gone already do not matter."""
        named = [{"Key": self.prefix + key} for key in keys]
        for start in range(0, len(named), _DELETED):
            with self._asking(self.url):
                self._s3.delete_objects(
                    Bucket=self.bucket, Delete={"Objects": named[start : start + _DELETED], "Quiet": True}
                )

    def _named(self, key: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.prefix + key}

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Say in our words what boto3 and its parts raise during the block."""
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
        from urllib3.exceptions import HTTPError

        try:
            yield
        except ClientError as error:
            raise self._refusal(error, key) from error
        except (BotoCoreError, Boto3Error, HTTPError) as error:
            why = in_one_line(error, 300).rstrip(".")
            raise Unavailable(f"The store {self.url} cannot be used: {why}.") from error

    def _refusal(self, error: Any, key: str) -> ConcordError:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code == "NoSuchBucket":
            return Unavailable(f"The store {self.url} has no bucket {self.bucket!r}. Create it, or name another one.")
        if status == 404:
            return NotFound(f"The store {self.url} has no object {key!r}.")
        if status in (409, 412):
            return Conflict(f"{key!r} on the store {self.url} changed in the meantime.", (key,))
        if status in (401, 403):
            return Unavailable(
                f"The store {self.url} refuses these credentials ({code}). Look at AWS_ACCESS_KEY_ID and its rights."
            )
        return Unavailable(f"The store {self.url} answered {code or status}: {str(error)[:200]}")


RACERS = 6
_DAY = 24 * 3600


class Conformance:
    """Checks a store once, and again after a day. What was found is kept in a file of this machine."""

    def __init__(self, objects: ObjectStore, found: Path) -> None:
        self.objects, self.found, self._passed = objects, found, False

    def require(self) -> None:
        """Refuse a store that ignores conditions."""
        if self._passed:
            return
        known = read_json(self.found) or {}
        same = (known.get("store"), known.get("endpoint")) == (self.objects.url, self.objects.endpoint)
        if not same or self._old():
            self.again()
        self._passed = True

    def again(self) -> None:
        """Check whatever was found before."""
        check(self.objects)
        facts = {"store": self.objects.url, "endpoint": self.objects.endpoint}
        with suppress(OSError):  # then it is checked at every start
            write_atomic(self.found, strict.canonical(facts))

    def _old(self) -> bool:
        return time.time() - self.found.stat().st_mtime > _DAY


def check(objects: ObjectStore) -> None:
    """Race for one object twice: who makes it, and who replaces it. Refused, unless each race has one winner."""
    key = f"conformance/{secrets.token_hex(8)}"
    try:
        first = _race(objects, key, lambda data: objects.put(key, data, if_none_match=True))
        second = _race(objects, key, lambda data: objects.put(key, data, if_match=first))
        _stale(objects, key, first, second)
    finally:
        objects.delete([key])


def _race(objects: ObjectStore, key: str, write: Callable[[bytes], str]) -> str:
    """The ETag of what the one winner wrote."""
    ready = threading.Barrier(RACERS)

    def run(number: int) -> tuple[bytes, str] | None:
        data = f"{number} {secrets.token_hex(8)}".encode()
        ready.wait()
        try:
            return data, write(data)
        except Conflict:
            return None

    with ThreadPoolExecutor(RACERS) as racers:
        winners = [won for won in racers.map(run, range(RACERS)) if won]
    stored = objects.get(key)
    if len(winners) != 1 or stored is None or stored.data != winners[0][0]:
        raise _refused(objects, f"{len(winners)} of {RACERS} writers of one object won, and one may")
    return stored.etag


def _stale(objects: ObjectStore, key: str, old: str, new: str) -> None:
    """What was replaced may not be replaced again, and what is there may not be made again."""
    for condition in ({"if_match": old}, {"if_none_match": True}):
        try:
            objects.put(key, secrets.token_bytes(8), **condition)  # type: ignore[arg-type]
        except Conflict:
            continue
        raise _refused(objects, "it replaced an object although the condition of the request was not met")
    if (stored := objects.get(key)) is None or stored.etag != new:
        raise _refused(objects, "it does not return what was written last")


def _refused(objects: ObjectStore, why: str) -> Refused:
    return Refused(
        f"The store {objects.url} at {objects.endpoint} ignores conditions of writes: {why}. "
        "One machine would overwrite the work of another. "
        "Use a store that honours If-None-Match and If-Match, such as Amazon S3 or SeaweedFS."
    )
