"""Who may read what: words that stand in hidden documents alone appear at no door to anybody who may not read them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, is_dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.access import AUDITED, EVERYBODY, IN_HAND, NEEDS, SIGN_IN, UPKEEP, Actor, allowed, reading_as
from core.bootstrap import App
from core.entrypoints import record, session
from core.entrypoints.api.operations import ApiUse, operations
from core.entrypoints.cli import main
from core.entrypoints.mcp.tools import offered
from core.entrypoints.mcp.visits import ToolSession
from core.errors import ConcordError, NotFound
from core.services.people.accounts import COMMAND_LINE
from core.settings import ProviderSettings
from core.types import Filters
from tests.conftest import NoProcesses, demo, put, small_app
from tests.small_kb import FILES
from tests.test_doors import WORDS, _places, commands, dummy, pages, records, services

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
    hook = {"name": "hook", "url": "https://hook.example", "format": "concord", "secret": "s", "created": "", "who": ""}
    with app.people.accounts.database.transaction() as state:
        state.webhooks.add(**hook)
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
    late = FILES["fin/sar.md"].replace("Form 111", "Form 119")
    other = changes.propose(demo("author"), "Another form", {"fin/sar.md": late.encode()})
    changes.submit(demo("author"), other.id)
    talk.approve(demo("reviewer"), other.id)
    app.evaluation.querysets.guard(INSIDE, "stones")
    app.reviews.impacts.measure(replace(INSIDE, door=COMMAND_LINE), other.id)


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
    "number": (1, 2, 3),
    "name": ("HID-1", HIDDEN, "HID-2", "stones"),
    "query": ("quokkawort form", "file form 111", "heliotropfrage now"),
    "words": ("form 111",),
    "path": (HIDDEN, "fin/sar.md"),
    "doc": ("HID-1",),
    "question": ("What does lapisfrage mean?",),
    "text": (SECRET,),
    "queryset": ("stones",),
    **dict.fromkeys(("when", "as_of", "revision"), ()),
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
    repository = app.knowledge.repository
    past = (repository.log(repository.head())[-1][0].id, repository.head(), str(app.upload.uploads.clock.today()))
    values = {
        p.name: runs
        if p.name in ("number", "run", "before", "after") and p.annotation == "str"
        else past
        if p.name in ("when", "as_of", "revision", "commit")
        else NAMES[p.name]
        for p in parameters
        if p.name in NAMES or p.name in ("run", "before", "after", "commit")
    }
    needed = [p for p in parameters if p.default is p.empty]
    base = {p.name: dummy(str(p.annotation)) for p in needed if p.name != "actor"}
    base |= {"actor": actor} if any(p.name == "actor" for p in parameters) else {}
    yield base
    best = {p.name: values[p.name][0] for p in needed if p.name in values}
    for name, choices in values.items():
        for value in choices:
            yield {**base, **best, name: value}


TOLD = {  # a folder that one typed oneself, what somebody outside asked, and the policy, which is for admins
    ("inbox.watches.listed", "quarzpfad"),
    ("search.queries.listed", "quokkawort"),
    ("reviews.changes.rules_text", "quarzpfad"),
    ("reviews.changes.readers", "quarzpfad"),
}
SKIPPED = {"knowledge.drafts.keep", "deliveries.sender.send"}


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


# ---------------------------------------------------------------- the doors

LINES = {  # what leads to hidden documents, by command
    "search": ("form 111 within days", "quokkawort", "heliotropfrage now", "form --as-of main", "form --folder quarzpfad"),
    **{f"documents {verb}": ("HID-1", HIDDEN, "HID-2") for verb in ("show", "history", "diff", "links", "chunks", "pictures", "export")},
    "documents changed": ("--since 2000-01-01",),
    "documents edit": ("--all --set-owner Ann --dry-run",),
    **{f"change {verb}": ("1", "2") for verb in ("show", "diff", "conflicts", "impact", "comment", "viewed", "approve", "revert", "close")},
    "change list": ("", "--state merged"),
    "confirm": ("HID-1 --until 2000-01-01",),
    "feedback give": ("HID-1 right",),
    "feedback close": ("1",),
    "graph document": ("HID-1",),
    "graph query": ("Amazonit",),
    "graph entity": ("Rhodonit",),
    "where": ("form HID-1 --config bm25",),
    "compare": ("form 111 --config bm25 --config hybrid",),
    "pool": ("form 111 --config bm25",),
    "judge": ("form 111",),
    "answers list": ("", "HID-1"),
    "answers suggest": ("HID-1",),
    "eval show": ("stones",),
    "eval export": ("stones {out}",),
    "eval question": ("stones words",),
    "eval judgment": ("stones q1 HID-1 3",),
    "words pin": ("nothing --document HID-1",),
    "words unpin": ("heliotropfrage now",),
    "disagreements check": ("{file}",),
    "accounts add": ("nobody",),
    "check": ("{file}",),
    "upload": ("{file} --title nothing",),
}  # fmt: skip
ELSEWHERE = {  # what these do is tried by tests of their own: they move whole workspaces, or wait
    *("init", "restore", "backup", "database move", "worker", "mcp", "pull-request", "import", "eval beir", "eval experiment"),
    *("sample remove", "remote add", "models fetch", "upgrade", "serve"),
}  # fmt: skip
NAMED = {
    ("questions list", "quokkawort"),
    ("inbox list", "quokkawort"),
    ("review rules", "quarzpfad"),
    ("watch list", "quarzpfad"),
    ("change rules", "quarzpfad"),
}


@pytest.fixture
def typed(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[[str, str], str]:
    """What a command says to an account."""
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


@pytest.mark.parametrize("account", ["reader", pytest.param("reviewer", marks=pytest.mark.slow), "admin"])
def test_no_command_says_a_word_of_a_hidden_document(app: App, typed: Callable[[str, str], str], account: str) -> None:
    leaks = []
    for name in sorted(set(commands()) - ELSEWHERE):
        for given in LINES.get(name, (WORDS.get(name, ""),)):
            for json_ in ("", " --json"):
                said = typed(f"{name} {given}{json_}", account)
                words = [word for word in found_in(said, given) if (name, word) not in NAMED]
                leaks += [f"{name} {given}: {', '.join(words)}"] if words else []
    assert not leaks, "\n".join(dict.fromkeys(leaks))


ASKED = {  # what operations and tools are asked with
    "document": ("HID-1", HIDDEN, "HID-2"),
    "name": ("stones", "HID-1"),
    "change": (1, 2),
    "number": (1, 2),
    "query": ("form 111 within days", "heliotropfrage now"),
    "q": ("form 111 within days",),
    "since": ("2000-01-01",),
    "path": (HIDDEN,),
    "topic": ("form 111",),
    "as_of": ("", "main"),
    "entity": ("Rhodonit",),
}


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
    needed = {one.name: ASKED.get(one.name, ("nothing",))[0] for one in inputs if one.default is MISSING}
    yield kind(**needed)
    for one in inputs:
        for value in ASKED.get(one.name, ()):
            yield kind(**{**needed, one.name: value})


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
                told(shown.value.part() if isinstance(shown.value, record.Rows) else shown.value)
                if isinstance(shown, record.Shown)
                else told(shown)
            )
    except ConcordError as error:
        said = str(error)
    return [f"{name}: {', '.join(words)}" for words in [found_in(said, told(given))] if words]


def test_nobody_acts_on_what_they_do_not_read(app: App) -> None:
    """It does not exist for them: the same sentence as for a number that nobody gave."""
    me, talk, changes = OUTSIDE[2], app.reviews.discussion, app.reviews.changes
    acts: dict[str, Callable[[], Any]] = {
        "comment": lambda: talk.comment(me, 2, "so"),
        "approve": lambda: talk.approve(me, 2),
        "submit": lambda: changes.submit(me, 2),
        "close": lambda: changes.close(me, 2),
        "edit": lambda: changes.edit(me, 2, {"fin/a.md": b"# A\n"}),
        "merge": lambda: app.reviews.merger.merge(me, 2),
        "revert": lambda: app.reviews.merger.revert(me, 1),
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
        assert not found_in(str(refusal.value), HIDDEN), name


def test_mail_and_webhooks_carry_nothing_of_what_is_hidden(app: App) -> None:
    with app.people.accounts.database.transaction() as state:
        rows = [row.title + row.text for account in OUTSIDE for row in state.messages.of(account.id, False, "", 500)]
    assert not found_in(rows)
    hooks = [row.content for row in app.people.accounts.database.deliveries.newest(500)]
    assert hooks
    assert not found_in(hooks)
    assert any(
        "malachitwort" in row.text for row in app.people.accounts.database.messages.of("reviewer2", False, "", 500)
    )


def test_counts_are_those_of_a_base_without_the_hidden_documents(app: App, tmp_path: Path) -> None:
    bare = small_app(tmp_path / "home", processes=NoProcesses())
    put(bare, {**FILES, "pins.yaml": "pins: []\n"})
    bare.index.builder.build(bare.platform.settings.profile())
    reader = OUTSIDE[0]
    with reading_as(reader):
        mine, theirs = app.knowledge.home.overview(), bare.knowledge.home.overview()
        assert (mine.documents, mine.types, mine.folders) == (theirs.documents, theirs.types, theirs.folders)
        here, there = (one.search.page.find("file form 111", Filters(history=True)) for one in (app, bare))
        assert here.facets == there.facets
        assert [hit.doc for hit in here.result.hits] == [hit.doc for hit in there.result.hits]


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


FAULTS = {  # a filter taken out, by the name of what it filters
    "the mask of the legs": ("core.retrieval.reader_index.ReaderIndex.allowed", lambda self, filters, today: self._index.allowed(filters, today)),
    "the documents": ("core.services.knowledge.documents.Documents._shown", lambda self, documents: documents),
    "the changes": ("core.services.people.readership.Readership.sees_change", lambda self, row, seen: True),
    "the query sets": ("core.services.evaluation.querysets.QuerySets.shown", lambda self, queryset: queryset),
    "the commits": ("core.curation.review.readers.Readable.edits", lambda self, edits: tuple(edits)),
    "the audience of a cache": ("core.services.people.readership.Readership.audience", lambda self: ""),
}  # fmt: skip


SLOW_FAULTS = [pytest.param(fault, marks=pytest.mark.slow) for fault in list(FAULTS)[1:]]


@pytest.mark.parametrize("fault", [next(iter(FAULTS)), *SLOW_FAULTS])
def test_the_law_finds_a_filter_that_was_taken_out(app: App, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    list(gone_through(app, INSIDE))
    leaks = [name for name, typed, value in gone_through(app, OUTSIDE[2]) if found_in(value, typed)]
    assert set(leaks) - {name for name, _ in TOLD}, fault


def drawn(node: Any) -> str:
    """Everything that a page sends to the browser."""
    below = (drawn(child) for child in getattr(node, "children", {}).values())
    return " ".join((str(getattr(node, "proto", "")), *below))


ADDRESSES = {
    "documents": {"doc": "HID-1"},
    "reviews": {"change": "2"},
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
                typed = "quarzpfad" if page in WATCHED else ""
                leaks += [f"{page} as {actor.role}: {', '.join(words)}" for words in [found_in(shown, typed)] if words]
    assert len({word for _, word in met}) > 8, met
    assert {page for page, _ in met} >= {*ADDRESSES, "home", "inbox"}
    assert not leaks, "\n".join(leaks)


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
        *("tuning.sweeps.curve", "tuning.sweeps.load", "tuning.sweeps.tau", "evaluation.experiments.run"),
        "knowledge.gaps.look",
    }
    whole = {name: mark for name, mark in records().items() if mark.whole and mark.needs != UPKEEP}
    assert {name for name, mark in whole.items() if NEEDS[mark.needs] != "admin"} == known
