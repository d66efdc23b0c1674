"""Models behind endpoints: the real adapters against a scripted server that throttles, fails, dawdles and babbles."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.models.registry import ModelRegistry
from core.adapters.web import retries
from core.adapters.web.endpoints import Endpoints
from core.adapters.web.remote_embedder import windows
from core.adapters.web.retries import Retryable, RetryingClient
from core.bootstrap import build
from core.chunking.ruler import pieces
from core.errors import BadInput, ConcordError, Throttled, TimedOut, Unavailable
from core.ports import Llm
from core.settings import Settings, load
from core.types import LlmRequest
from tests.conftest import FixedClock, sql
from tests.support.scripted_server import (
    BROKEN,
    DRIPPING,
    GARBLED,
    SILENT,
    Fault,
    ScriptedServer,
    refused,
    slow,
    throttled,
)

KEY = "sk-recognisable-0123456789"
SECRET = "aws-recognisable-secret-9876543210"
TOKEN = "aws-recognisable-token-5555555555"
LLMS = ("openai:small", "bedrock:anthropic.some-model-v1:0")
EMBEDDERS = ("openai:mine?dimension=64&limit=100", "bedrock:amazon.titan-embed-text-v2:0?limit=100")


@cache
def aws_services(path: str | None) -> Any:
    """What AWS's services are like: every client reads it anew, half of the CPU seconds that it takes to make one."""
    from botocore.loaders import create_loader

    return create_loader(path)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short waits, and credentials that a leak would show."""
    monkeypatch.setattr(retries, "FIRST", 0.01)
    monkeypatch.setattr("botocore.session.create_loader", aws_services)
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIARECOGNISABLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def settings(server: ScriptedServer, **more: object) -> Settings:
    said: dict[str, object] = {
        "openai_url": f"{server.url}/v1",
        "openai_key": KEY,
        "bedrock_region": "eu-west-1",
        "bedrock_url": server.url,
        "llm_timeout": 5.0,
    }
    return load({}, **{**said, **more})


def generations(server: ScriptedServer, **more: object) -> ModelRegistry:
    return ModelRegistry(Settings().models, 1, True, Endpoints(settings(server, **more)))


def ask(llm: Llm, prompt: str = "Is it so?") -> str:
    return llm.complete(LlmRequest(prompt, purpose="test")).text


@pytest.mark.parametrize("name", LLMS)
def test_an_answer_comes_with_its_tokens(server: ScriptedServer, name: str) -> None:
    server.answers = ["well, yes"]
    answer = (
        generations(server)
        .llm(name)
        .complete(LlmRequest("one two three", purpose="test", system="Be brief.", max_tokens=7))
    )
    assert (answer.text, answer.model, answer.output_tokens) == ("well, yes", name, 2)
    assert answer.input_tokens >= 3
    body = server.seen[0].body
    assert 7 in (body.get("max_tokens"), body.get("inferenceConfig", {}).get("maxTokens"))
    assert "Be brief." in str(body)


def test_the_configured_model_is_the_default(server: ScriptedServer) -> None:
    assert ask(generations(server, llm="openai:small").llm()) == "yes"
    assert server.seen[0].body["model"] == "small"
    with pytest.raises(Unavailable, match="Set CONCORD_LLM to openai:MODEL"):
        generations(server).llm()
    with pytest.raises(Unavailable, match="Set CONCORD_OPENAI_URL"):
        generations(server, openai_url="").llm("openai:small")
    with pytest.raises(BadInput, match="openai:MODEL or bedrock:MODEL"):
        generations(server).llm("gpt")


@pytest.mark.parametrize("name", LLMS)
@pytest.mark.parametrize("fault", [throttled(), BROKEN, SILENT, Fault(503)], ids=["429", "500", "hang-up", "503"])
def test_what_may_pass_is_asked_again(server: ScriptedServer, name: str, fault: Fault) -> None:
    server.faults = [fault, fault]
    assert ask(generations(server).llm(name)) == "yes"
    assert len(server.seen) == 3


@pytest.mark.parametrize("name", LLMS)
def test_retry_after_is_honoured(server: ScriptedServer, name: str) -> None:
    server.faults = [throttled("1")]
    started = time.perf_counter()
    assert ask(generations(server).llm(name)) == "yes"
    assert time.perf_counter() - started >= 1.0


@pytest.mark.parametrize("name", LLMS)
def test_a_wait_beyond_the_time_limit_is_not_begun(server: ScriptedServer, name: str) -> None:
    server.faults = [throttled("3600")]
    started = time.perf_counter()
    with pytest.raises(Throttled, match="asks for fewer calls"):
        ask(generations(server, llm_timeout=600.0).llm(name))
    assert time.perf_counter() - started < 300


@pytest.mark.parametrize("name", LLMS)
def test_an_endpoint_that_goes_on_failing_is_a_sentence(server: ScriptedServer, name: str) -> None:
    server.faults = [BROKEN] * 99
    with pytest.raises(Unavailable, match=r"failed 5 times in a row: status 500"):
        ask(generations(server).llm(name))
    assert len(server.seen) == 5


@pytest.mark.parametrize("name", LLMS)
def test_a_slow_answer_is_a_sentence_in_time(server: ScriptedServer, name: str) -> None:
    server.faults = [slow(60)]
    with pytest.raises(TimedOut, match=r"gave no answer within 0\.4 s.*CONCORD_LLM_TIMEOUT"):
        ask(generations(server, llm_timeout=0.4).llm(name))


@pytest.mark.parametrize("name", LLMS)
@pytest.mark.parametrize("faults", [[DRIPPING], [BROKEN, slow(60)]], ids=["drips", "fails, then dawdles"])
def test_the_time_limit_is_that_of_the_whole_call(server: ScriptedServer, name: str, faults: list[Fault]) -> None:
    llm, server.faults = generations(server, llm_timeout=0.4).llm(name), list(faults)
    with pytest.raises(TimedOut):
        ask(llm)


@pytest.mark.parametrize("name", LLMS)
@pytest.mark.parametrize("raw", [GARBLED.raw, b"", b"{}", b"[]", b"[" * 5000])
def test_a_broken_answer_is_a_sentence_and_is_not_paid_for_twice(server: ScriptedServer, name: str, raw: bytes) -> None:
    server.faults = [Fault(raw=raw)]
    with pytest.raises(Unavailable, match="not JSON|without a message|unreadable"):
        ask(generations(server).llm(name))
    assert len(server.seen) == 1


def test_a_dead_endpoint_is_left_alone_for_a_while(server: ScriptedServer) -> None:
    llm = generations(server, llm_timeout=0.5).llm("openai:small")
    server.faults = [slow(60)] * 3
    for _ in range(3):
        with pytest.raises(TimedOut):
            ask(llm)
    with pytest.raises(Unavailable, match="did not answer 3 calls in a row; it is asked again in"):
        ask(llm)
    assert len(server.seen) == 3


def test_a_model_that_wants_other_options_is_asked_in_its_way(server: ScriptedServer) -> None:
    server.faults = [
        refused(400, "Use 'max_completion_tokens' instead."),
        refused(400, "Unsupported value: 'temperature'."),
    ]
    llm = generations(server).llm("openai:reasoner")
    assert (ask(llm), ask(llm)) == ("yes", "yes")
    assert len(server.seen) == 4
    assert set(server.seen[-1].body) == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize("name", LLMS)
def test_calls_at_a_time_are_limited(server: ScriptedServer, name: str) -> None:
    server.seconds = 0.05
    models = generations(server, llm_concurrency=3)
    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(lambda n: ask(models.llm(name), f"question {n}"), range(12))) == ["yes"] * 12
    assert server.most_busy == 3


def test_waits_grow_and_never_exceed_the_time_limit() -> None:
    waits: list[float] = []

    def fail(seconds: float) -> None:
        raise Retryable("status 500")

    with pytest.raises(Unavailable):
        RetryingClient("It", 60, 1, sleep=waits.append, jitter=lambda: 1.0).call(fail)
    assert waits == [0.01, 0.02, 0.04, 0.08]


# ---------------------------------------------------------------- embedders


@pytest.mark.parametrize("name", EMBEDDERS)
def test_vectors_have_length_one_and_depend_on_their_text_alone(server: ScriptedServer, name: str) -> None:
    embedder = generations(server).embedder(name)
    texts = [f"text {n} about invoices" for n in range(34)] + ["long " * 100, "x"]
    rows = embedder.documents(texts)
    assert rows.shape == (36, embedder.dimension)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(36), abs=1e-5)
    for n in (0, 17, 34, 35):
        assert np.array_equal(rows[n], embedder.documents([texts[n]])[0])
    assert np.array_equal(embedder.documents(texts[::-1]), rows[::-1])


@pytest.mark.parametrize("name", EMBEDDERS)
def test_a_text_over_the_limit_is_read_to_its_end(server: ScriptedServer, name: str) -> None:
    server.limit = 75
    embedder = generations(server).embedder(name)
    filler = "warehouse ships boxes " * 60
    row = embedder.documents([filler + "suspicious activity " * 30])[0]
    query = embedder.query("suspicious activity")
    assert query @ row > query @ embedder.documents([filler])[0] + 0.1
    sent = [text for seen in server.seen for text in seen.body.get("input", [seen.body.get("inputText")])]
    assert "".join(sent).count("warehouse") == 120


@given(st.text(max_size=200), st.integers(1, 20))
def test_windows_lose_nothing_and_hold_what_they_may(text: str, room: int) -> None:
    made = windows(text, room)
    assert "".join(made) == text
    assert all(len(pieces(part)) <= room for part in made)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_blank_texts_are_not_sent(server: ScriptedServer, name: str) -> None:
    rows = generations(server).embedder(name).documents(["", " \n", "word", "\ud800 odd"])
    assert np.linalg.norm(rows, axis=1) == pytest.approx([0, 0, 1, 1], abs=1e-5)


def test_questions_and_passages_get_the_prefixes_of_the_card(server: ScriptedServer) -> None:
    server.dimension = 768
    embedder = generations(server).embedder("openai:nomic-embed-text")
    embedder.query("who")
    embedder.documents(["me"])
    assert [seen.body["input"] for seen in server.seen] == [["search_query: who"], ["search_document: me"]]
    assert (embedder.dimension, embedder.limit) == (768, 2048)
    embedder.documents(["word " * 2000])
    assert all(text.startswith("search_document: word ") for text in server.seen[2].body["input"])


def test_a_model_without_a_card_is_asked_for_its_dimension(server: ScriptedServer) -> None:
    server.dimension = 48
    assert generations(server).embedder("openai:unheard-of").dimension == 48
    with pytest.raises(BadInput, match="unknown option 'dims'"):
        generations(server).embedder("openai:mine?dims=3")
    with pytest.raises(BadInput, match=r"Known: amazon\.titan-embed-text-v2:0"):
        generations(server).embedder("bedrock:cohere.embed")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"data": [{"index": 0, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": ["a"]}]}',
        b'{"embedding": null}',
        b"null",
    ],
)
@pytest.mark.parametrize("name", EMBEDDERS)
def test_vectors_that_cannot_be_used_are_a_sentence(server: ScriptedServer, name: str, raw: bytes) -> None:
    server.faults = [Fault(raw=raw)]
    with pytest.raises(Unavailable, match="vectors that cannot be used|without vectors|without a vector"):
        generations(server).embedder(name).query("word")


# ---------------------------------------------------------------- secrets


TROUBLES: list[Fault] = [
    throttled("3600"),
    BROKEN,
    GARBLED,
    SILENT,
    slow(0.5),
    refused(400, "bad request with CREDENTIAL"),
    refused(401, "Incorrect API key provided: CREDENTIAL"),
    refused(403, "CREDENTIAL may not"),
    refused(404, "CREDENTIAL"),
    refused(302, "http://127.0.0.1:9/elsewhere"),
]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, fault) for name in LLMS for fault in TROUBLES),
        *((name, fault) for name in EMBEDDERS for fault in TROUBLES if fault.status in (400, 401)),
    ],
)
def test_no_secret_is_in_an_error_a_log_or_the_ledger(
    server: ScriptedServer, name: str, fault: Fault, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({model.partition("?")[0]: {} for model in (*LLMS, *EMBEDDERS)}))
    said = settings(server, home=tmp_path / "home", prices=prices, llm_timeout=0.3)
    app = build(said, clock=FixedClock())
    known = TOKEN if name.startswith("bedrock") else KEY  # what travels, and so could be repeated
    server.faults = [replace(fault, message=fault.message.replace("CREDENTIAL", known))] * 5
    act: Callable[[], Any] = (
        (lambda: ask(app.models.registry.llm(name)))
        if name in LLMS
        else (lambda: app.models.registry.embedder(name).query("confidential"))
    )
    with pytest.raises(ConcordError) as caught:
        act()
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(said) + str(said)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert sql(app, "SELECT count(*) FROM calls WHERE failed <> ''") == [(1,)]
    for secret in (KEY, SECRET, TOKEN):
        assert secret not in told
        assert secret.encode() not in kept
    assert "confidential" not in caplog.text


def test_a_redirect_does_not_carry_the_key_elsewhere(server: ScriptedServer) -> None:
    with ScriptedServer() as other:
        server.faults = [refused(307, f"{other.url}/v1/chat/completions")]
        with pytest.raises(Unavailable, match="refused the call with status 307"):
            ask(generations(server).llm("openai:small"))
        assert other.seen == []


def test_an_address_with_a_password_is_refused_and_not_repeated(server: ScriptedServer) -> None:
    with pytest.raises(BadInput) as caught:
        generations(server, openai_url="https://me:hush@example.org/v1").llm("openai:small")
    assert "hush" not in str(caught.value)


def test_missing_credentials_say_what_to_set(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(Unavailable, match="needs AWS credentials: set AWS_PROFILE"):
        ask(generations(server).llm(LLMS[1]))
    with pytest.raises(Unavailable, match="Set CONCORD_BEDROCK_REGION"):
        generations(server, bedrock_region="", bedrock_url="").llm(LLMS[1])


def test_settings_are_read_as_what_they_are() -> None:
    said = load({"CONCORD_MONTHLY_BUDGET": "2.5", "CONCORD_LLM": "openai:x", "CONCORD_OPENAI_KEY": KEY})
    assert (said.monthly_budget, said.llm, said.openai_key) == (2.5, "openai:x", KEY)
    assert next(field for field in fields(Settings) if field.name == "openai_key").repr is False
    for raw in ("-1", "nan", "inf", "ten"):
        with pytest.raises(BadInput, match="CONCORD_MONTHLY_BUDGET must be a number from 0 up"):
            load({"CONCORD_MONTHLY_BUDGET": raw})
