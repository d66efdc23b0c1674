"""The endpoints that the settings name, and the models behind them. Models of one endpoint share its client."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from core.errors import BadInput, Unavailable
from core.ports import Embedder, Llm, Meter
from core.settings import Settings

if TYPE_CHECKING:
    from core.adapters.web.bedrock import Bedrock
    from core.adapters.web.openai_compatible import Endpoint

OPENAI, BEDROCK = "openai:", "bedrock:"


def is_remote(name: str) -> bool:
    """Whether the model is behind an endpoint.

    >>> is_remote("bedrock:amazon.titan-embed-text-v2:0"), is_remote("bge-small-en-v1.5-int8")
    (True, False)
    """
    return name.startswith((OPENAI, BEDROCK))


class Endpoints:
    """Opens a client when the first model needs it."""

    def __init__(self, settings: Settings = Settings(), meter: Meter | None = None) -> None:
        self.settings, self._meter = settings, meter
        self._openai: Endpoint | None = None
        self._bedrock: Bedrock | None = None
        self._opening = threading.Lock()

    def llm(self, name: str) -> Llm:
        if not name:
            raise Unavailable(
                "No language model is configured. Set CONCORD_LLM to openai:MODEL, with CONCORD_OPENAI_URL and "
                "CONCORD_OPENAI_KEY, or to bedrock:MODEL, with CONCORD_BEDROCK_REGION."
            )
        if name.startswith(OPENAI):
            from core.adapters.web.openai_compatible import OpenAiLlm

            return OpenAiLlm(name, self.openai())
        if name.startswith(BEDROCK):
            from core.adapters.web.bedrock import BedrockLlm

            return BedrockLlm(name, self.bedrock())
        raise BadInput(f"The language model {name!r} must be named openai:MODEL or bedrock:MODEL.")

    def embedder(self, name: str) -> Embedder:
        from core.adapters.web import bedrock, openai_compatible
        from core.adapters.web.remote_embedder import Unmetered

        meter = self._meter or Unmetered()
        if name.startswith(OPENAI):
            return openai_compatible.embedder(name, self.openai(), meter)
        return bedrock.embedder(name, self.bedrock(), meter)

    def openai(self) -> Endpoint:
        from core.adapters.web.openai_compatible import Endpoint

        settings = self.settings
        if not settings.openai_url:
            raise Unavailable(
                "Models named openai: need an endpoint. Set CONCORD_OPENAI_URL, for example to "
                "https://api.openai.com/v1 or http://localhost:11434/v1."
            )
        with self._opening:
            self._openai = self._openai or Endpoint(
                settings.openai_url, settings.openai_key, settings.llm_timeout, settings.llm_concurrency
            )
            return self._openai

    def bedrock(self) -> Bedrock:
        from core.adapters.web.bedrock import Bedrock

        settings = self.settings
        with self._opening:
            self._bedrock = self._bedrock or Bedrock(
                settings.bedrock_region, settings.bedrock_url, settings.llm_timeout, settings.llm_concurrency
            )
            return self._bedrock


def free(settings: Settings) -> tuple[str, ...]:
    """Name prefixes of models that run on this machine and cost nothing."""
    from core.adapters.web.http import is_local

    return (OPENAI,) if is_local(settings.openai_url) else ()
