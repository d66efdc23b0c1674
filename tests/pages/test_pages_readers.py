"""Who reads a folder, chosen on the pages: its effect is told before, and it is true from the merge on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from core.bootstrap import App
from core.curation.review.policy import read_all, with_readers
from tests.conftest import demo, put
from tests.doors.test_readers import drawn

FOLDER, DOCUMENT, TITLE = "people/investigations", "HR-INV-001", "Interview notes"
FILES = {
    f"{FOLDER}/interview-notes.md": f"---\nid: {DOCUMENT}\ntitle: {TITLE}\ndoc_type: sop\nowner: People team\n---\n# "
    f"{TITLE}\n\n"
    "Notes of an interview in an investigation are sealed within two days and kept for seven years.\n",
    f"{FOLDER}/retaliation.md": "---\nid: HR-INV-002\ntitle: Retaliation watch\ndoc_type: policy\nowner: People "
    "team\n---\n# Retaliation watch\n\n"
    "For six months after an investigation its witnesses are asked every month.\n",
}
ASKED = "how long are notes of an interview kept"
TEXTS = (
    "",
    "# ours\nrules: []\n",
    "readers:\n",
    "readers: {}\nadmins_read: false\n",
    "readers: {people: [ann]}\nrules: []\n",
    "readers:\n  people/:   # folk\n    - ann\n    - group:hr\n    # ours\n\n  it/: [bob] # two\n# end\nrules: []\n",
    "readers:\n  it: everyone",
)
LISTS: tuple[list[str] | None, ...] = (
    ["group:people team", "mei@example.org", "role:reviewer", "yes"],
    [],
    ["everyone"],
    None,
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("names", LISTS, ids=str)
def test_another_list_for_a_folder_changes_nothing_else(text: str, names: list[str] | None) -> None:
    rules, before = read_all(text.encode())
    for folder in ("people", "new folder", "/"):
        for admins in (True, False):
            changed = with_readers(text, folder, names, admins)
            after = read_all(changed.encode())
            key = f"{folder.strip('/')}/"
            others = {name: own for name, own in before.folders.items() if name != key}
            assert dict(after[1].folders) == others | ({key: tuple(names)} if names is not None else {})
            assert (after[0], after[1].admins) == (rules, admins or not after[1].named)
            assert changed.count("# ours") == text.count("# ours")
            assert changed.count("# two") == text.count("# two")


@pytest.fixture(scope="module")
def closed(own_app: App) -> App:
    """An admin proposes that a folder is read by a group, another one approves it, and it is merged."""
    put(own_app, dict(FILES))
    own_app.index.builder.build(own_app.platform.settings.profile())
    changes, first, second = own_app.reviews.changes, demo("admin"), own_app.people.accounts
    second.set_role(first, "reviewer2", "admin")
    second.set_groups(first, "author2", ["people team"])
    text = with_readers(changes.rules_text(first), FOLDER, ["group:people team"], False)
    (effect,) = changes.readers_effect(first, text)
    number = changes.propose(first, f"Change who reads {FOLDER}", {"review-rules.yaml": text.encode()}).id
    changes.submit(first, number)
    assert changes.get(number).warnings == (effect,)
    assert effect == "2 documents will be hidden from 5 people."
    own_app.reviews.discussion.approve(second.actor("reviewer2"), number)
    own_app.reviews.merger.merge(first, number)
    return own_app


def test_a_colleague_finds_nothing_and_a_member_finds_it(closed: App, visit: Callable[..., Any]) -> None:
    """On Search, Documents and Home; the page of the document names who reads it."""
    home = closed.settings.home
    shown = {
        who: [
            drawn(visit(page, home, who, **query)._tree)
            for page, query in (
                ("search", {"q": ASKED}),
                ("documents", {}),
                ("home", {}),
                ("documents", {"doc": DOCUMENT}),
            )
        ]
        for who in ("author", "author2")
    }
    assert not any(word in page for word in (DOCUMENT, TITLE, FOLDER) for page in shown["author"][:3])
    assert all(DOCUMENT in page for page in shown["author2"][:2])
    assert "group people team" in shown["author2"][3]
    assert TITLE not in shown["author"][3]
    serials = {who: re.findall(r"serial\W+(\w+)", pages[0]) for who, pages in shown.items()}
    assert serials["author"] != serials["author2"], "a browser that shows one person's hits draws those of the next"


def test_an_admin_sees_that_the_folder_exists_and_who_reads_it_and_not_what_it_holds(
    closed: App, visit: Callable[..., Any]
) -> None:
    page = visit("reviews", closed.settings.home, "admin")
    table = next(one.value for one in page.dataframe if "Read by" in one.value)
    assert table.to_dict("records") == [
        {
            "Folder": f"{FOLDER}/",
            "Read by": "group people team",
            "These are": closed.people.accounts.get("author2").name,
        }
    ]
    assert any("Admins read a folder only where they are named" in caption.value for caption in page.caption)
    assert DOCUMENT not in drawn(visit("documents", closed.settings.home, "admin")._tree)
    assert not any("Read by" in one.value for one in visit("reviews", closed.settings.home, "author").dataframe)


def test_the_next_click_knows_that_the_group_has_changed(closed: App, visit: Callable[..., Any]) -> None:
    give, admin = closed.people.accounts.set_groups, demo("admin")
    give(admin, "author2", [])
    give(admin, "author", ["People Team"])
    seen = {
        who: DOCUMENT in drawn(visit("documents", closed.settings.home, who)._tree) for who in ("author2", "author")
    }
    give(admin, "author2", ["people team"])
    give(admin, "author", [])
    assert seen == {"author2": False, "author": True}
