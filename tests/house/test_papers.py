"""docs/research/papers.md: every command on it exists, and those that need nothing from outside run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.papers import __main__ as replays
from core.adapters.models.registry import ModelRegistry
from core.bootstrap import build
from core.entrypoints.cli import main, parser
from core.settings import load
from tests.conftest import ROOT, FixedClock, HashEmbedder, WordReranker, put
from tests.services.laboratory.test_thesis import library, model
from tests.support.evaluated import ADMIN, corpus, questions
from tests.support.scripted_server import ScriptedServer

RULE = (
    "---\nid: BSA-1\ntitle: Records\ntags: [bsa]\n---\n# Records\n\nThe BSA Officer files Form 112 with FinCEN. "
    "Records are kept for 5 years.\n"
)


def commands() -> list[tuple[str, str, list[str]]]:
    """Every command of the page with the mark before it and its program."""
    text = (ROOT / "docs" / "research" / "papers.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    found = [match for row in rows for match in re.findall(r"([‡§] )?`python -m (core|bench\.papers) ([^`]+)`", row)]
    return [(mark, program, shlex.split(command)) for mark, program, command in found]


def test_every_command_of_the_page_is_one() -> None:
    assert len(commands()) > 40
    parsers = {"core": parser(), "bench.papers": replays.parser()}
    for _, program, command in commands():
        parsers[program].parse_args(command)


def test_the_page_has_thirty_parts_and_each_choice_has_its_place() -> None:
    text = (ROOT / "docs" / "research" / "papers.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", text, re.MULTILINE) == [str(n) for n in range(1, 31)]
    for page, anchor in re.findall(r"\]\((\w+\.md)#([^)]+)\)", text):
        heads = re.findall(r"^#+ (.+)$", (ROOT / "docs" / "research" / page).read_text(encoding="utf-8"), re.MULTILINE)
        known = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
        assert anchor in known, f"{page} has no part {anchor}"


@pytest.fixture
def replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace with a query set and a scripted language model, for the command line."""
    with ScriptedServer([model]) as server:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(ModelRegistry, "embedder", lambda self, name: HashEmbedder())
        monkeypatch.setattr(ModelRegistry, "of", lambda self, profile: HashEmbedder())
        monkeypatch.setattr(ModelRegistry, "reranker", lambda self, name: WordReranker())
        variables = {"CONCORD_LLM": "openai:small", "CONCORD_OPENAI_URL": f"{server.url}/v1", "CONCORD_OPENAI_KEY": "x"}
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        app = build(replace(load(), home=tmp_path / "home"), clock=FixedClock())
        app.platform.workspace.create()
        put(app, {**library(4), **corpus(), "bsa.md": RULE})
        app.index.builder.build(app.platform.settings.profile())
        app.evaluation.querysets.keep(ADMIN, replace(questions(), name="frontmatter"))
        yield tmp_path / "home"


@pytest.mark.slow
def test_the_commands_of_the_page_run(replayed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = {}
    programs = {"core": main, "bench.papers": replays.main}
    for mark, program, command in commands():
        if not mark and programs[program]([*command, "--home", str(replayed), "--quiet"]) != 0:
            failed[" ".join(command)] = capsys.readouterr().err.strip()[-300:]
        capsys.readouterr()
    assert failed == {}
