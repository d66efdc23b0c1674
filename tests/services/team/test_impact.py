"""What a change does to search: measured before the merge, shown to reviewers, and held against the review rules."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.bootstrap import App
from core.curation.review import policy
from core.errors import BadInput, Busy, NotFound, Refused, StorageFailed
from core.evaluation import impact as impacts
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.retrieval import config as configs
from core.services.impact.impacts import documents as measured_documents
from core.services.people.accounts import COMMAND_LINE, DEMO
from tests.conftest import examples, indexed, put

READER, AUTHOR, _, REVIEWER, _, ADMIN = DEMO


def text(title: str, body: str, *answers: str) -> str:
    listed = "".join(f"  - {answer}\n" for answer in answers)
    return f"---\ntitle: {title}\nowner: Mei\nanswers:\n{listed or '  []' + chr(10)}---\n# {title}\n\n{body}\n"


FILES = {
    "fin/records.md": text("Record retention", "We keep every invoice for 5 years.", "How long do we keep an invoice?"),
    "fin/travel.md": text("Travel", "A hotel night costs at most 180 euros.", "What may a hotel night cost?"),
    "it/vpn.md": text("VPN", "Error 809 means that the port is closed.", "What does error 809 mean?"),
    "it/laptops.md": text("Laptops", "A broken laptop goes back to the help desk.", "Where does a broken laptop go?"),
}
STEALS = "How long do we keep an invoice? We keep an invoice. Keep an invoice for long. " * 3
RULES = "rules:\n  - match: fin/\n    found: block\n    first: 1\n"


@pytest.fixture
def impact_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


def submitted(app: App, files: dict[str, bytes | None], title: str = "Edit") -> int:
    number = app.reviews.changes.propose(AUTHOR, title, files).id
    app.reviews.changes.submit(AUTHOR, number)
    return number


def edit(path: str, body: str, *answers: str) -> dict[str, bytes | None]:
    return {path: text(path.rsplit("/")[-1][:-3].title(), body, *answers).encode()}


def test_a_submitted_change_waits_to_be_measured_and_an_edit_makes_it_wait_again(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/vpn.md", "Error 809: open the port."))
    assert [job.kind for job in impact_app.platform.jobs.recent()] == ["impact"]
    assert impact_app.reviews.impacts.work({}, lambda *_: None) == {"measured": [number], "failed": {}}
    assert impact_app.reviews.impacts.work({}, lambda *_: None) == {"measured": [], "failed": {}}
    impact_app.reviews.changes.edit(AUTHOR, number, edit("it/vpn.md", "Error 809: open port 443."))
    change, known = impact_app.reviews.changes.get(number), impact_app.reviews.impacts.show(AUTHOR, number)
    assert known is not None
    assert not impact_app.reviews.impacts.fresh(change, known)
    assert impact_app.reviews.impacts.work({}, lambda *_: None)["measured"] == [number]


def test_a_question_that_another_document_takes_is_named_with_both_states(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/laptops.md", STEALS, "Where does a broken laptop go?"))
    impact = impact_app.reviews.impacts.measure(AUTHOR, number)
    (taken,) = [
        each
        for each in impact.shifts
        if each.kind == impacts.ANSWERS and each.moved and each.before == 1 and each.after != 1
    ]
    assert (taken.text, taken.source) == ("How long do we keep an invoice?", "fin/records.md")
    assert (taken.top_before[0].path, taken.top_after[0].path) == ("fin/records.md", "it/laptops.md")
    assert "We keep every invoice for 5 years." in taken.top_before[0].text
    assert impact.questions == {"own": 1, "answers": 3}
    assert (taken.outcome, impact.outcome) == ("loss", "loss"), "green is for changes that take nothing from anybody"
    assert impact.sentence.startswith("“How long do we keep an invoice?” loses its first place to Laptops.")


def test_its_own_questions_are_shown_even_when_nothing_moves(impact_app: App) -> None:
    number = submitted(
        impact_app, edit("it/vpn.md", "Error 809 means the port is closed.", "What does error 809 mean?")
    )
    impact = impact_app.reviews.impacts.measure(AUTHOR, number)
    assert [(each.kind, each.before, each.after) for each in impact.shifts] == [("own", 1, 1)]
    assert impact.sentence == "Its own question is found. No result changes, for 4 questions."


def test_a_question_of_its_own_that_is_not_found_is_said_first() -> None:
    missed = impacts.Shift("Who waters the plants?", "own", "it/new.md", 0, 0, 0.0, 0.0, new=True)
    won = impacts.Shift("What is error 809?", "answers", "it/vpn.md", 0, 1, 0.0, 1.0)
    impact = impacts.Impact(1, "h", "m", "local", "c", {"own": 1, "answers": 9}, (missed, won), {}, {})
    assert impact.sentence == (
        "1 of its own questions is not found among the first 3: “Who waters the plants?”. "
        "1 question is now found among the first 3. Results change for 1 of 10 questions."
    )


SHIFTS = st.lists(
    st.builds(
        impacts.Shift,
        st.just("Who?"),
        st.sampled_from(("own", "answers", "guard")),
        st.just("a.md"),
        st.integers(0, 6),
        st.integers(0, 6),
        st.just(0.5),
        st.just(0.5),
        judged=st.booleans(),
        gone=st.booleans(),
    ),
    max_size=5,
)


@given(SHIFTS)
def test_green_is_only_where_nobody_loses_and_a_loss_is_said_first(shifts: list[impacts.Shift]) -> None:
    impact = impacts.Impact(1, "h", "m", "local", "c", {"answers": 9}, tuple(shifts), {}, {})
    outcomes = {each.outcome for each in shifts}
    assert impact.outcome == next((word for word in ("loss", "gain") if word in outcomes), "tie")
    assert [row[-1] == "loss" for row in impact.rows[:1]] == [impact.outcome == "loss"][: len(shifts)]
    if impact.outcome == "loss":
        assert not re.match(r"\d+ questions? (?:is|are) now found|No result|Results change|Its own", impact.sentence)


def test_a_removed_document_leaves_its_questions_without_an_answer(impact_app: App) -> None:
    number = submitted(impact_app, {"fin/travel.md": None})
    impact = impact_app.reviews.impacts.measure(AUTHOR, number)
    assert [each.text for each in impact.shifts if each.gone] == ["What may a hotel night cost?"]
    assert "1 question has no document any more: “What may a hotel night cost?”." in impact.sentence


def test_a_moved_document_still_answers_its_questions(impact_app: App) -> None:
    number = submitted(impact_app, {"fin/travel.md": None, "fin/trips.md": FILES["fin/travel.md"].encode()})
    impact = impact_app.reviews.impacts.measure(AUTHOR, number)
    (own,) = impact.of(impacts.OWN)
    assert (own.source, own.before, own.after, own.gone, own.new) == ("fin/trips.md", 1, 1, False, False)


def test_guards_and_what_people_asked_most_are_asked_too(impact_app: App) -> None:
    app = impact_app
    judged = QuerySet("watch", (Question("1", "hotel price"),), (Judgment("1", "fin/travel.md"),))
    app.evaluation.querysets.keep(ADMIN, judged)
    app.evaluation.querysets.guard(ADMIN, "watch")
    app.reviews.impacts.popular = lambda limit: [("invoice", 7), ("How long do we keep an invoice?", 9)]
    number = submitted(app, edit("it/laptops.md", STEALS))
    impact = app.reviews.impacts.measure(AUTHOR, number)
    assert impact.questions == {"answers": 3, "guard": 1, "asked": 1}
    asked = [each for each in impact.shifts if each.kind == "asked"]
    assert [(each.text, each.times, each.judged) for each in asked] == [("invoice", 7, False)]
    (row,) = [row for row in impact.rows if row[0] == "invoice"]
    assert row[1:] == ("asked", "first: Record retention", "first: Laptops", "tie"), "found, though nobody judged it"
    app.evaluation.querysets.guard(ADMIN, "watch", on=False)
    assert not app.evaluation.querysets.guards()


def test_what_is_kept_says_the_same_as_what_was_measured(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/laptops.md", STEALS, "Where does a broken laptop go?"))
    impact = impact_app.reviews.impacts.measure(AUTHOR, number)
    assert impact_app.reviews.impacts.show(AUTHOR, number) == impact
    assert impact_app.reviews.impacts.measure(AUTHOR, number) is not impact  # read, not measured again
    assert impact_app.reviews.impacts.measure(AUTHOR, number) == impact


def test_the_state_of_a_change_that_another_machine_measured_is_built_here(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/vpn.md", "Error 809: open the port."))
    measure, profile = impact_app.reviews.impacts.measure, impact_app.platform.settings.profile()
    measure(AUTHOR, number)
    kept = impact_app.settings.home / "impact" / str(number)
    shutil.rmtree(kept)

    def texts() -> str:
        index = impact_app.reviews.impacts.open(AUTHOR, number, profile)
        return "".join(index.excerpt(n) for n in range(index.size))

    assert "Error 809: open the port." in texts()
    before = (kept / "MEASURED").read_text(encoding="utf-8")
    impact_app.reviews.changes.edit(AUTHOR, number, edit("it/vpn.md", "Error 809: open port 443."))
    measure(AUTHOR, number)
    (kept / "MEASURED").write_text(before, encoding="utf-8")  # as if this machine had seen the first text only
    assert "open port 443" in texts()
    assert (kept / "MEASURED").read_text(encoding="utf-8") != before


def test_the_state_of_a_change_can_be_searched_until_it_ends_and_then_its_disk_is_free(impact_app: App) -> None:
    app, profile = impact_app, impact_app.platform.settings.production().profile
    number = submitted(app, edit("it/vpn.md", "Error 810 is a new one."))
    app.reviews.impacts.measure(AUTHOR, number)
    index = app.reviews.impacts.open(AUTHOR, number, profile)
    assert "Error 810 is a new one." in {index.excerpt(n).splitlines()[-1] for n in range(index.size)}
    assert app.index.generations.open(profile).generation.commit == app.knowledge.repository.head()
    app.reviews.changes.close(AUTHOR, number)
    assert not (app.settings.home / "impact" / str(number)).exists()
    with pytest.raises(NotFound, match="is not kept"):
        app.reviews.impacts.open(AUTHOR, number, profile)
    assert app.reviews.impacts.show(AUTHOR, number) is not None


def test_what_a_kill_left_of_a_state_goes_at_the_next_start(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/vpn.md", "Error 810 is a new one."))
    impact_app.reviews.impacts.measure(AUTHOR, number)
    left = impact_app.settings.home / "impact" / "99"
    left.mkdir()
    impact_app.reviews.impacts.sweep()
    assert [path.name for path in left.parent.iterdir()] == [str(number)]


def test_a_full_disk_does_not_undo_a_submit(impact_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise StorageFailed("The disk is full.")

    monkeypatch.setattr(impact_app.platform.jobs, "start", full)
    number = submitted(impact_app, edit("it/vpn.md", "Error 811."))
    assert impact_app.reviews.changes.get(number).state == "in review"


def test_a_change_that_conflicts_is_not_measured_and_says_why(impact_app: App) -> None:
    app = impact_app
    number = submitted(app, edit("it/vpn.md", "Mine."))
    put(app, {"it/vpn.md": text("VPN", "Theirs.")})
    app.reviews.merger.repair()
    assert app.reviews.impacts.work({}, lambda *_: None) == {"measured": [], "failed": {}}
    with pytest.raises(Refused, match="Solve that first"):
        app.reviews.impacts.measure(AUTHOR, number)


def test_when_main_moves_a_change_is_measured_on_what_it_would_become(impact_app: App) -> None:
    app = impact_app
    number = submitted(app, edit("it/vpn.md", "Error 809: open the port.", "What does error 809 mean?"))
    app.reviews.impacts.measure(AUTHOR, number)
    put(app, {"fin/new.md": text("Cards", "A lost card is blocked at once.", "Who blocks a lost card?")})
    app.reviews.merger.repair()
    assert not app.reviews.impacts.fresh(app.reviews.changes.get(number), app.reviews.impacts.show(AUTHOR, number))
    impact = app.reviews.impacts.measure(AUTHOR, number)
    assert impact.main == app.knowledge.repository.head()
    assert impact.questions == {"own": 1, "answers": 4}


# ---------------------------------------------------------------- the law


NAMES = ("fin/records.md", "fin/travel.md", "it/vpn.md", "it/laptops.md", "hr/a.md", "hr/b.md")
WORDS = ("invoice", "hotel", "error 809", "laptop", "years", "port", "desk", "leave")


@st.composite
def edits(draw: st.DrawFn) -> dict[str, str | None]:
    files: dict[str, str | None] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)):
        body = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)))
        kind = draw(st.sampled_from(["write", "delete", "move"]))
        if kind == "write" or name not in FILES:
            files[name] = text(draw(st.sampled_from(WORDS)), body, f"What about {body[:20]}?")
        elif kind == "delete":
            files[name] = None
        else:
            files[name], files[f"moved/{name}"] = None, FILES[name]
    return files


@settings(examples(9), suppress_health_check=list(HealthCheck))
@given(files=edits())
def test_an_unpublished_generation_answers_exactly_as_a_full_build_would(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str | None]
) -> None:
    app = indexed(tmp_path_factory.mktemp("law") / "home", FILES)
    profile, config = app.platform.settings.production().profile, app.platform.settings.production().config
    number = submitted(app, {path: body.encode() if body else None for path, body in files.items()})
    app.reviews.impacts.measure(AUTHOR, number)
    aside = app.reviews.impacts.open(AUTHOR, number, profile)
    seen = {word: app.search.searcher.search_in(aside, word, config).hits for word in WORDS}
    app.reviews.discussion.approve(REVIEWER, number)
    app.reviews.merger.merge(AUTHOR, number)
    app.index.builder.build(profile, full=True)
    full = app.index.generations.open(profile)
    assert aside.documents == full.documents
    for word in WORDS:
        assert seen[word] == app.search.searcher.search_in(full, word, config).hits


@pytest.mark.parametrize("named", ["bm25", "rrf-60", "convex-0.3", "trimodal"])
def test_a_state_answers_with_the_documents_of_a_search(impact_app: App, named: str) -> None:
    searcher = impact_app.search.searcher
    index = impact_app.index.generations.open(impact_app.platform.settings.profile())
    others: list[dict[str, Any]] = [{}, {"parents": True}, {"documents": True}, {"k": 2}]
    for more in others:
        config = replace(configs.parse(named), collapse=False, **more)
        for query in ("invoice", "What does error 809 mean?", "nothing of the kind", STEALS):
            hits = searcher.search_in(index, query, config).hits
            first = {hit.path: hit for hit in reversed(hits)}
            found = measured_documents(query, config, index, searcher.ask(index, config))
            assert [each.path for each in found] == list(dict.fromkeys(hit.path for hit in hits)), (more, query)
            for each in found:
                hit = first[each.path]
                assert (each.title, each.heading, each.text) == (hit.title, hit.heading, hit.text), (more, query)


# ---------------------------------------------------------------- the gate


def with_rules(app: App, rules: str) -> None:
    put(app, {"review-rules.yaml": rules})
    app.reviews.merger.repair()


def test_a_rule_stops_a_change_that_pushes_another_documents_answer_away(impact_app: App) -> None:
    app = impact_app
    with_rules(app, RULES)
    number = submitted(app, edit("it/laptops.md", STEALS, "Where does a broken laptop go?"))
    app.reviews.discussion.approve(REVIEWER, number)
    assert app.reviews.changes.get(number).requirements == (
        "What it does to search is not known yet: it is being measured.",
    )
    with pytest.raises(Refused, match="is not known yet"):
        app.reviews.merger.merge(AUTHOR, number)
    app.reviews.impacts.measure(AUTHOR, number)
    with pytest.raises(
        Refused, match="fin/records.md: “How long do we keep an invoice\\?” must be found among the first 1"
    ):
        app.reviews.merger.merge(AUTHOR, number)
    app.reviews.changes.edit(
        AUTHOR, number, edit("it/laptops.md", "A broken laptop goes to the desk.", "Where does a broken laptop go?")
    )
    app.reviews.discussion.approve(REVIEWER, number)
    app.reviews.impacts.measure(AUTHOR, number)
    assert app.reviews.merger.merge(AUTHOR, number).state == "merged"


def test_an_admin_may_bypass_the_gate_with_a_reason_that_stays(impact_app: App) -> None:
    app = impact_app
    with_rules(app, RULES)
    number = submitted(app, edit("it/laptops.md", STEALS))
    app.reviews.discussion.approve(REVIEWER, number)
    app.reviews.impacts.measure(AUTHOR, number)
    merged = app.reviews.merger.merge(ADMIN, number, bypass="The old text goes next week.")
    assert (merged.state, merged.bypass) == ("merged", "The old text goes next week.")


def test_a_warning_is_shown_and_stops_nothing(impact_app: App) -> None:
    app = impact_app
    with_rules(app, RULES.replace("block", "warn"))
    number = submitted(app, edit("it/laptops.md", STEALS))
    app.reviews.discussion.approve(REVIEWER, number)
    app.reviews.impacts.measure(AUTHOR, number)
    change = app.reviews.changes.get(number)
    assert change.requirements == ()
    assert change.warnings == (
        "fin/records.md: “How long do we keep an invoice?” must be found among the first 1; with this change it "
        "falls from 1 to 2.",
    )
    assert app.reviews.merger.merge(AUTHOR, number).state == "merged"


def test_a_folder_can_ask_for_questions(impact_app: App) -> None:
    app = impact_app
    with_rules(app, "rules:\n  - match: it/\n    answers: 2\n")
    number = submitted(app, edit("it/vpn.md", "Error 809.", "What is error 809?"))
    app.reviews.discussion.approve(REVIEWER, number)
    with pytest.raises(Refused, match="it/vpn.md lists 1 of the 2 questions that its folder wants"):
        app.reviews.merger.merge(AUTHOR, number)


def test_a_disagreement_blocks_until_somebody_settles_it(impact_app: App) -> None:
    app = impact_app
    with_rules(app, "rules:\n  - match: it/\n    disagreement: block\n")
    number = submitted(
        app, edit("it/records.md", "We keep every invoice for 7 years.", "How long do we keep an invoice?")
    )
    app.reviews.discussion.approve(REVIEWER, number)
    impact = app.reviews.impacts.measure(AUTHOR, number)
    (found,) = impact.contradictions
    assert "Record retention says 5 years, this says 7 years." in found.sentence
    assert "Another document disagrees" in impact.sentence
    with pytest.raises(Refused, match="Record retention says 5 years, this says 7 years"):
        app.reviews.merger.merge(AUTHOR, number)
    app.knowledge.disagreements.settle(REVIEWER, found.key, "One is about paper, the other about copies.")
    assert app.reviews.merger.merge(AUTHOR, number).state == "merged"


def test_a_question_that_now_finds_two_documents_that_disagree_says_so(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/records.md", "We keep every invoice for 7 years."))
    impact = impact_app.reviews.impacts.measure(AUTHOR, number)
    (asked,) = [each for each in impact.shifts if each.text == "How long do we keep an invoice?"]
    assert "Record retention says 5 years, this says 7 years." in asked.disagreement


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("found: maybe", "found must be block, warn or off"),
        ("first: 0", "first must be between 1 and 20"),
        ("answers: -1", "answers must be between 0 and 50"),
    ],
)
def test_a_wrong_rule_is_refused_with_what_is_right(rule: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        policy.read(f"rules:\n  - match: it/\n    {rule}\n".encode())


# ---------------------------------------------------------------- what it costs the server


def test_a_long_change_is_measured_by_a_worker_and_not_for_whoever_waits(
    impact_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = submitted(impact_app, edit("it/long.md", "Error 809: open the port. " * 10))
    monkeypatch.setattr("core.services.impact.impacts.LONG", 100)
    for door in ("app", "api", "mcp"):
        with pytest.raises(Refused, match="A worker measures it when it is submitted for review."):
            impact_app.reviews.impacts.measure(replace(AUTHOR, door=door), number)
    assert impact_app.reviews.impacts.measure(replace(AUTHOR, door=COMMAND_LINE), number).change == number
    impact_app.reviews.changes.edit(AUTHOR, number, edit("it/long.md", "Error 810: open the port. " * 10))
    assert impact_app.reviews.impacts.work({}, lambda *_: None)["measured"] == [number]


def test_the_server_measures_one_change_of_a_person_and_two_of_all_at_a_time(impact_app: App) -> None:
    number = submitted(impact_app, edit("it/vpn.md", "Error 809: open the port."))
    measuring, change = impact_app.reviews.impacts, impact_app.reviews.changes.get(number)
    with measuring._turn(AUTHOR, change):
        with pytest.raises(Busy, match="Ask again when that is done"):
            measuring.measure(AUTHOR, number)
        with measuring._turn(REVIEWER, change), pytest.raises(Busy):
            measuring.measure(replace(AUTHOR, id="somebody"), number)
    assert measuring.measure(AUTHOR, number).change == number
