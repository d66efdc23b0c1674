"""Questions that a model writes for passages: a field of its own, checked against the passage, paid for once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core import profiles
from core.bootstrap import App, build
from core.chunking import chunker, embedded_text
from core.chunking.chunker import Tools
from core.chunking.ruler import words
from core.curation.document.frontmatter import read_document
from core.errors import BadInput
from core.llm.writer import Writer
from core.services.index.model_calls import build_calls
from core.settings import load
from core.types import Chunk, ChunkerSpec, Profile
from tests.conftest import FixedClock, HashEmbedder, ScriptedLlm, SmallModels, put
from tests.rules.curation.test_agentic import Memory

PROFILE = Profile("asked", embedder="hash-64", questions=2)
SIZES = ChunkerSpec("markdown", {"max_tokens": 24, "min_tokens": 8})
TEXT = "# Vault\n\n" + "\n\n".join(
    f"## Part {n}\n\nThe {animal} door opens every morning at nine o'clock sharp."
    for n, animal in enumerate(("north", "south", "eastern", "western", "upper", "lower"))
)


def answer(*questions: str) -> str:
    return json.dumps({"questions": questions})


def made(text: str, *answers: str, known: Memory | None = None) -> tuple[Sequence[Chunk], list[str], ScriptedLlm]:
    """Chunks, what was reported, and the model."""
    llm, reported = ScriptedLlm(*answers), list[str]()
    writer = Writer([lambda: llm], known or Memory(), threads=1)
    tools = Tools(words, HashEmbedder().documents, writer, lambda path, what: reported.append(f"{path}: {what}"))
    return chunker(SIZES, tools, questions=2)(read_document("vault.md", text)), reported, llm


def app_with(home: Path, *answers: str) -> App:
    app = build(load({}, home=home), clock=FixedClock(), models=SmallModels(ScriptedLlm(*answers) if answers else None))
    app.platform.workspace.create()
    return app


def found(app: App, query: str, weight: float = 1.0) -> list[str]:
    index = app.index.generations.open(PROFILE)
    ranking = index.bm25(query, fields={"questions": weight}).search(5, None)
    return [index.documents[index.document_of(chunk)].path for chunk in ranking]


def test_a_question_is_found_in_its_field_alone_and_paid_for_once(tmp_path: Path) -> None:
    app = app_with(tmp_path, answer("May a teller hold this text?"))
    put(app, {"a.md": "# A\n\nSome text.\n"})
    built = app.index.builder.build(PROFILE)
    assert (found(app, "teller"), found(app, "teller", 0.0)) == (["a.md"], [])
    assert built.generation.notes[0].startswith("Language models: 1 call to scripted")
    assert app.index.builder.build(PROFILE, full=True).generation.notes == ()
    put(app, {"b.md": "# B\n\nOther text.\n"})
    assert app.index.builder.build(PROFILE).generation.notes[0].startswith("Language models: 1 call to scripted")
    assert sorted(found(app, "teller")) == ["a.md", "b.md"], "a segment that is written anew keeps its questions"


def test_questions_are_no_part_of_a_passage_or_its_vector() -> None:
    chunks, reported, _ = made(TEXT, answer("Which door is this?", "When does the vault open?"))
    plain = chunker(SIZES, Tools(words))(read_document("vault.md", TEXT))
    assert [replace(chunk, questions=()) for chunk in chunks] == list(plain)
    assert [embedded_text(chunk) for chunk in chunks] == [embedded_text(chunk) for chunk in plain]
    assert reported == []


def test_a_question_that_leads_to_other_passages_is_dropped() -> None:
    chunks, _, _ = made(
        TEXT + "\n\n## Rest\n\nThe north, north, north gate.\n",
        answer("Where is the north door?", "Who opens the door?"),
    )
    with_north = [chunk for chunk in chunks if "north" in chunk.text]
    assert all("Where is the north door?" in chunk.questions for chunk in with_north)
    assert made("# T\n\nCopies: five years.\n", answer("Does Visa keep copies?"))[0][0].questions == ()
    many = "\n\n".join(f"## Part {n}\n\nThe north door number {n} of the house is painted green." for n in range(4))
    chunks, _, _ = made(
        f"# Doors\n\n{many}\n\n## Cellar\n\nThe cellar is dry, and its lamp is on.\n",
        answer("Where is the north door?", "Is the cellar lamp on?"),
    )
    cellar = next(chunk for chunk in chunks if "cellar" in chunk.text)
    assert cellar.questions == ("Is the cellar lamp on?",)


def test_an_edit_elsewhere_in_the_document_asks_for_nothing() -> None:
    known = Memory()
    first, _, _ = made(TEXT, answer("When does this door open?"), known=known)
    again, _, llm = made(TEXT.replace("upper door", "upper gate"), answer("When does this gate open?"), known=known)
    assert len(llm.asked) == 1
    assert [chunk.questions for chunk in again if "upper" not in chunk.text] == [
        chunk.questions for chunk in first if "upper" not in chunk.text
    ]


def test_without_a_model_passages_have_no_questions_and_the_build_says_so(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    put(app, {"a.md": "# A\n\nSome text.\n"})
    built = app.index.builder.build(PROFILE)
    assert built.fallbacks == (("a.md", "1 of 1 chunks have no questions: No language model is configured."),)
    assert found(app, "teller") == []


def test_a_profile_has_at_most_ten_questions() -> None:
    assert profiles.identity(PROFILE) != profiles.identity(replace(PROFILE, questions=0))
    assert profiles.model_uses(replace(PROFILE, writers=("haiku",))) == (("haiku", "passage questions"),)
    with pytest.raises(BadInput, match="11 is not between 0 and 10"):
        profiles.check(replace(PROFILE, questions=11))


def test_an_estimate_counts_one_call_for_each_passage_that_has_no_questions_yet(tmp_path: Path) -> None:
    app = app_with(tmp_path, answer("May a teller hold this text?"))
    put(app, {"a.md": "# A\n\nSome text.\n", "b.md": "# B\n\nOther text.\n"})
    read = [app.knowledge.documents.show(path) for path in ("a.md", "b.md")]
    chunked = [(document, chunker(ChunkerSpec(), Tools(words))(document)) for document in read]
    estimator, texts = app.evaluation.runs.estimator, app.index.builder.texts

    def estimate():
        return [row.calls for row in build_calls(estimator, texts, PROFILE, chunked, 1.0)]

    assert estimate() == [(2, 6)]
    app.index.builder.build(PROFILE)
    assert estimate() == []
