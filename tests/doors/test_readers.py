"""Who may read what: words that stand in hidden documents alone appear at no door to anybody who may not read them."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, is_dataclass, replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest

from core import strict
from core.access import (
    ALREADY_CHECKED,
    ANYONE,
    AUDITED,
    BACKUP,
    IMPORT,
    JOB,
    NEEDS,
    ORPHANS,
    SIGN_IN,
    UPKEEP,
    Actor,
    allowed,
    reading_as,
)
from core.bootstrap import App
from core.curation.document.frontmatter import read_document
from core.curation.words.pins import Pin
from core.entrypoints import record, session
from core.entrypoints.api.operations import ApiUse, of_module, operations
from core.entrypoints.cli import main
from core.entrypoints.mcp.tools import offered
from core.entrypoints.mcp.visits import ToolSession
from core.entrypoints.record import CommandCall
from core.entrypoints.terminal import Terminal
from core.errors import ConcordError, NotFound, Refused
from core.evaluation.impact import as_json
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.tuning.calibration import TauRule
from core.retrieval import config as configs
from core.services.jobs.workers import Worker
from core.services.people.accounts import COMMAND_LINE
from core.services.people.readership import PUBLIC
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.services.reviews.discussion import CommentPlace
from core.services.search.written_answers import Answerer
from core.settings import ProviderSettings
from tests.conftest import HashEmbedder, NoProcesses, ScriptedLlm, SmallModels, demo, put, small_app
from tests.doors.test_doors import _places, commands, dummy, pages, parts, records, services
from tests.support.small_kb import FILES

FOLDER, HIDDEN = "quarzpfad/inner", "quarzpfad/inner/zeolith.md"
CANARIES = (
    *("quarzpfad", "zeolith", "zanzibarin", "quokkawort", "obsidianmarke", "lapisfrage", "granitbesitz"),
    *("smaragdtitel", "malachitwort", "jaspisnote", "heliotropfrage", "rhodonit", "kobaltbild", "turmalinfrage"),
    *("amazonit", "beryllsatz", "karneol", "spinellnote", "saphirbetreff", "hid-"),
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
DUE = "owner: Jonas Mbeki\nreview_due: 2020-01-01\n"
OWN = (
    f"---\nid: HID-2\ntitle: Own list\n{DUE}readers: [author2, reviewer2]\n---\n# Own list\n\nBeryllsatz stands here.\n"
)
LATE = (
    f"---\nid: HID-3\ntitle: Karneol\n{DUE}answers: [How late may a form be?]\n---\n# Karneol\n\nForms come 3 "
    "days late.\n"
)
POLICY = "rules: []\nreaders:\n  quarzpfad/: [author2, reviewer2]\n  fin/: [everyone]\nadmins_read: false\n"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
SHOWN = FILES | {"fin/ctr.md": FILES["fin/ctr.md"].replace("tags:", "answers: [What is Form 112 for?]\ntags:")}
INSIDE, JUDGE = demo("author2"), demo("reviewer2")
OUTSIDE = tuple(map(demo, ("reader", "author", "reviewer", "admin")))
MERGED, OPENED = 2, 3  # changes of the hidden folder


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """Hidden documents with everything that can hang on one: changes, comments, feedback, questions, pins, watches,
    runs, jobs, mail.
    """
    return world(tmp_path_factory.mktemp("readers") / "home")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> App:
    """The same, had the hidden documents never been written."""
    return world(tmp_path_factory.mktemp("bare") / "home", hidden=False)


@pytest.fixture
def spare(app: App, tmp_path_factory: pytest.TempPathFactory) -> App:
    """A copy of its own, to write to."""
    home = tmp_path_factory.mktemp("spare") / "home"
    return small_app(Path(shutil.copytree(app.settings.home, home)), processes=NoProcesses())


def world(home: Path, hidden: bool = True) -> App:
    app = small_app(home, processes=NoProcesses())
    app.deliveries.sender.outbox.with_mail = True
    hooks = {"format": "concord", "url": "https://hook.example", "secret": "whsec_c2VjcmV0", "created": "", "who": ""}
    with app.people.accounts.database.transaction() as state:
        state.webhooks.add(name="everybody", **hooks)
        state.webhooks.add(name="inside", reads_as="reviewer2", **hooks)
    for who, choice in zip((*OUTSIDE, INSIDE, JUDGE), ("at once", "daily") * 3, strict=True):
        app.deliveries.choices.choose(who, choice)
    put(app, {**SHOWN, **({HIDDEN: SECRET, "it/own.md": OWN, "review-rules.yaml": POLICY} if hidden else {})})
    if hidden:
        app.knowledge.repository.commit(
            "main", {f"{FOLDER}/zeolith.assets/kobaltbild.png": PNG}, INSIDE.person, "Saphirbetreff"
        )
        app.reviews.merger.repair()
    app.index.builder.build(app.platform.settings.profile())
    app.knowledge.gaps.report(demo("author"), "How late may a form be?")
    other = app.reviews.changes.propose(
        demo("author"), "Another form", {"fin/sar.md": FILES["fin/sar.md"].replace("Form 111", "Form 119").encode()}
    )
    app.reviews.changes.submit(demo("author"), other.id)
    app.reviews.discussion.approve(demo("reviewer"), other.id)
    if hidden:
        hang_on(app)
    for who in (INSIDE, *OUTSIDE):
        app.inbox.watches.watch(who, "question", "file form 111 within days")
        app.inbox.watches.watch(who, "folder", "quarzpfad/inner")
    with reading_as(INSIDE):
        app.evaluation.querysets.from_frontmatter(INSIDE, "stones")
    pinned = f"pins:\n  - question: heliotropfrage now\n    document: {HIDDEN}\n" if hidden else "pins: []\n"
    put(app, {"pins.yaml": pinned})
    app.index.builder.build(app.platform.settings.profile())
    app.answers.checks.nightly()
    app.evaluation.runs.measure(INSIDE, "stones", [(app.platform.settings.profile().name, "bm25")])
    app.inbox.watches.evaluate()
    app.inbox.reminders.remind()
    app.evaluation.querysets.guard(INSIDE, "stones")
    app.reviews.impacts.measure(replace(INSIDE, door=COMMAND_LINE), other.id)
    work_off(app)
    return app


def hang_on(app: App) -> None:
    changes, talk = app.reviews.changes, app.reviews.discussion
    text = SECRET.replace("signs", "approves")
    merged = changes.propose(INSIDE, "Smaragdtitel one", {HIDDEN: text.encode(), f"{FOLDER}/karneol.md": LATE.encode()})
    changes.submit(INSIDE, merged.id)
    talk.approve(JUDGE, merged.id, "malachitwort is right")
    app.reviews.merger.merge(INSIDE, merged.id)
    opened = changes.propose(
        INSIDE, "Smaragdtitel two", {HIDDEN: SECRET.encode(), f"{FOLDER}/neu.md": b"# Neu\n\nText.\n"}
    )
    talk.comment(INSIDE, opened.id, "malachitwort, @reviewer2 and @reviewer", CommentPlace(HIDDEN, 11))
    changes.submit(INSIDE, opened.id, ("reviewer2",))
    assert (merged.id, opened.id) == (MERGED, OPENED)
    app.knowledge.feedback.give(INSIDE, "HID-1", "wrong", "jaspisnote")
    app.knowledge.gaps.report(INSIDE, "who signs form 111 in quokkawort", "spinellnote")
    app.inbox.watches.watch(INSIDE, "folder", "quarzpfad")


def work_off(app: App) -> None:
    """Jobs with their results and logs, and the mails and digests of two days."""
    app.answers.checks.start(INSIDE)
    app.evaluation.runs.start(INSIDE, "stones", [(app.platform.settings.profile().name, "bm25")])
    app.index.admin.verify(demo("admin"))
    app.platform.workers.run(demo("admin"), Worker("here"), app.platform.workspace.works, lambda: None, once=True)
    with pytest.MonkeyPatch.context() as later:
        later.setattr(app.deliveries.sender.outbox, "now", lambda: time.time() + 2 * 86_400)
        app.deliveries.sender.digests.collect()


def found_in(value: Any, typed: str = "") -> list[str]:
    """The canaries in something that a door gives, without those that were typed."""
    text = told(value).casefold()
    return [word for word in CANARIES if word in text and word not in typed.casefold()]


def around(value: Any, word: str) -> str:
    """A word with what stands beside it."""
    text = told(value)
    at = text.casefold().find(word)
    return f"{word} in {text[max(0, at - 60) : at + 60]!r}"


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

NAMES: dict[
    str, tuple[Any, ...]
] = {  # arguments by name: first what leads to a hidden document, last what everybody may read
    "number": (MERGED, OPENED, 1),
    "change": (MERGED, OPENED, 1),
    "name": ("HID-1", HIDDEN, "HID-2", "BSA-2"),
    "query": ("quokkawort form", "heliotropfrage now", "file form 111"),
    "words": ("form 111",),
    "path": (HIDDEN, "fin/sar.md"),
    "doc": ("HID-1", "BSA-2"),
    "question": ("What does lapisfrage mean?", "What is Form 112 for?"),
    "text": (SECRET, "File form 111"),
    "queryset": ("stones",),
    "querysets": (("stones",),),
    "source": ("Amazonit Rhodonit", "Form 111"),
    "target": ("Form 111", "Form 112"),
    "file": ("pins.yaml",),
    "place": (f"0:{HIDDEN}", "0:fin/sar.md"),
    "kind": ("document", "folder", "right", "known-items", "md"),
    "what": (HIDDEN, "quarzpfad", "fin"),
    "form": ("trec", "jsonl"),
    "files": ({HIDDEN: b"# New\n\nText.\n"}, {"fin/sar.md": b"# New\n\nText.\n"}),
    "owner": ("Granitbesitz", "Mei"),
    "account": ("author2", "author"),
    "config": ("bm25",),
    "pairs": ((("local", "bm25"),),),
    "hops": (2,),
}
OF_SERVICES = {  # names that mean something else there
    "evaluation.": {"name": ("stones",)},
    "people.accounts.": {"name": ("author2",), "role": ("reader",)},
    "graph.": {"name": ("HID-1", "Amazonit Rhodonit", "BSA-2", "Form 111")},
}
PLAIN = {name: choices[-1:] for name, choices in NAMES.items()}  # what knows nothing of what is hidden


def reading(name: str) -> bool:
    """Whether a use case changes nothing."""
    mark = records()[name]
    return mark.recorded not in (AUDITED, BACKUP, IMPORT, JOB, ORPHANS) or mark.needs == ANYONE


def use_cases(under: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Every use case that somebody asks for, those of some services first."""
    for name, mark in sorted(records().items()):
        if (
            mark.needs not in ("inner", SIGN_IN, UPKEEP, ALREADY_CHECKED)
            and name.startswith(under)
            and name not in SKIPPED
        ):
            yield name


@cache
def parameters_of(name: str) -> list[inspect.Parameter]:
    """The inputs of a use case."""
    service, _, method = name.rpartition(".")
    _, *inputs = inspect.signature(getattr(parts()[service], method)).parameters.values()
    return [p for p in inputs if p.kind in (1, 3)]


def calls(app: App, name: str, actor: Actor, known: Mapping[str, tuple[Any, ...]] = NAMES) -> Iterator[dict[str, Any]]:
    """A use case with everything that could lead to a hidden document."""
    parameters = parameters_of(name)
    needed = [p for p in parameters if p.default is p.empty and p.name != "actor"]
    if (things := THINGS.get((app.settings.home, actor))) is None:
        things = THINGS[app.settings.home, actor] = of_kind(app, actor)
    base = {p.name: things[p.annotation] if p.annotation in things else dummy(str(p.annotation)) for p in needed}
    base |= {"actor": actor} if any(p.name == "actor" for p in parameters) else {}
    yield base
    choices = dict(known)
    for start, own in OF_SERVICES.items() if known is NAMES else ():
        choices |= own if name.startswith(start) else {}
    choices |= past(app) | {
        p.name: runs(app)[: None if known is NAMES else 1]
        for p in parameters
        if p.name in RUNS and p.annotation == "str"
    }
    values = {p.name: choices[p.name] for p in parameters if p.name in choices and p.annotation not in things}
    tried = set()
    for one in (0, -1):
        best = {p.name: one % len(values[p.name]) for p in needed if values.get(p.name)}
        for parameter, given in values.items():
            for number in range(len(given)):
                chosen = frozenset({**best, parameter: number}.items())
                if chosen not in tried:
                    tried.add(chosen)
                    yield {**base, **{name: values[name][at] for name, at in chosen}}


RUNS = ("number", "run", "before", "after")


def runs(app: App) -> tuple[str, ...]:
    return tuple(run.id for run in app.evaluation.runs.all())


OLDEST: dict[Path, str] = {}  # by home: commits are asked for with every use case


def past(app: App) -> dict[str, tuple[str, ...]]:
    """The oldest commit, the newest, and today."""
    repository, home = app.knowledge.repository, app.settings.home
    if home not in OLDEST:
        OLDEST[home] = repository.log(repository.head())[-1][0].id
    days = (OLDEST[home], repository.head(), str(app.upload.uploads.clock.today()))
    return dict.fromkeys(("when", "as_of", "revision", "commit", "base"), days)


THINGS: dict[tuple[Path, Actor], dict[str, Any]] = {}


def of_kind(app: App, actor: Actor) -> dict[str, Any]:
    """Arguments by their type, as a page that the actor sees would hand them on."""
    profile, column = app.platform.settings.profile(), Column("", configs.parse("bm25"))
    with reading_as(actor):
        hits = app.search.searcher.search("file form 111").hits
        index, _ = app.search.searcher.opened(profile)
        document = app.knowledge.documents.show("BSA-2")
    return {
        "Profile": profile,
        "Column": column,
        "Sequence[Column]": (column,),
        "SearchConfig": column.config,
        "Hit": hits[0],
        "Sequence[Hit]": hits,
        "Index": index,
        "Document": document,
        "Iterable[Document]": (document,),
        "Pin": Pin("heliotropfrage now", HIDDEN),
        "Judgment": Judgment(next(iter(app.evaluation.querysets.get("stones").questions)).id, HIDDEN),
        "Setup": Setup("file form 111", (column,)),
        "Sequence[Run]": app.evaluation.runs.all(),
        "TauRule": TauRule(),
        "date": date(2999, 1, 1),
    }


TOLD = {  # a folder that one typed oneself, what somebody outside asked, and the policy, which is for admins
    *(("inbox.watches.listed", word) for word in ("quarzpfad", "zeolith")),
    ("search.queries.listed", "quokkawort"),
    *(("people.tokens.revoke", word) for word in ("quarzpfad", "zeolith", "hid-")),  # it was named like that here
    ("reviews.changes.rules_text", "quarzpfad"),
    ("reviews.changes.readers", "quarzpfad"),
}
SKIPPED = {
    "knowledge.drafts.keep": "it keeps what is given",
    "deliveries.sender.send": "it calls receivers; see the test of mails",
    "platform.workers.run": "it waits; the jobs here were done by it",
    **dict.fromkeys(("platform.backups.take", "platform.backups.restore", "platform.backups.move"), "whole workspaces"),
    **dict.fromkeys(("platform.sample.remove", "platform.upgrades.run"), "whole workspaces"),
}


def given_away(app: App, actor: Actor, names: Iterable[str], known: Mapping[str, tuple[Any, ...]] = NAMES) -> list[str]:
    """What use cases say of hidden documents."""
    leaks = []
    for name, typed, value in gone_through(app, actor, names, known):
        words = [word for word in found_in(value, typed) if (name, word) not in TOLD]
        leaks += [f"{name} as {actor.role}: {around(value, word)}" for word in words]
    return list(dict.fromkeys(leaks))


def test_no_use_case_gives_a_word_of_a_hidden_document(app: App) -> None:
    """As an admin with cold caches, which all who may read the same share; then as every role, after a reader of the
    folder.
    """
    leaks = given_away(app, OUTSIDE[-1], filter(reading, use_cases()))
    inside = gone_through(app, INSIDE, filter(reading, use_cases()))
    seen = {word for _, typed, value in inside for word in found_in(value, typed)}
    assert len(seen) >= len(CANARIES) - 3, set(CANARIES) - seen
    for actor in OUTSIDE:
        leaks += given_away(app, actor, filter(reading, use_cases()))
    assert not leaks, "\n".join(leaks)


def test_no_use_case_that_writes_gives_a_word_of_a_hidden_document(spare: App) -> None:
    known = {**NAMES, "text": PLAIN["text"]}  # what somebody wrote, they may be shown
    for actor in OUTSIDE[2:]:
        leaks = given_away(spare, actor, (name for name in use_cases() if not reading(name)), known)
        assert not leaks, "\n".join(leaks)


def gone_through(
    app: App, actor: Actor, names: Iterable[str], known: Mapping[str, tuple[Any, ...]] = NAMES
) -> Iterator[tuple[str, str, Any]]:
    """Use cases with what they give or say."""
    offered = services(app)
    for name in names:
        service, _, method = name.rpartition(".")
        for given in calls(app, name, actor, known) if service in offered else ():
            typed = told({key: value for key, value in given.items() if key != "actor"})
            yield name, typed, outcome(getattr(offered[service], method), given, actor)


def outcome(method: Callable[..., Any], given: dict[str, Any], actor: Actor) -> Any:
    """What a use case gives, or the sentence with which it refuses; nothing where it was called with what it cannot
    take.
    """
    try:
        with reading_as(actor):
            return method(**given)
    except ConcordError as error:
        return str(error)
    except (TypeError, AttributeError, KeyError, ValueError):
        return ""
    except Exception as error:
        return error


# ---------------------------------------------------------------- as if it had never been there

AS_TYPED = {  # what they give is made of the name that was given, or of chance
    "people.tokens.make",
    "upload.uploads.paste",
    "reviews.changes.typed",  # an id that is taken is taken: see docs/readers.md
}
NEVER = {  # what leads to something hidden, and its like that nobody ever wrote
    "HID-1": "NIL-1",
    HIDDEN: "basaltpfad/inner/nirgends.md",
    MERGED: 99_998,
    OPENED: 99_999,
}


def test_what_is_hidden_is_answered_like_what_never_was(spare: App) -> None:
    """Every use case that takes a document or a change says the same of both, as every role."""
    wrong, known = [], services(spare)
    for name in (name for name in use_cases() if name not in AS_TYPED):
        service, _, last = name.rpartition(".")
        method = getattr(known.get(service), last, None)
        for actor in (OUTSIDE[2], OUTSIDE[3]) if method else ():
            for given in calls(spare, name, actor):
                twins = {key: NEVER[value] for key, value in given.items() if known_twin(name, key, value)}
                if twins:
                    here, there = (told(outcome(method, each, actor)) for each in (given, {**given, **twins}))
                    for key, never in twins.items():
                        here, there = here.replace(str(given[key]), "X"), there.replace(str(never), "X")
                    wrong += [f"{name} {twins}: {here[:200]!r} and {there[:200]!r}"] if here != there else []
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def known_twin(name: str, key: str, value: Any) -> bool:
    """Whether an argument names something hidden; a number does where changes are meant."""
    change = name.startswith("reviews.") and key in ("number", "change")
    return (key in ("name", "path", "doc", "document") and value in ("HID-1", HIDDEN)) or (
        change and value in (MERGED, OPENED)
    )


VOLATILE = {"id", "seconds", "bytes", "generation"}  # fields that differ from one workspace to the next
DIFFERS = {  # what docs/readers.md says under What it does not hide
    **dict.fromkeys(("answers.checks.findability", "answers.loop.points", "answers.loop.figures"), "findability"),
    **dict.fromkeys(
        ("evaluation.querysets.listed", "evaluation.runs.listed", "evaluation.runs.show"), "figures of runs"
    ),
    **dict.fromkeys(
        ("reviews.impacts.show", "reviews.impacts.measure", "tuning.production.evidence"), "figures of runs"
    ),
    **dict.fromkeys(("platform.jobs.listed", "platform.jobs.show", "index.admin.profiles"), "the size of the index"),
    **dict.fromkeys(("inbox.watches.listed", "playground.notebook.history"), "one's own, which other tests here write"),
}


def figures(value: Any, at: str = "") -> Iterator[tuple[str, int]]:
    """Every count in a value: whole numbers, and how many there are of something."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield at, value
    elif isinstance(value, Mapping):
        yield f"{at}#", len(value)
        for key, each in value.items():
            yield from figures(each, f"{at}.{key}")
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield f"{at}#", len(value)
        for each in value:
            yield from figures(each, at)
    elif is_dataclass(value) and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            if name not in VOLATILE:
                yield from figures(getattr(value, name), f"{at}.{name}")


def test_no_count_differs_from_a_base_without_the_hidden_documents(app: App, bare: App) -> None:
    """But those that docs/readers.md names under What it does not hide."""
    differ = {}
    for actor in OUTSIDE[2:3]:
        for here, there in zip(
            *(gone_through(one, actor, filter(reading, use_cases()), PLAIN) for one in (app, bare)), strict=True
        ):
            counts = [Counter(figures(value)) for value in (here[2], there[2])]
            if counts[0] != counts[1] and here[0] not in DIFFERS:
                differ[here[0]] = (
                    here[1],
                    sorted((counts[0] - counts[1]).elements()),
                    sorted((counts[1] - counts[0]).elements()),
                )
    assert not differ, "\n".join(f"{name}: {what}" for name, what in differ.items())


# ---------------------------------------------------------------- the doors

ELSEWHERE = {  # what is not tried here, and why
    **dict.fromkeys(
        ("init", "restore", "backup", "database move", "upgrade"), "whole workspaces, at the terminal of the machine"
    ),
    **dict.fromkeys(
        ("mcp", "worker"), "they wait; the jobs of this workspace were done by a worker, tools are tried below"
    ),
    "models fetch": "it asks a package registry",
    "eval beir": "it measures a workspace of its own",
}


def teller(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[[str, str], str]:
    monkeypatch.setattr("getpass.getpass", lambda *_: "a long password")
    monkeypatch.setattr("sys.stdin.readline", lambda *_: "a long password\n", raising=False)
    monkeypatch.setattr(session, "open_app", lambda settings: app)
    monkeypatch.chdir(tmp_path)
    places = _places(tmp_path)
    (tmp_path / "a.md").write_text(
        "---\nid: HID-1\n---\n# A\n\nFile Form 111 within 30 days of detection. Signed by all.\n"
    )

    def say(line: str, account: str) -> str:
        for each in tmp_path.rglob("out*"):
            each.unlink() if each.is_file() else None
        try:
            main(["--home", str(app.settings.home), *line.format(**places).split(), "--as", account])
        except SystemExit:
            return ""
        shown = capsys.readouterr()
        written = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
        return " ".join([shown.out, shown.err, *written])

    return say


ASKED = {  # what commands, operations and tools are asked with
    "queryset": ("stones",),
    "folder": ("quarzpfad",),
    "doc": ("HID-1",),
    "files": (Path("a.md"),),
    "document": ("HID-1", HIDDEN, "HID-2"),
    "name": ("stones", "HID-1"),
    "change": (MERGED, OPENED),
    "number": (MERGED, OPENED),
    "query": ("form 111 within days", "heliotropfrage now"),
    "q": ("form 111 within days",),
    "since": ("2000-01-01",),
    "path": (HIDDEN,),
    "topic": ("form 111",),
    "as_of": ("", "main"),
    "entity": ("Rhodonit",),
}


CLAIMS = "---\nid: HID-1\n---\n# A\n\nFile Form 111 within 30 days of detection. Signed by all.\n"


@pytest.mark.parametrize("account", ["reader", pytest.param("reviewer", marks=pytest.mark.slow), "admin"])
def test_no_command_says_a_word_of_a_hidden_document(
    spare: App, account: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with every input of its form that could lead to one: what it prints, and the files that it writes."""
    monkeypatch.setattr("sys.stdin.readline", lambda *_: "a long password\n", raising=False)
    monkeypatch.setattr(session, "open_app", lambda settings: spare)
    monkeypatch.chdir(tmp_path)
    actor, leaks = replace(demo(account), door=COMMAND_LINE), []
    for name in sorted(set(commands()) - ELSEWHERE.keys()):
        found = record.COMMANDS[name]
        for form in forms(found.form):
            (tmp_path / "a.md").write_text(CLAIMS)
            call = CommandCall(spare.settings, account, Terminal(as_json=True, quiet=True))
            leaks += heard(name, form, actor, lambda: found.run(call, form))  # noqa: B023
            written = [path for path in tmp_path.rglob("*") if path.is_file()]
            texts = [path.read_text(errors="replace") for path in written]
            leaks += [f"{name}: {around(texts, word)}" for word in found_in(texts, f"{told(form)} hid-")]
            for path in written:
                path.unlink()
    assert not leaks, "\n".join(dict.fromkeys(leaks))


@pytest.mark.sqlite
@pytest.mark.parametrize("actor", [OUTSIDE[0], OUTSIDE[2]], ids=lambda actor: actor.role)
def test_no_operation_and_no_tool_gives_a_word_of_a_hidden_document(app: App, actor: Actor) -> None:
    leaks = []
    for _, operation in operations():
        if operation.verb == "GET":
            for form in forms(operation.form):
                leaks += heard(operation.name, form, actor, lambda: operation.run(ApiUse(app, actor), form))  # noqa: B023
    visit = ToolSession(app, actor, "http://here")
    for tool in (each for each in offered(actor) if each.name not in ("report_gap", "propose_change")):
        for given in asked(inspect.signature(tool.function)):
            leaks += heard(tool.name, given, actor, lambda: tool.function(visit, **given).words())  # noqa: B023
    assert not leaks, "\n".join(dict.fromkeys(leaks))


def forms(kind: type | None) -> Iterator[Any]:
    """A form with everything that could lead to a hidden document."""
    if kind is None:
        yield None
        return
    inputs = record.inputs(kind)
    needed = {one.name: fitting(one, ASKED.get(one.name, ("nothing",))[0]) for one in inputs if one.default is MISSING}
    yield kind(**needed)
    for one in inputs:
        for value in ASKED.get(one.name, ()):
            yield kind(**{**needed, one.name: fitting(one, value)})


def fitting(one: record.Input, value: Any) -> Any:
    """A value in the kind of an input."""
    if get_origin(one.kind) is tuple:
        return (value,)
    if one.kind is int and value == "nothing":
        return 99_999
    return Path(value) if Path in (one.kind, *get_args(one.kind)) else value


def asked(signature: inspect.Signature) -> Iterator[dict[str, Any]]:
    parameters = list(signature.parameters.values())[1:]
    needed = {p.name: ASKED.get(p.name, ("nothing",))[0] for p in parameters if p.default is p.empty}
    yield needed
    for p in parameters:
        yield from ({**needed, p.name: value} for value in ASKED.get(p.name, ()))


def heard(name: str, given: Any, actor: Actor, call: Callable[[], Any]) -> list[str]:
    """The words that a door gives away."""
    try:
        with reading_as(actor):
            shown = call()
            said = (
                told(
                    (
                        shown.value.part() if isinstance(shown.value, record.Rows) else shown.value,
                        shown.lines() if callable(shown.lines) else shown.lines,
                    )
                )
                if isinstance(shown, record.Shown)
                else told(shown)
            )
    except ConcordError as error:
        said = str(error)
    typed = f"{told(given)} hid-"  # a file of this test claims that id
    return [f"{name}: {around(said, word)}" for word in found_in(said, typed)]


def test_the_picture_of_a_draft_is_for_those_who_see_the_draft(app: App, spare: App) -> None:
    """Approved or not, by its content: also where somebody knows its address."""
    other = PNG.replace(b"IHDR", b"IHDR")[:-12] + b"\0\0\0\4tEXta\0b\0\xda\xbe\x0f\x0e" + PNG[-12:]
    picture = f"{FOLDER}/neu.assets/a.png"
    files = {f"{FOLDER}/neu2.md": b"# Neu\n\n![a](neu.assets/a.png)\n", picture: other}
    change = spare.reviews.changes.propose(INSIDE, "With a picture", files)
    pictures, head = spare.knowledge.pictures, spare.knowledge.repository.head()
    with reading_as(INSIDE):
        shown = {**pictures.blobs(head), **pictures.blobs(change.head)}
    for path in (f"{FOLDER}/zeolith.assets/kobaltbild.png", picture):
        assert pictures.read(INSIDE, shown[path], "a.png")
        for actor in OUTSIDE[1:]:
            with pytest.raises(NotFound, match="There is no such picture"):
                pictures.read(actor, shown[path], "a.png")
        with pytest.raises((NotFound, Refused)):
            pictures.read(OUTSIDE[0], shown[path], "a.png")
    mine = pictures.hold(demo("author"), "0:it/vpn.md", "it/vpn.md", "b.png", other)
    assert pictures.read(demo("author"), mine.blob, "b.png"), "it waits in a draft of one's own"


def test_nobody_acts_on_what_they_do_not_read(app: App) -> None:
    """It does not exist for them: the same sentence as for a number that nobody gave."""
    me, talk, changes = OUTSIDE[2], app.reviews.discussion, app.reviews.changes
    acts: dict[str, Callable[[], Any]] = {
        "comment": lambda: talk.comment(me, OPENED, "so"),
        "approve": lambda: talk.approve(me, OPENED),
        "submit": lambda: changes.submit(me, OPENED),
        "close": lambda: changes.close(me, OPENED),
        "edit": lambda: changes.edit(me, OPENED, {"fin/a.md": b"# A\n"}),
        "merge": lambda: app.reviews.merger.merge(me, OPENED),
        "revert": lambda: app.reviews.merger.revert(me, MERGED),
        "confirm": lambda: app.knowledge.freshness.confirm(me, HIDDEN, date(2999, 1, 1)),
        "feedback": lambda: app.knowledge.feedback.give(me, "HID-1", "right"),
        "propose": lambda: changes.propose(me, "In", {f"{FOLDER}/new.md": b"# New\n"}),
        "delete": lambda: changes.propose(me, "Out", {HIDDEN: None}),
        "rules": lambda: changes.propose(me, "Open it", {"review-rules.yaml": b"rules: []\n"}),
        "own list": lambda: changes.propose(me, "Own", {"it/mine.md": b"---\nreaders: [author2]\n---\n# Mine\n"}),
    }
    for name, act in acts.items():
        with reading_as(me), pytest.raises(NotFound) as refusal:
            act()
        assert not found_in(str(refusal.value), f"{HIDDEN} HID-1"), name


def test_a_gap_is_for_the_readers_of_the_nearest_document_and_for_its_reporter(spare: App) -> None:
    gaps, lead = spare.knowledge.gaps, demo("admin")
    with reading_as(INSIDE):
        hidden = next(gap for gap in gaps.open(INSIDE) if gap.note == "spinellnote")
    assert (hidden.near, hidden.owner) == (HIDDEN, ""), "no admin may look after it"
    for actor in OUTSIDE[1:]:
        for act in (gaps.close, lambda who, number: gaps.assign(who, number, "author2")):
            for number in (hidden.id, 999):
                with pytest.raises(NotFound, match=f"There is no question {number}."):
                    act(actor, number)
    with pytest.raises(Refused, match="may not read what this question is about"):
        gaps.assign(INSIDE, hidden.id, "author")
    assert gaps.assign(INSIDE, hidden.id, "reviewer2").owner == "reviewer2"
    put(spare, {"review-rules.yaml": POLICY.replace("author2, ", "")})
    (mine,) = (gap for gap in gaps.open(INSIDE) if gap.note == "spinellnote")
    assert (mine.near, mine.folder, mine.owner) == ("/", "", ""), "its reporter sees what they wrote"
    assert not any(gap.note == "spinellnote" for gap in gaps.open(replace(INSIDE, folders=("fin",))))
    gaps.close(JUDGE, hidden.id)
    assert not found_in([entry.what for entry in spare.people.audit.entries(lead) if "gap" in entry.action])


def test_a_hidden_folder_and_one_that_never_was_refuse_a_document_in_the_same_words(spare: App) -> None:
    """Where no hidden folder can lie, people begin folders; admins, who see the policy, and readers of all do so
    everywhere.
    """
    author, page = OUTSIDE[1], b"# New\n\nText.\n"

    def proposed(who: Actor, path: str) -> str:
        with reading_as(who):
            return str(
                outcome(spare.reviews.changes.propose, {"actor": who, "title": "New", "files": {path: page}}, who)
            )

    for below in ("new.md", "inner/new.md", "inner/deep/new.md"):
        hidden, absent = (proposed(author, f"{folder}/{below}") for folder in ("quarzpfad", "basaltpfad"))
        assert hidden.replace("quarzpfad", "basaltpfad") == absent
        assert "is in no folder that you read" in absent
    begun = [(author, "fin/new/a.md"), (author, "new.md"), (INSIDE, "basaltpfad/a.md"), (OUTSIDE[3], "basaltpfad/a.md")]
    for who, path in begun:
        assert proposed(who, path).startswith("Change(")
    mine = spare.reviews.changes.propose(INSIDE, "A folder", {"granat/a.md": page})
    spare.reviews.changes.invite(INSIDE, mine.id, [author.id])
    with reading_as(author):
        assert spare.reviews.changes.edit(author, mine.id, {"granat/b.md": page}).head != mine.head


def test_a_question_that_a_hidden_document_answers_too_is_no_example(spare: App) -> None:
    """Its best answer may be read; and the words of a question decide nothing, so they tell no title that was
    guessed.
    """
    sets, profile = spare.evaluation.querysets, spare.platform.settings.profile().name
    asked = (Question("z1", "How long does it take?"), Question("z2", "Who files form 111 of Zanzibarin?"))
    found = (Judgment("z1", "fin/ctr.md", grade=2), Judgment("z1", HIDDEN), Judgment("z2", "fin/sar.md"))
    sets.keep(INSIDE, QuerySet("asked", asked, found))
    spare.evaluation.runs.measure(INSIDE, "asked", [(profile, "bm25"), (profile, "dense")])
    for actor in OUTSIDE[1:]:
        assert [question.id for question in sets.show(actor, "asked").questions] == ["z2"]
        assert "How long does it take?" not in [example.text for example in spare.playground.examples.listed(actor, 50)]
    assert "How long does it take?" in [example.text for example in spare.playground.examples.listed(INSIDE, 50)]


def test_a_line_of_the_audit_that_is_missing_tells_no_title(spare: App) -> None:
    lead = OUTSIDE[3]
    for title in ("Zanzibarin", "Basaltin"):
        spare.knowledge.gaps.report(lead, f"what is {title}")
    assert {entry.what for entry in spare.people.audit.entries(lead, action="report a gap")} >= {
        "what is Zanzibarin",
        "what is Basaltin",
    }


def test_mail_digests_and_webhooks_carry_nothing_of_what_is_hidden(app: App) -> None:
    database, outside = app.people.accounts.database, {account.id for account in OUTSIDE}
    inboxes = [row.title + row.text for who in outside for row in database.messages.of(who, False, "", 500)]
    assert not found_in(inboxes)
    sent = database.deliveries.newest(500)
    letters = {row.target: row for row in sent if row.channel == "mail"}
    assert outside & letters.keys()
    assert not found_in([row.content for row in sent if row.channel == "mail" and row.target in outside])
    assert found_in([row.content for row in sent if row.target == INSIDE.id])
    assert {row.kind for row in sent} >= {"digest", "change.merged", "document.review_due"}
    everybody, inside = ([row.content for row in sent if (row.channel, row.target) == ("webhook", n)] for n in "12")
    assert everybody
    assert not found_in(everybody)
    assert {"smaragdtitel", "malachitwort", "karneol"} <= set(found_in(inside))


def test_a_change_of_the_policy_counts_at_the_next_call(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, {**FILES, HIDDEN: SECRET})
    with reading_as(OUTSIDE[0]):
        assert app.knowledge.documents.show("HID-1").title == "Zanzibarin"
        put(app, {"review-rules.yaml": "readers:\n  quarzpfad/: [group:hr]\n"})
        with pytest.raises(NotFound, match="There is no document 'HID-1'"):
            app.knowledge.documents.show("HID-1")
    with reading_as(replace(OUTSIDE[0], groups=("hr",))):
        assert app.knowledge.documents.show("HID-1").title == "Zanzibarin"


FAULTS = {  # a filter taken out, and the use cases that find it
    "the index without what is hidden": (
        "core.services.people.readership.seen_by",
        lambda index, readable: index,
        ("search.", "playground.", "graph."),
    ),
    "the documents": (
        "core.services.knowledge.documents.Documents._shown",
        lambda self, documents: documents,
        ("knowledge.documents.",),
    ),
    "the changes": (
        "core.services.people.readership.Readership.sees_change",
        lambda self, row, seen: True,
        ("reviews.changes.",),
    ),
    "the query sets": (
        "core.services.evaluation.querysets.QuerySets.shown",
        lambda self, queryset: queryset,
        ("evaluation.querysets.",),
    ),
    "the commits": (
        "core.curation.review.readers.Readable.edits",
        lambda self, edits: tuple(edits),
        ("knowledge.documents.",),
    ),
    "the audience of a cache": (
        "core.services.people.readership.Readership.audience",
        lambda self: "",
        ("evaluation.", "playground.examples.", "upload."),
    ),
    "the gaps": (
        "core.services.people.readership.Readership.sees_gap",
        lambda self, gap, seen: True,
        ("knowledge.gaps.",),
    ),
    "the commits of the audit": (
        "core.services.people.readership.Readership.sees_commit",
        lambda self, commit, seen: True,
        ("people.audit.",),
    ),
    "the log of deliveries": (
        "core.services.deliveries.board.DeliveryBoard._shown",
        lambda self, one: one,
        ("deliveries.",),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_law_finds_a_filter_that_was_taken_out(spare: App, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, without, under = FAULTS[fault]
    monkeypatch.setattr(place, without)
    for name in filter(reading, use_cases(under)):
        list(gone_through(spare, INSIDE, [name]))
        if given_away(spare, OUTSIDE[3], [name]):
            return
    pytest.fail(f"Nobody missed {fault}.")


def drawn(node: Any) -> str:
    """Everything that a page sends to the browser."""
    below = (drawn(child) for child in getattr(node, "children", {}).values())
    return " ".join((str(getattr(node, "proto", "")), *below))


ADDRESSES = {
    "documents": {"doc": "HID-1"},
    "reviews": {"change": "3"},
    "search": {"q": "file form 111 within days"},
    "playground": {"q": "file form 111 within days"},
    "graph": {"around": "HID-1"},
}
WATCHED = {"inbox", "home"}  # the folder that one typed oneself


def test_no_page_shows_a_word_of_a_hidden_document(
    app: App, visit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After somebody who may read it was there, so that every cache is warm."""
    monkeypatch.setattr("pages.ui.workspace.build", lambda settings: app)  # with its miniature models
    leaks, met = [], set()
    for page, action in pages().items():
        for actor in (actor for actor in (JUDGE, demo("reviewer"), demo("admin")) if allowed(actor, action)):
            shown = drawn(visit(page, app.settings.home, actor.id, **ADDRESSES.get(page, {}))._tree)
            if actor == JUDGE:
                met.update((page, word) for word in found_in(shown))
            else:
                typed = f"{HIDDEN} hid-" if page in WATCHED else "hid-"
                leaks += [f"{page} as {actor.role}: {around(shown, word)}" for word in found_in(shown, typed)]
    assert len({word for _, word in met}) > 8, met
    assert {page for page, _ in met} >= {*ADDRESSES, "home", "inbox"}
    assert not leaks, "\n".join(leaks)


LOOK_ALIKES = {  # words of hidden documents alone, by where they are, each with one that no document holds
    "zanzibarin": "zanzibaron",  # a title and a heading
    "quokkawort": "quokkawart",  # a text
    "obsidianmarke": "obsidianmarko",  # a tag
    "lapisfrage": "lapisfrago",  # a question that it answers
    "granitbesitz": "granitbesatz",  # an owner
    "zeolith": "zeolath",  # a file name
    "rhodonit": "rhodonat",  # a name in the graph
    "heliotropfrage": "heliotropfrago",  # a pin
    "heimwort": "heimwart",  # its synonym is one of them, that of the other is the like of it
}
QUESTIONS = ("{} now", "file form 111 {}")
ASKING = {"q", "query", "question", "words", "entity"}
ASKED_BESIDE = {"document": "BSA-2", "doc": "BSA-2"}
CONFIGS = ("bm25@rank-bm25", "bm25@duckdb", "dense@lancedb", "two-hops", "trimodal-graph", "tm2c2-0.5+rerank")
WAYS = [("", ""), *((config, "") for config in CONFIGS), ("", "beyond"), ("bm25", "beyond")]  # with a profile
ASKING_LINES = ("search {} --json", "search {} --config bm25@duckdb", "compare {} --json --config bm25", "ask {}")
TIMES = re.compile(r'"\w*(ms|seconds)": [-+.\de]+|\b[\d.,]+ m?s\b')  # they differ from call to call


VOLATILE_WORDS = re.compile(r"\b[0-9a-f]{8,}\b|\d{4}-\d\d-\d\dT[\d:.+]+|(?<=seconds )[\d.]+")


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that hears no difference between a word and its like: vectors know letters, whatever documents
    hold.
    """
    query = HashEmbedder.query
    monkeypatch.setattr(HashEmbedder, "query", lambda self, text: query(self, blank(text)))


def blank(text: str) -> str:
    """A text with X for every word of the pairs."""
    for pair in LOOK_ALIKES.items():
        for word in pair:
            text = re.sub(word, "X", text, flags=re.IGNORECASE)
    return TIMES.sub("", text)


def doors(app: App, actor: Actor, question: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every operation and tool that takes a question, with each configuration where it takes one."""
    everywhere = [*(one for _, one in list(operations())), *of_module("pages.ui.server.operations")]
    for operation in (one for one in everywhere if one.verb == "GET" and one.form):
        inputs = {one.name: one for one in record.inputs(operation.form)}
        needed = {name: ASKED_BESIDE.get(name, "nothing") for name, one in inputs.items() if one.default is MISSING}
        for name in inputs.keys() & ASKING:
            for way in WAYS if "config" in inputs else WAYS[:1]:
                chosen = {key: value for key, value in zip(("config", "profile"), way, strict=True) if value}
                listed = {key: (value,) if inputs[key].default == () else value for key, value in chosen.items()}
                form = partial(operation.form, **{**needed, name: question, **listed})
                yield " ".join((operation.name, *way)), partial(_run, operation, ApiUse(app, actor), form)
    visit = ToolSession(app, actor, "http://here")
    for tool in (each for each in offered(actor) if each.name not in ("report_gap", "propose_change")):
        for name in inspect.signature(tool.function).parameters.keys() & ASKING:
            yield tool.name, partial(_words, tool, visit, {name: question})
    yield "written", partial(_written, app, actor, question)


def _written(app: App, actor: Actor, question: str) -> Any:
    """A written answer, and what its model reads."""
    llm = ScriptedLlm("File Form 111 within 30 days of detection.")
    answer = Answerer(SmallModels(llm), app.search.searcher).answer(actor, question)  # type: ignore[arg-type]
    return told(answer.reply), llm.asked


def _run(operation: Any, use: ApiUse, form: Callable[[], Any]) -> Any:
    return operation.run(use, form())


def _words(tool: Any, visit: ToolSession, given: dict[str, Any]) -> Any:
    return tool.function(visit, **given).words()


@pytest.fixture(scope="module")
def asked_app(app: App, tmp_path_factory: pytest.TempPathFactory) -> App:
    """A copy that was asked nothing yet, with another profile."""
    home = Path(shutil.copytree(app.settings.home, tmp_path_factory.mktemp("asked") / "home"))
    copy = small_app(home, processes=NoProcesses())
    settings = copy.platform.settings
    settings.add_profile(replace(settings.profile(), name="beyond", graph="none"), INSIDE.person)
    put(copy, {"synonyms.yaml": "synonyms:\n  - heimwort = quokkawort\n  - heimwart = quokkawart\n"})
    for profile in (settings.profile(), settings.profile("beyond")):
        copy.index.builder.build(profile)
    return copy


@pytest.mark.usefixtures("deaf")
@pytest.mark.parametrize(
    "words",
    ["zanzibarin quokkawort obsidianmarke", "heimwort lapisfrage granitbesitz zeolith rhodonit", "heliotropfrage"],
)
def test_words_of_hidden_documents_are_answered_like_words_of_no_document(
    asked_app: App, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """By every operation, command and tool that takes a question, in every number that it gives."""
    app, actor, wrong, tried = asked_app, OUTSIDE[2], list[str](), set[str]()
    say = teller(app, tmp_path, monkeypatch, capsys)
    for question in QUESTIONS:
        pair = words, " ".join(LOOK_ALIKES[word] for word in words.split())
        both = (list(doors(app, actor, question.format(each))) for each in pair)
        for (name, ours), (_, theirs) in zip(*both, strict=True):
            here, there = replied(ours, actor), replied(theirs, actor)
            wrong += differing(f"{name} {question}", here, there)
            tried.add(name)
    for line in ASKING_LINES:
        here, there = (blank(say(line.format(each.partition(" ")[0]), actor.id)) for each in pair)
        wrong += differing(line, here, there) if here else [f"{line} says nothing"]
    assert {name.strip() for name in tried} >= {"find", "search two-hops", "where bm25@duckdb", "search bm25 beyond"}
    assert not wrong, "\n".join(wrong)


def differing(name: str, here: str, there: str) -> list[str]:
    """Two answers from where they part."""
    at = next((n for n, (ours, theirs) in enumerate(zip(here, there, strict=False)) if ours != theirs), 0)
    shown = slice(max(0, at - 80), at + 80)
    return [f"{name}: {here[shown]!r} and {there[shown]!r}"] if here != there else []


def replied(call: Callable[[], Any], actor: Actor) -> str:
    """What a door says, without the word and without times."""
    try:
        with reading_as(actor):
            shown = call()
    except (ConcordError, TypeError) as error:
        return blank(str(error))
    value = shown.value.part() if isinstance(shown, record.Shown) and isinstance(shown.value, record.Rows) else shown
    return blank(json.dumps(strict.plain(value.value if isinstance(value, record.Shown) else value), default=told))


PROBE = """---
title: Probe
answers: ["Which form is filed by {0}?", "How to file form 111 {1}?", "{2}"]
---
# Probe {0}

Lapis is filed by Amazonit {4} within 45 days. File Form 111 by {5}. {6}

[a](../quarzpfad/inner/zeolith.md#{0}) and [b](../fin/ctr.md#{0}).
"""


def given_to_authors(app: App, words: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """What a text with some words is answered on its way from a draft to main, and on main."""
    me, text, path = OUTSIDE[1], PROBE.format(*words), "it/probe.md"
    head, question = app.knowledge.repository.head(), f"file form 111 {next(iter(words))}"
    with reading_as(me):
        yield "checks", app.reviews.changes.typed(path, text, head)
        yield "upload", app.upload.uploads.read(me, [("probe.md", text.encode())], "it").items
        yield (
            "draft",
            app.answers.writing.try_out(me, read_document(path, text), read_document(path, text).meta.answers),
        )
        yield "disagreements", app.knowledge.disagreements.of_text(me, path, text)
        change = app.reviews.changes.propose(me, "Probe", {path: text.encode()})
        yield "change", app.reviews.changes.show(me, change.id)
        yield "impact", as_json(app.reviews.impacts.measure(replace(me, door=COMMAND_LINE), change.id))
        state = app.search.searcher.index(f"local@{change.id}")
        found = app.search.searcher.search_in(state, question, configs.parse("bm25"))
        yield "state", (found.hits, found.confidence, found.fits)
        app.reviews.changes.submit(me, change.id)
    with reading_as(OUTSIDE[2]):
        app.reviews.discussion.approve(OUTSIDE[2], change.id)
        yield "merge", app.reviews.merger.merge(OUTSIDE[2], change.id)
    app.index.builder.build(app.platform.settings.profile())
    with reading_as(me):
        app.answers.checks.check(me)
        yield "answers", app.answers.checks.listed()
        yield "points", app.answers.checks.findability()
        yield "gap", app.knowledge.gaps.report(me, question)
        yield "gaps", app.knowledge.gaps.open(me)
        yield "asked", (app.search.queries.keep(me, question), app.search.queries.listed(me))


@pytest.mark.usefixtures("deaf")
def test_a_text_with_words_of_hidden_documents_is_answered_like_one_with_words_of_none(
    app: App, tmp_path: Path
) -> None:
    """From the checks of a draft over its impact to the ranks of its questions on main."""
    homes = [Path(shutil.copytree(app.settings.home, tmp_path / name)) for name in ("hidden", "none")]
    both = (small_app(home, processes=NoProcesses()) for home in homes)
    said = [
        list(given_to_authors(one, words)) for one, words in zip(both, (LOOK_ALIKES, LOOK_ALIKES.values()), strict=True)
    ]
    wrong = []
    for (name, ours), (_, theirs) in zip(*said, strict=True):
        here, there = (VOLATILE_WORDS.sub("", blank(told(value))) for value in (ours, theirs))
        wrong += differing(name, here, there)
    assert not wrong, "\n".join(wrong)


# ---------------------------------------------------------------- groups, tokens, and what a change does


@pytest.fixture
def grouped(tmp_path: Path) -> App:
    """A folder for a group, without an index."""
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, {**FILES, HIDDEN: SECRET, "review-rules.yaml": "readers:\n  quarzpfad/: [group:hr]\n"})
    return app


def reads(app: App, actor: Actor) -> bool:
    with reading_as(actor):
        return any(document.id == "HID-1" for document in app.knowledge.documents.all())


def test_a_group_reads_from_the_next_call_on(grouped: App) -> None:
    accounts = grouped.people.accounts
    assert not reads(grouped, accounts.actor("reader"))
    accounts.set_groups(demo("admin"), "reader", ["hr"])
    assert reads(grouped, accounts.actor("reader"))
    assert accounts.get("reader").groups == ("hr",)
    accounts.set_groups(demo("admin"), "reader", [])
    assert not reads(grouped, accounts.actor("reader"))


def test_the_groups_of_the_provider_count_from_the_sign_in_on(grouped: App) -> None:
    settings = ProviderSettings(
        "concord", "https://here/oauth2callback", "https://id.example/.well-known", role_claim="groups"
    )
    claims = {"iss": "https://id.example", "sub": "1", "email": "robin@meridale.example", "email_verified": True}
    grouped.people.provider.sign_in({**claims, "groups": ["hr", "all"]}, settings)
    assert reads(grouped, grouped.people.accounts.actor("reader"))
    grouped.people.provider.sign_in({**claims, "groups": ["all"]}, settings)
    assert not reads(grouped, grouped.people.accounts.actor("reader"))


@pytest.mark.parametrize("name", ["concord", "webhook"])
def test_no_account_has_the_rights_of_the_system_and_no_list_names_the_outside(grouped: App, name: str) -> None:
    put(grouped, {"review-rules.yaml": f"readers:\n  quarzpfad/: [group:hr]\n  fin/: [{name}]\n"})
    assert not reads(grouped, Actor(name, "Concord", "", "reader"))
    with reading_as(PUBLIC):
        assert {document.path.split("/")[0] for document in grouped.knowledge.documents.all()} == {"it", "hr"}


def test_a_token_for_a_folder_reads_nothing_else(grouped: App) -> None:
    text, token = grouped.people.tokens.make(demo("author"), "bot", folders=["fin"])
    actor = grouped.people.tokens.holder(text, "api")
    assert token.folders == ("fin",)
    with reading_as(actor):
        assert {document.path.split("/")[0] for document in grouped.knowledge.documents.all()} == {"fin"}


def test_an_admin_reads_by_role_and_the_audit_says_so(grouped: App) -> None:
    with reading_as(demo("admin")):
        for _ in range(2):
            grouped.knowledge.documents.show("HID-1")
        grouped.knowledge.documents.show("BSA-1")
    entries = grouped.people.audit.entries(demo("admin"), action="read by role")
    assert [entry.detail for entry in entries] == [HIDDEN]


def test_a_change_says_from_whom_it_hides_what(grouped: App) -> None:
    changes, admin = grouped.reviews.changes, demo("admin")
    policy = "readers:\n  quarzpfad/: [group:hr]\n  fin/: [author]\n"
    change = changes.propose(admin, "Close finance", {"review-rules.yaml": policy.encode()})
    assert change.warnings == ("3 documents will be hidden from 4 people.",)
    moved = changes.propose(admin, "Move it out", {HIDDEN: None, "it/zeolith.md": SECRET.encode()})
    assert moved.warnings == (
        "1 document will be shown to 5 people.",
        "Earlier versions of it/zeolith.md stay with the readers of quarzpfad/inner.",
    )
    with pytest.raises(NotFound):
        changes.show(demo("author"), moved.id)


def test_a_policy_that_cannot_be_read_hides_everything_from_everybody_but_admins(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, {**FILES, "review-rules.yaml": "readers: 7\n"})
    with reading_as(demo("reviewer")):
        assert app.knowledge.documents.all() == ()
    with reading_as(demo("admin")):
        assert app.knowledge.documents.all()


def test_without_a_policy_everybody_reads_everything_and_no_view_is_made(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, {**FILES, "it/own.md": OWN})
    for account in app.people.accounts.all():
        with reading_as(account.actor):
            assert app.knowledge.documents.readership.now() is None
            assert len(app.knowledge.documents.all()) == len(FILES) + 1


def test_an_own_list_counts_where_the_policy_speaks_of_readers(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, {**FILES, "it/own.md": OWN, "review-rules.yaml": "readers: {}\n"})
    with reading_as(demo("author")):
        assert "HID-2" not in {document.id for document in app.knowledge.documents.all()}
    with reading_as(demo("author2")):
        assert "HID-2" in {document.id for document in app.knowledge.documents.all()}


def test_a_door_that_names_nobody_reads_what_everybody_may(app: App) -> None:
    assert not found_in(app.knowledge.documents.all())
    assert {"BSA-1", "IT-1"} <= {document.id for document in app.knowledge.documents.all()}
    with pytest.raises(NotFound):
        app.knowledge.documents.show("HID-1")


def test_what_works_on_every_document_is_for_admins_or_gives_figures() -> None:
    """`whole=True` is a way around the readers: whoever adds one has looked at what it gives back."""
    known = {
        *(
            "answers.checks.check",
            "tuning.confidence.measure",
            "tuning.production.check",
            "tuning.recommendation.measure",
        ),
        *("tuning.sweeps.alpha_curves", "tuning.sweeps.load", "tuning.sweeps.tau"),
        "knowledge.gaps.look",
    }
    whole = {name: mark for name, mark in records().items() if mark.whole and mark.needs != UPKEEP}
    assert {name for name, mark in whole.items() if NEEDS[mark.needs] != "admin"} == known
