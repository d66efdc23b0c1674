"""Models on Amazon Bedrock: Converse for language models, Titan for vectors. AWS's own configuration holds the
credentials.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.adapters.web.http import Status, check_url, redact, refusal
from core.adapters.web.remote_embedder import Card, RemoteEmbedder, read_card
from core.adapters.web.retries import DeadlineExceeded, Retryable, RetryingClient
from core.cures import install
from core.errors import BadInput, Unavailable, one_of
from core.ports import Meter
from core.types import Answer, LlmRequest

CARDS: Mapping[str, Card] = {"amazon.titan-embed-text-v2:0": Card(1024, 8192, batch=1)}  # a call holds one text
_TRAVELS = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")  # what an error message could echo


class Bedrock:
    """One region or endpoint."""

    def __init__(self, region: str, url: str, timeout: float, concurrency: int) -> None:
        self.server = url or f"bedrock {region}".strip()
        self.retrying = RetryingClient("Amazon Bedrock", timeout, concurrency)
        self.client = _client(region, check_url(url, "CONCORD_BEDROCK_URL") if url else None, timeout, concurrency)

    def ask(self, call: Callable[[], Any]) -> Any:
        try:
            return self.retrying.call(lambda seconds: _attempt(call))
        except Status as error:
            if error.code in (401, 403):
                raise Unavailable(
                    "Amazon Bedrock does not accept the credentials, or they do not allow this model. Check AWS's "
                    "own configuration and the model access of the account."
                ) from None
            refused = redact(str(error), [os.environ.get(name, "") for name in _TRAVELS])
            raise Unavailable(f"Amazon Bedrock refused the call with {refused}.") from None


def _client(region: str, url: str | None, timeout: float, concurrency: int) -> Any:
    """boto3 without its own retries and without its debug log, which would hold documents and signatures."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError:
        raise Unavailable("Amazon Bedrock needs boto3.", install("boto3", "-r", "requirements.txt")) from None
    for name in ("boto3", "botocore", "urllib3"):
        logging.getLogger(name).setLevel(logging.INFO)
    config = Config(
        connect_timeout=min(5.0, timeout),
        read_timeout=timeout,
        retries={"total_max_attempts": 1},
        max_pool_connections=concurrency,
    )
    try:
        return boto3.session.Session().client(
            "bedrock-runtime", region_name=region or None, endpoint_url=url, config=config
        )
    except (BotoCoreError, ValueError) as error:
        raise Unavailable(
            f"Amazon Bedrock cannot be used: {error}. Set CONCORD_BEDROCK_REGION, for example us-east-1."
        ) from None


def _attempt(call: Callable[[], Any]) -> Any:
    from botocore import exceptions as boto

    try:
        return call()
    except boto.ClientError as error:
        raise _refusal(error.response) from None
    except (boto.ReadTimeoutError, boto.ConnectTimeoutError):
        raise DeadlineExceeded from None
    except (boto.NoCredentialsError, boto.PartialCredentialsError):
        raise Unavailable(
            "Amazon Bedrock needs AWS credentials: set AWS_PROFILE, or give this machine a role."
        ) from None
    except boto.HTTPClientError as error:
        raise Retryable(f"it cannot be reached ({type(error).__name__})") from None
    except boto.ParamValidationError:
        raise BadInput("The call to Amazon Bedrock is not well formed. Check the model's name.") from None
    except (
        boto.BotoCoreError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:  # botocore's parser leaks
        raise Unavailable(f"Amazon Bedrock answered with something unreadable ({type(error).__name__}).") from None


def _refusal(response: Mapping[str, Any]) -> Exception:
    """A client error as an exception, by its status."""
    error, meta = response.get("Error", {}), response.get("ResponseMetadata", {})
    code = int(meta.get("HTTPStatusCode") or 400)
    throttled = "Throttling" in str(error.get("Code")) or "TooManyRequests" in str(error.get("Code"))
    message = " ".join(str(error.get("Message", "")).split())[:200]
    return refusal(429 if throttled else code, message, str(meta.get("HTTPHeaders", {}).get("retry-after", "")))


class BedrockLlm:
    """The `Llm` port on Converse."""

    def __init__(self, name: str, bedrock: Bedrock) -> None:
        self.name, self._model, self._bedrock = name, name.partition(":")[2], bedrock
        self.server = bedrock.server

    def complete(self, request: LlmRequest) -> Answer:
        """Ask once. Converse takes no schema and gives no log-probabilities; the check is the caller's."""
        if not request.prompt.strip():
            raise BadInput("The prompt is empty.")
        started = time.perf_counter()
        asked = {
            "modelId": self._model,
            "messages": [{"role": "user", "content": [{"text": request.prompt.encode("utf-8", "replace").decode()}]}],
            "inferenceConfig": {"maxTokens": request.max_tokens, "temperature": request.temperature},
            **({"system": [{"text": request.system}]} if request.system.strip() else {}),
        }
        raw = self._bedrock.ask(lambda: self._bedrock.client.converse(**asked))
        return self._answer(raw, time.perf_counter() - started)

    def _answer(self, raw: Any, seconds: float) -> Answer:
        try:
            text = "".join(part.get("text", "") for part in raw["output"]["message"]["content"])
            used = raw.get("usage") or {}
            counts = int(used.get("inputTokens") or 0), int(used.get("outputTokens") or 0)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unavailable(f"{self.name} answered without a message.") from None
        return Answer(text, self.name, *counts, seconds=seconds, finish=str(raw.get("stopReason") or ""))


def embedder(name: str, bedrock: Bedrock, meter: Meter) -> RemoteEmbedder:
    """An embedder by its name in a profile: `bedrock:amazon.titan-embed-text-v2:0`."""
    model = name.partition(":")[2].partition("?")[0]
    one_of(model, CARDS, "Bedrock embedder", "Known")
    card = replace(read_card(name, CARDS[model]), batch=1)

    def send(texts: Sequence[str]) -> tuple[list[list[float]], int]:
        asked = {"inputText": texts[0], "dimensions": card.dimension, "normalize": True}
        raw = bedrock.ask(lambda: _invoke(bedrock.client, model, asked))
        try:
            return [raw["embedding"]], int(raw.get("inputTextTokenCount") or 0)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unavailable(f"{name} answered without a vector.") from None

    return RemoteEmbedder(name, card, send, meter, bedrock.retrying.concurrency)


def _invoke(client: Any, model: str, asked: Mapping[str, Any]) -> Any:
    response = client.invoke_model(
        modelId=model, body=json.dumps(asked), contentType="application/json", accept="application/json"
    )
    return json.loads(response["body"].read())
