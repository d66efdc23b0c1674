"""Who may read what: words that stand in hidden documents alone appear at no door to anybody who may not read them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

import pytest

from core.access import AUDITED, EVERYBODY, IN_HAND, SIGN_IN, UPKEEP, Actor, reading_as
from core.bootstrap import App
from core.errors import ConcordError
from tests.conftest import NoProcesses, demo, put, small_app
from tests.small_kb import FILES
from tests.test_doors import dummy, records, services

FOLDER, HIDDEN = "quarzpfad/inner", "quarzpfad/inner/zeolith.md"
CANARIES = (
    *("quarzpfad", "zeolith", "zanzibarin", "quokkawort", "obsidianmarke", "lapisfrage", "granitbesitz"),
    *("smaragdtitel", "malachitwort", "jaspisnote", "heliotropfrage", "rhodonit", "kobaltbild", "turmalinfrage"),
    *("amazonit", "beryllsatz"),
)
SECRET = """---
id: HID-1
title: Zanzibarin
owner: Granitbesitz
tags: [obsidianmarke, bsa]
answers: [What does lapisfrage mean?]
---
# Zanzibarin

Quokkawort is filed by Amazonit Rhodonit within 45 days. Amazonit Rhodonit signs Form 111. See [cash](../../fin/ctr.md).

![map](zeolith.assets/kobaltbild.png)
"""
OWN = "---\nid: HID-2\ntitle: Own list\nreaders: [author2, reviewer2]\n---\n# Own list\n\nBeryllsatz stands here.\n"
POLICY = "rules: []\nreaders:\n  quarzpfad/: [author2, reviewer2]\n  fin/: [everyone]\nadmins_read: false\n"
INSIDE, JUDGE = demo("author2"), demo("reviewer2")
OUTSIDE = tuple(map(demo, ("reader", "author", "reviewer", "admin")))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """Hidden documents with everything that can hang on one: changes, comments, feedback, questions, pins, watches, runs."""
    app = small_app(tmp_path_factory.mktemp("readers") / "home", processes=NoProcesses())
    put(app, {**FILES, HIDDEN: SECRET, "it/own.md": OWN, "review-rules.yaml": POLICY})
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    )
    app.knowledge.repository.commit("main", {f"{FOLDER}/zeolith.assets/kobaltbild.png": png}, INSIDE.person, "picture")
    app.reviews.merger.repair()
    app.index.builder.build(app.platform.settings.profile())
    hang_on(app)
    return app


def hang_on(app: App) -> None:
    changes, talk = app.reviews.changes, app.reviews.discussion
    merged = changes.propose(INSIDE, "Smaragdtitel one", {HIDDEN: SECRET.replace("signs", "approves").encode()})
    changes.submit(INSIDE, merged.id)
    talk.approve(JUDGE, merged.id, "malachitwort is right")
    app.reviews.merger.merge(INSIDE, merged.id)
    opened = changes.propose(
        INSIDE, "Smaragdtitel two", {HIDDEN: SECRET.encode(), f"{FOLDER}/neu.md": b"# Neu\n\nText.\n"}
    )
    talk.comment(INSIDE, opened.id, "malachitwort, @reviewer2 and @reviewer", path=HIDDEN, line=11)
    changes.submit(INSIDE, opened.id, ("reviewer2",))
    app.knowledge.feedback.give(INSIDE, "HID-1", "wrong", "jaspisnote")
    for who in (INSIDE, *OUTSIDE):
        app.inbox.watches.watch(who, "folder", "quarzpfad")
        app.inbox.watches.watch(who, "question", "file form 111 within days")
    with reading_as(INSIDE):
        app.evaluation.querysets.from_frontmatter(INSIDE, "stones")
    put(app, {"pins.yaml": f"pins:\n  - question: heliotropfrage now\n    document: {HIDDEN}\n"})
    app.index.builder.build(app.platform.settings.profile())
    app.answers.checks.nightly()
    app.evaluation.runs.measure(INSIDE, "stones", [(app.platform.settings.profile().name, "bm25")])
    app.inbox.watches.evaluate()
    app.inbox.reminders.remind()


def found_in(value: Any, typed: str = "") -> list[str]:
    """The canaries in something that a door gives, without those that were typed."""
    text = told(value).casefold()
    return [word for word in CANARIES if word in text and word not in typed.casefold()]


def told(value: Any) -> str:
    """Everything that somebody could see of a value."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return " ".join(told(each) for pair in value.items() for each in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return " ".join(map(told, value))
    if is_dataclass(value) and not isinstance(value, type):
        return " ".join(told(getattr(value, name)) for name in value.__dataclass_fields__)
    return str(value)


# ---------------------------------------------------------------- the law over all use cases

NAMES: dict[str, tuple[Any, ...]] = {
    "number": (1, 2),
    "name": ("HID-1", HIDDEN, "HID-2", "stones"),
    "query": ("quokkawort form", "file form 111", "heliotropfrage now"),
    "words": ("form 111",),
    "path": (HIDDEN, "fin/sar.md"),
    "doc": ("HID-1",),
    "question": ("What does lapisfrage mean?",),
    "text": (SECRET,),
    "queryset": ("stones",),
    "when": ("2999-01-01",),
    "as_of": ("main~1", "main"),
    "revision": ("main~1", "main"),
    "source": ("Amazonit Rhodonit",),
    "target": ("Form 111",),
    "file": ("pins.yaml",),
    "place": (f"0:{HIDDEN}",),
    "kind": ("word", "markdown"),
    "form": ("json", "trec"),
    "change": (1, 2),
    "owner": ("Granitbesitz",),
}


def reading() -> Iterator[tuple[str, Any]]:
    """Every use case that changes nothing."""
    for name, mark in sorted(records().items()):
        if mark.needs not in ("inner", SIGN_IN, UPKEEP, IN_HAND) and (
            mark.recorded != AUDITED or mark.needs == EVERYBODY
        ):
            yield name, mark


def calls(app: App, method: Callable[..., Any], actor: Actor) -> Iterator[dict[str, Any]]:
    """The use case with everything that could lead to a hidden document."""
    parameters = [p for p in inspect.signature(method).parameters.values() if p.kind in (1, 3)]
    runs = tuple(run.id for run in app.evaluation.runs.all())
    values = {
        p.name: runs if p.name in ("number", "run", "before", "after") and p.annotation == "str" else NAMES[p.name]
        for p in parameters
        if p.name in NAMES or p.name in ("run", "before", "after")
    }
    needed = [p for p in parameters if p.default is p.empty]
    base = {p.name: dummy(str(p.annotation)) for p in needed if p.name != "actor"}
    base |= {"actor": actor} if any(p.name == "actor" for p in parameters) else {}
    yield base
    best = {p.name: values[p.name][0] for p in needed if p.name in values}
    for name, choices in values.items():
        for value in choices:
            yield {**base, **best, name: value}


TOLD = {  # a folder that one typed oneself, and the policy, which is for admins
    ("inbox.watches.listed", "quarzpfad"),
    ("reviews.changes.rules_text", "quarzpfad"),
}
SKIPPED = {"knowledge.drafts.keep"}


@pytest.mark.parametrize("turn", ["cold", "warm"])
@pytest.mark.parametrize("actor", OUTSIDE, ids=lambda actor: actor.role)
def test_no_use_case_gives_a_word_of_a_hidden_document(app: App, actor: Actor, turn: str) -> None:
    leaks = []
    if turn == "warm":
        list(gone_through(app, INSIDE))
    for name, typed, value in gone_through(app, actor):
        words = [word for word in found_in(value, typed) if (name, word) not in TOLD]
        leaks += [f"{name}: {', '.join(words)}"] if words else []
    assert not leaks, "\n".join(dict.fromkeys(leaks))


def gone_through(app: App, actor: Actor) -> Iterator[tuple[str, str, Any]]:
    """Every use case that reads, with what it gives or says."""
    known = services(app)
    for name, _ in reading():
        service, _, method = name.rpartition(".")
        if service not in known or name in SKIPPED:
            continue
        for given in calls(app, getattr(known[service], method), actor):
            typed = told({key: value for key, value in given.items() if key != "actor"})
            try:
                with reading_as(actor):
                    yield name, typed, getattr(known[service], method)(**given)
            except ConcordError as error:
                yield name, typed, str(error)
            except Exception as error:
                yield name, typed, "" if isinstance(error, (TypeError, AttributeError, KeyError, ValueError)) else error


def test_a_reader_of_the_folder_meets_the_words_that_others_do_not(app: App) -> None:
    seen = {word for _, typed, value in gone_through(app, INSIDE) for word in found_in(value, typed)}
    assert len(seen) >= len(CANARIES) - 3, set(CANARIES) - seen
