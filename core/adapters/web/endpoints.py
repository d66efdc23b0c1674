"""Which endpoints the settings name, and the models behind them. Each endpoint has one line, shared by its models."""

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
    """Whether a name is that of a model behind an endpoint.

    >>> is_remote("bedrock:amazon.titan-embed-text-v2:0"), is_remote("bge-small-en-v1.5-int8")
    (True, False)
    """
    return name.startswith((OPENAI, BEDROCK))


class Endpoints:
    """Opens a line when the first model needs it."""

    def __init__(self, settings: Settings = Settings(), meter: Meter | None = None) -> None:
        self.settings, self._meter = settings, meter
        self._openai: Endpoint | None = None
        self._bedrock: Bedrock | None = None
        self._opening = threading.Lock()

    def llm(self, name: str) -> Llm:
        """A language model by `openai:MODEL` or `bedrock:MODEL`."""
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
        """An embedder by `openai:MODEL` or `bedrock:MODEL`."""
        from core.adapters.web import bedrock, openai_compatible
        from core.adapters.web.remote import Unmetered

        meter = self._meter or Unmetered()
        if name.startswith(OPENAI):
            return openai_compatible.embedder(name, self.openai(), meter)
        return bedrock.embedder(name, self.bedrock(), meter)

    def openai(self) -> Endpoint:
        """The OpenAI-compatible endpoint."""
        from core.adapters.web.openai_compatible import Endpoint

        said = self.settings
        if not said.openai_url:
            raise Unavailable(
                "Models named openai: need an endpoint. Set CONCORD_OPENAI_URL, for example to https://api.openai.com/v1 or http://localhost:11434/v1."
            )
        with self._opening:
            self._openai = self._openai or Endpoint(
                said.openai_url, said.openai_key, said.llm_timeout, said.llm_concurrency
            )
            return self._openai

    def bedrock(self) -> Bedrock:
        """Amazon Bedrock."""
        from core.adapters.web.bedrock import Bedrock

        said = self.settings
        with self._opening:
            self._bedrock = self._bedrock or Bedrock(
                said.bedrock_region, said.bedrock_url, said.llm_timeout, said.llm_concurrency
            )
            return self._bedrock


def free(settings: Settings) -> tuple[str, ...]:
    """Beginnings of the names of models that run on this machine, and so cost nothing."""
    from core.adapters.web.http import is_here

    return (OPENAI,) if is_here(settings.openai_url) else ()
