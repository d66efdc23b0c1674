"""The checks of the intake hold for changes too: errors stop a submit and a merge, warnings are shown."""

from __future__ import annotations

import pytest

from core.bootstrap import App
from core.curation.checks import check_rules
from core.curation.checks.findings import Finding, Reading
from core.curation.review.moves import obstacles
from core.errors import Refused
from core.services.reviews.checks import ChangeChecks
from core.storage.cache import readings
from core.types import Document
from tests.conftest import demo, put
from tests.support.uploads import png

KEY = "AKIA" + "Q7ZXKPLMVTRWNBCD"  # made up; put together here so that no scanner stumbles over this file
BASE = {
    "it/vpn.md": "---\nid: IT-1\ntitle: VPN\n---\n# VPN\n\nUse it.\n",
    "hr/leave.md": "---\nid: HR-1\ntitle: Leave\n---\n# Leave\n\nAsk [it](../it/vpn.md).\n",
}


@pytest.fixture
def reviews_app(app: App) -> App:
    put(app, dict(BASE))
    return app


def change(reviews_app: App, **files: str | None) -> int:
    made = {
        path.replace("__", "/") + ".md": text.encode() if text is not None else None for path, text in files.items()
    }
    return reviews_app.reviews.changes.propose(demo("author"), "Edit", made).id


def test_a_key_stops_submit_and_merge_until_it_is_gone(reviews_app: App) -> None:
    number = change(reviews_app, it__vpn=BASE["it/vpn.md"] + f"\nThe key is {KEY}.\n")
    sentence = "it/vpn.md, line 9: This looks like an AWS access key."
    with pytest.raises(Refused, match=f"cannot be submitted yet. {sentence}"):
        reviews_app.reviews.changes.submit(demo("author"), number)
    assert any(one.startswith(sentence) for one in reviews_app.reviews.changes.get(number).requirements)
    assert KEY not in " ".join(reviews_app.reviews.changes.get(number).requirements)
    reviews_app.reviews.changes.edit(demo("author"), number, {"it/vpn.md": (BASE["it/vpn.md"] + "\nMore.\n").encode()})
    assert reviews_app.reviews.changes.submit(demo("author"), number).state == "in review"


def test_an_id_that_was_merged_meanwhile_stops_the_merge(reviews_app: App) -> None:
    number = change(reviews_app, it__mail="---\nid: IT-2\n---\n# Mail\n\nWrite.\n")
    reviews_app.reviews.changes.submit(demo("author"), number)
    reviews_app.reviews.discussion.approve(demo("reviewer"), number)
    assert reviews_app.reviews.changes.get(number).requirements == ()
    put(reviews_app, {"it/post.md": "---\nid: IT-2\n---\n# Post\n\nWrite.\n"}, "meanwhile")
    with pytest.raises(Refused, match="it/mail.md, line 2: The id 'IT-2' belongs to it/post.md"):
        reviews_app.reviews.merger.merge(demo("author"), number)
    with pytest.raises(Refused, match="belongs to it/post.md"):
        reviews_app.reviews.merger.merge(demo("admin"), number, bypass="The auditor waits.")


@pytest.mark.parametrize(
    ("files", "flagged"),
    [
        ({"it__new": BASE["it/vpn.md"]}, ["it/new.md"]),
        ({"it__vpn": None, "it__new": BASE["it/vpn.md"]}, []),  # a rename keeps its id
        ({"it__vpn": BASE["it/vpn.md"] + "\nMore.\n"}, []),
        ({"hr__leave": BASE["hr/leave.md"].replace("HR-1", "IT-1")}, ["hr/leave.md"]),
        ({"a__x": BASE["it/vpn.md"].replace("IT-1", "N"), "b__y": BASE["it/vpn.md"].replace("IT-1", "N")}, ["b/y.md"]),
        ({"it__vpn": BASE["it/vpn.md"] + "\n", "it__new": BASE["it/vpn.md"]}, ["it/new.md"]),  # who had it keeps it
    ],
)
def test_an_id_belongs_to_one_document(reviews_app: App, files: dict[str, str | None], flagged: list[str]) -> None:
    found = reviews_app.reviews.changes.get(change(reviews_app, **files)).findings
    assert [one.path for one in found if one.rule == "id"] == flagged


def test_documents_that_already_shared_an_id_can_still_be_edited(reviews_app: App) -> None:
    put(reviews_app, {"it/twin.md": BASE["it/vpn.md"]}, "twin")
    assert not [
        one
        for one in reviews_app.reviews.changes.get(
            change(reviews_app, it__twin=BASE["it/vpn.md"] + "\nMore.\n")
        ).findings
        if one.rule == "id"
    ]


def test_links_are_checked_against_the_knowledge_base_with_the_change_in_it(reviews_app: App) -> None:
    number = change(
        reviews_app,
        it__new="# New\n\n[a](vpn.md#vpn) [b](vpn.md#none) [c](other.md) [d](../hr/leave.md)\n",
        it__other="# Other\n\nText.\n",
        hr__leave=None,
    )
    found = [one.message for one in reviews_app.reviews.changes.get(number).findings if one.rule == "links"]
    assert sorted(found) == [
        "The link '../hr/leave.md' leads to hr/leave.md, and there is no such document.",
        "The link 'vpn.md#none' names a heading that it/vpn.md does not have.",
    ]
    assert reviews_app.reviews.changes.submit(demo("author"), number).state == "in review", "warnings stop nobody"


def test_what_is_typed_is_checked_before_it_is_saved(reviews_app: App) -> None:
    typed = reviews_app.reviews.changes.checking.typed
    head = reviews_app.knowledge.repository.head()
    assert [one.rule for one in typed("it/x.md", f"# X\n\n{KEY}\n", head) if one.severity == "error"] == ["secrets"]
    assert [one.rule for one in typed("it/x.md", BASE["it/vpn.md"], head) if one.severity == "error"] == ["id"]
    assert not [one for one in typed("it/vpn.md", BASE["it/vpn.md"], head) if one.severity == "error"]
    assert typed("it/x.md", "---\nreview_due: soon\n---\n", head)[0].line == 2


def test_a_picture_is_missing_only_until_a_draft_a_change_or_main_holds_it(reviews_app: App) -> None:
    changes, text = reviews_app.reviews.changes, "# X\n\n![Map](x.assets/map.png)\n"
    head, path = reviews_app.knowledge.repository.head(), "it/x.assets/map.png"

    def missing(pictures: tuple[str, ...] = ()) -> list[int]:
        return [
            one.line for one in changes.checking.typed("it/x.md", text, head, None, pictures) if one.rule == "pictures"
        ]

    assert missing() == [3]
    assert missing((path,)) == []
    made = changes.propose(demo("author"), "Map", {"it/x.md": text.encode(), path: png()})
    assert not [one for one in made.findings if one.rule == "pictures"]


def test_the_same_findings_are_in_the_facts(reviews_app: App) -> None:
    number = change(reviews_app, it__vpn="---\nreview_due: soon\n---\n# VPN\n")
    database = reviews_app.reviews.changes.database
    row = database.changes.get(number)
    assert row
    facts, work = reviews_app.reviews.changes.facts.of(database, row)
    assert facts.broken == obstacles(facts)
    assert len(facts.broken) == 1, "what cannot be read is said once"
    assert [one.rule for one in work.outlook.findings] == ["frontmatter"]


def test_what_was_to_fix_before_is_told_apart_and_an_edit_that_follows_a_link_is_asked_nothing(
    reviews_app: App,
) -> None:
    put(reviews_app, {"hr/leave.md": BASE["hr/leave.md"] + "\nSee [that](gone.md).\n"})
    moved = {"it__vpn": None, "it__net": BASE["it/vpn.md"]}
    links = BASE["hr/leave.md"].replace("vpn.md", "net.md") + "\nSee [that](gone.md).\n"
    number = change(reviews_app, **moved, hr__leave=links)
    found = [
        (one.path, one.rule, one.known)
        for one in reviews_app.reviews.changes.get(number).findings
        if one.severity == "warning"
    ]
    assert found == [("hr/leave.md", "links", True)]
    with reviews_app.reviews.changes.writing(number) as (state, row, _):
        assert reviews_app.reviews.changes.facts.of(state, row)[1].outlook.listed == (), "no words were edited"
    worse = change(reviews_app, hr__leave=links.replace("gone.md", "lost.md") + "\nNew [x](nowhere.md).\n")
    found = [one.known for one in reviews_app.reviews.changes.get(worse).findings if one.severity == "warning"]
    assert set(found) == {False}
    ((other, paths),) = reviews_app.reviews.changes.beside(demo("author2"), number)
    assert (other.id, other.author_name, paths) == (worse, "Avery Lindqvist", ("hr/leave.md",))


def test_a_server_that_starts_again_parses_nothing_twice_unless_the_rules_changed(
    reviews_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = change(
        reviews_app, it__vpn=BASE["it/vpn.md"] + "\nSee [nothing](gone.md) and [leave](../hr/leave.md#leave).\n"
    )
    known = reviews_app.reviews.changes.get(number)
    assert [one.rule for one in known.findings if one.severity != "note"] == ["links"]
    repository, caches = reviews_app.knowledge.repository, reviews_app.settings.caches
    parsed: list[str] = []

    def read(document: Document) -> Reading:
        parsed.append(document.path)
        return check_rules.read(document)

    def found() -> tuple[Finding, ...]:
        started = ChangeChecks(repository, read, caches)
        return started.findings(known.head, repository.head(), known.documents)

    assert (found(), parsed) == (known.findings, [])
    monkeypatch.setattr(readings, "rules_digest", lambda rules: "other")
    assert (found(), sorted(parsed)) == (known.findings, ["hr/leave.md", "it/vpn.md", "it/vpn.md"])
    assert {path.suffix: path.stem for path in caches.glob("readings-*.db")} == {".db": "readings-other"}
    (caches / "readings-other.db").write_bytes(b"no database")
    assert found() == known.findings
