"""Reviewed synonyms and pinned answers, in search, in changes and in what a change is measured by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from core.bootstrap import App
from core.curation.words import pins, synonyms
from core.curation.words.pins import Pin
from core.curation.words.synonyms import Synonym
from core.errors import BadInput, NotFound, Refused
from core.retrieval import config as configs
from core.retrieval.query_rules import SHARE, SynonymLeg, Wording, compile_rules, question_key
from core.services.reviews.authoring import Target
from core.services.search.spelling import nearest
from core.types import LexicalOptions, SearchConfig
from tests.conftest import demo, indexed, put

AUTHOR, READER = demo("author"), demo("reader")
BM25 = configs.parse("bm25")
LONG = "Nothing of that kind is said here, nor will it be. " * 40  # so that every section is a passage
FILES = {
    "hr/leave.md": "---\nid: HR-1\ntitle: Annual leave\n---\n# Annual leave\n\nAnnual leave is asked for in the "
    "portal, five days before. " + LONG + "\n\n## Carrying over\n\nDays that are left over go into the next year.\n",
    "hr/pto.md": "---\nid: HR-2\ntitle: Contractors\n---\n# Contractors\n\nContractors have no PTO in the portal.\n",
    "hr/report.md": "---\nid: HR-3\ntitle: Annual report\n---\n# Annual report\n\nThe annual report of the portal "
    "comes in May.\n",
    "fin/sar.md": "---\nid: FIN-1\ntitle: Suspicious activity\n---\n# Suspicious activity\n\nFile a Suspicious "
    "Activity Report (SAR) within 30 days. A CTR (currency transaction report) is another form.\n",
    "it/old.md": "---\nid: IT-9\ntitle: Old fobs\nstatus: retired\n---\n# Old fobs\n\nAsk the desk for a fob.\n",
}
SYNONYMS = "synonyms:\n  - PTO = vacation = annual leave\n  - holiday -> annual leave\n"
PINS = (
    "pins:\n  - question: How do I take days off?\n    also: [days off]\n    document: hr/leave.md\n    section: "
    "Carrying over\n"
)
phrase = st.text("abcdefghABCDEFGH0123456789", min_size=2, max_size=8).map(lambda text: f"x{text}")
several = st.lists(phrase, min_size=2, max_size=4, unique_by=lambda text: question_key(text, LexicalOptions()))


@pytest.fixture
def words_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", {**FILES, "synonyms.yaml": SYNONYMS, "pins.yaml": PINS})


def found(app: App, query: str, config: SearchConfig = BM25) -> list[str]:
    return [hit.path for hit in app.search.searcher.search(query, config=config).hits]


# ---------------------------------------------------------------- the files


@given(st.lists(several, max_size=5), st.booleans())
def test_synonyms_are_read_as_they_were_written(groups: list[list[str]], one_way: bool) -> None:
    made = {Synonym((group[0],), tuple(group[1:])) if one_way else Synonym(tuple(group)) for group in groups}
    assert set(synonyms.read(synonyms.write(made))) == made
    assert synonyms.write(synonyms.read(synonyms.write(made))) == synonyms.write(made)


@given(st.lists(st.text(min_size=1, max_size=30), max_size=3, unique_by=str.casefold), st.text(max_size=20))
def test_pins_are_read_as_they_were_written(also: list[str], section: str) -> None:
    try:
        pin = pins.check(Pin("Why?", "a/b.md", " ".join(section.split()), tuple(" ".join(t.split()) for t in also)))
    except BadInput:
        return
    try:
        assert pins.read(pins.write([pin])) == (pin,)
    except BadInput as error:
        assert "already" in str(error)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused_in_a_sentence(raw: bytes) -> None:
    for read in (synonyms.read, pins.read):
        try:
            read(raw)
        except BadInput as error:
            assert str(error).endswith(".")


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("synonyms:\n  - x1 = x2\n  - PTO\n", "synonyms.yaml, line 3: 'PTO' needs words on both sides"),
        ("synonyms:\n  - x1 = x2\n  - x1 = x2\n", "line 3: 'x1 = x2' stands in line 2 already"),
        ("synonyms:\n  - bank = ...\n", "line 2: '...' has no word"),
        ("synonyms:\n  - bank -> money -> gold\n", "line 2: 'bank -> money -> gold' has more than one arrow"),
        ("synonyms:\n  - [bank, money]\n", "line 2: an entry is one text"),
        ("synonyms:\n  - bank = Bank\n", "line 2: 'Bank' appears twice"),
        ("words:\n  - bank = money\n", "must hold one key, `synonyms`"),
        ("synonyms: &a\n  - bank = money\n", "line 1: anchors and aliases"),
        ("synonyms:\n - 'bank\n", "line 3: this is not well-formed YAML"),
        ("synonyms: [[[[[bank]]]]]\n", "nested too deep"),
    ],
)
def test_what_is_wrong_with_synonyms_is_said_with_its_line(raw: str, sentence: str) -> None:
    with pytest.raises(BadInput, match="synonyms.yaml") as error:
        synonyms.read(raw.encode())
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("pins:\n  - question: Why?\n", "line 2: name both a question and the document"),
        ("pins:\n  - question: Why?\n    document: ../x.md\n", "line 2: The path '../x.md'"),
        ("pins:\n  - question: Why?\n    document: a.md\n    file: b\n", "line 2: the key 'file' is unknown"),
        ("pins:\n  - Why?\n", "line 2: a pin has a question and a document"),
        (
            "pins:\n  - question: Why?\n    document: a.md\n  - question: why?\n    document: b.md\n",
            "line 4: 'why?' is pinned in line 2 already",
        ),
    ],
)
def test_what_is_wrong_with_pins_is_said_with_its_line(raw: str, sentence: str) -> None:
    with pytest.raises(BadInput, match="pins.yaml") as error:
        pins.read(raw.encode())
    assert sentence in str(error.value)


def test_remarks_above_the_list_stay() -> None:
    raw = b"# Ask Mei before you add any.\nsynonyms:\n  - bank = house\n"
    assert synonyms.write([Synonym(("bank", "house"))], raw) == raw


# ---------------------------------------------------------------- the leg


class ScoredLeg:
    """A leg with the scores that a test gives it."""

    floor = 0.0

    def __init__(self, scores: Mapping[int, float]) -> None:
        self.scores = scores

    def search(self, depth: int, allowed: object) -> dict[int, float]:
        ordered = sorted(((n, s) for n, s in self.scores.items() if s > 0), key=lambda pair: (-pair[1], pair[0]))
        return dict(ordered[:depth])

    def score(self, chunks: list[int]) -> list[float]:
        return [self.scores.get(chunk, 0.0) for chunk in chunks]


scores = st.dictionaries(st.integers(0, 12), st.floats(0, 9), max_size=12)


@given(scores, st.lists(st.tuples(scores, st.floats(0.1, 1.0)), max_size=3), st.integers(1, 8))
def test_the_best_of_all_wordings_is_ranked_exactly_and_none_loses(
    typed: dict[int, float], others: list[tuple[dict[int, float], float]], depth: int
) -> None:
    leg = SynonymLeg(ScoredLeg(typed), [(Wording("other", share), ScoredLeg(one)) for one, share in others])
    best = {n: max(typed.get(n, 0.0), *(s * one.get(n, 0.0) for one, s in others), 0.0) for n in range(13)}
    expected = sorted(((n, s) for n, s in best.items() if s > 0), key=lambda pair: (-pair[1], pair[0]))[:depth]
    assert list(leg.search(depth, None).items()) == expected
    assert all(score >= typed.get(n, 0.0) for n, score in zip(range(13), leg.score(list(range(13))), strict=True))


def test_a_passage_with_other_words_is_found_and_typed_words_win(words_app: App) -> None:
    result = words_app.search.searcher.search("PTO", config=BM25)
    assert [hit.path for hit in result.hits][:2] == ["hr/pto.md", "hr/leave.md"]
    assert set(result.also) == {"vacation", "annual leave"}
    assert "Also searched: “vacation”, “annual leave”." in result.stages[0].note
    assert result.hits[1].legs["bm25"].note == "found as “annual leave”"
    assert not result.hits[0].legs["bm25"].note


def test_phrases_are_replaced_as_a_whole_in_both_directions(words_app: App) -> None:
    search = words_app.search.searcher.search
    assert "hr/pto.md" in found(words_app, "asking for annual leave")
    assert "asking for PTO" in search("asking for annual leave", config=BM25).also
    assert search("annual report", config=BM25).also == ()


def test_one_way_leads_one_way(words_app: App) -> None:
    search = words_app.search.searcher.search
    assert "annual leave" in search("holiday", config=BM25).also
    assert "holiday" not in search("annual leave", config=BM25).also


def test_without_synonyms_and_for_other_queries_nothing_changes(words_app: App) -> None:
    search, off = words_app.search.searcher.search, replace(BM25, synonyms=False)
    assert search("PTO", config=off).also == ()
    assert [hit.path for hit in search("PTO", config=off).hits] == ["hr/pto.md"]
    for query in ("portal", "suspicious activity", "report of May"):
        ours, plain = (search(query, config=config).hits for config in (BM25, off))
        assert [(hit.chunk, hit.score) for hit in ours] == [(hit.chunk, hit.score) for hit in plain]


@pytest.mark.parametrize("name", ["bm25@duckdb", "sparse", "tfidf", "convex-0.5"])
def test_every_leg_for_words_finds_other_words(words_app: App, name: str) -> None:
    assert "hr/leave.md" in found(words_app, "vacation", configs.parse(name))[:2]


def test_fields_count_in_the_words_that_were_found(words_app: App) -> None:
    config = configs.from_mapping({"base": "bm25", "fields": {"title": 1}})
    hit = next(h for h in words_app.search.searcher.search("vacation", config=config).hits if h.path == "hr/leave.md")
    assert hit.legs["bm25"].fields["title"] == pytest.approx(10 * SHARE, rel=0.5)


@given(several, st.sampled_from(["", "the ", "my "]))
def test_a_synonym_leads_from_every_word_to_the_others(group: list[str], before: str) -> None:
    made = compile_rules([Synonym(tuple(group))], (), LexicalOptions())
    for word in group:
        leads = made.leads[question_key(before + word, LexicalOptions())]
        assert set(leads) == set(group) - {word}


# ---------------------------------------------------------------- pins


def test_a_pinned_document_stands_first_and_says_so(words_app: App) -> None:
    for config in (BM25, configs.parse("convex-0.5"), configs.from_mapping({"base": "rrf-60", "documents": True})):
        hits = words_app.search.searcher.search("A day off", config=config).hits
        assert (hits[0].path, "left over go" in hits[0].text) == ("hr/leave.md", True)
        assert hits[0].pinned == "How do I take days off?"
        assert not any(hit.pinned for hit in hits[1:])
        assert len({hit.chunk for hit in hits}) == len(hits)


def test_pins_can_be_switched_off_and_leave_other_questions_alone(words_app: App) -> None:
    search = words_app.search.searcher.search
    assert not any(hit.pinned for hit in search("days off", config=replace(BM25, pins=False)).hits)
    assert not any(hit.pinned for hit in search("days off in May", config=BM25).hits)


def test_a_pin_respects_filters(words_app: App) -> None:
    from core.types import Filters

    hits = words_app.search.searcher.search("days off", config=BM25, filters=Filters(folders=("fin",))).hits
    assert not any(hit.pinned for hit in hits)


# ---------------------------------------------------------------- changes


def test_synonyms_are_proposed_reviewed_and_in_effect_with_the_index(words_app: App) -> None:
    lists = words_app.words.rules
    assert found(words_app, "notebook") == []
    change = lists.add(AUTHOR, ["notebook -> portal"])
    assert (change.title, [edit.path for edit in change.documents]) == ("Words: notebook -> portal", ["synonyms.yaml"])
    assert found(words_app, "notebook") == []
    change = lists.add(AUTHOR, ["laptop = portal"], Target(change.id))
    assert {synonym.text for synonym in lists.synonyms(AUTHOR, change.id)} >= {"laptop = portal", "notebook -> portal"}
    words_app.reviews.changes.submit(AUTHOR, change.id)
    words_app.reviews.discussion.approve(demo("reviewer"), change.id, "Good.")
    words_app.reviews.merger.merge(demo("reviewer"), change.id)
    words_app.index.builder.build(words_app.platform.settings.profile())
    assert found(words_app, "notebook") != []
    assert "PTO = vacation = annual leave" in {synonym.text for synonym in lists.synonyms(AUTHOR)}


def test_a_file_that_cannot_be_read_cannot_be_submitted(words_app: App) -> None:
    change = words_app.reviews.changes.propose(AUTHOR, "Words", {"synonyms.yaml": b"synonyms:\n  - PTO\n"})
    with pytest.raises(Refused, match="synonyms.yaml, line 2: 'PTO' needs words on both sides"):
        words_app.reviews.changes.submit(AUTHOR, change.id)


def test_a_synonym_of_stop_words_cannot_be_submitted(words_app: App) -> None:
    change = words_app.reviews.changes.propose(AUTHOR, "Words", {"synonyms.yaml": b"synonyms:\n  - bank = the\n"})
    with pytest.raises(Refused, match="synonyms.yaml, line 2: 'the' has no word that is searched for"):
        words_app.reviews.changes.submit(AUTHOR, change.id)
    with pytest.raises(BadInput, match="has no word that is searched for"):
        words_app.words.rules.add(AUTHOR, ["bank = the"])


def test_a_pin_to_what_is_gone_or_retired_cannot_be_submitted(words_app: App) -> None:
    raw = (
        b"pins:\n  - question: Where are fobs?\n    document: it/old.md\n  - question: Which form?\n    document: "
        b"it/gone.md\n"
    )
    change = words_app.reviews.changes.propose(AUTHOR, "Pins", {"pins.yaml": raw})
    assert [(finding.line, finding.severity) for finding in change.findings] == [(2, "error"), (4, "error")]
    with pytest.raises(Refused, match="pins.yaml, line 2: it/old.md, pinned to “Where are fobs\\?”, is retired"):
        words_app.reviews.changes.submit(AUTHOR, change.id)
    with pytest.raises(BadInput, match="is retired"):
        words_app.words.rules.pin(AUTHOR, Pin("Where are fobs?", "it/old.md"))


def test_a_change_that_takes_a_pinned_document_away_is_warned(words_app: App) -> None:
    change = words_app.reviews.changes.propose(AUTHOR, "Leave", {"hr/leave.md": None})
    assert [(f.path, f.line, f.severity) for f in change.findings] == [("pins.yaml", 2, "warning")]
    assert "is not there" in change.findings[0].message
    other = words_app.reviews.changes.propose(AUTHOR, "Report", {"hr/report.md": None})
    assert not other.findings


def test_pins_are_proposed_replaced_and_taken_out(words_app: App) -> None:
    lists = words_app.words.rules
    change = lists.pin(AUTHOR, Pin("Which form is a SAR?", "FIN-1"))
    assert lists.pins(AUTHOR, change.id)[-1].pin.document == "fin/sar.md"
    change = lists.pin(AUTHOR, Pin("which form is a sar?", "hr/leave.md"), Target(change.id))
    assert [state.pin.document for state in lists.pins(AUTHOR, change.id)] == ["hr/leave.md", "hr/leave.md"]
    change = lists.unpin(AUTHOR, "Days off", Target(change.id))
    assert [state.pin.question for state in lists.pins(AUTHOR, change.id)] == ["which form is a sar?"]
    with pytest.raises(NotFound, match="Nothing is pinned"):
        lists.unpin(AUTHOR, "nothing")
    with pytest.raises(NotFound, match="There is no synonym"):
        lists.remove(AUTHOR, "bank = house")
    assert lists.remove(AUTHOR, "holiday -> annual leave").title == "Words without: holiday -> annual leave"


def test_acronyms_are_found_where_documents_explain_them(words_app: App) -> None:
    [first, second] = words_app.words.rules.acronyms(AUTHOR)
    assert (first.short, first.long, first.path) == ("CTR", "currency transaction report", "fin/sar.md")
    assert (second.synonym.text, second.documents) == ("SAR = Suspicious Activity Report", 1)
    put(words_app, {"synonyms.yaml": SYNONYMS + "  - SAR = suspicious activity report\n"})
    assert [found.short for found in words_app.words.rules.acronyms(AUTHOR)] == ["CTR"]


def test_a_file_written_past_the_review_counts_for_nothing_and_is_named(words_app: App) -> None:
    put(words_app, {"synonyms.yaml": "synonyms:\n  - PTO\n"})
    words_app.index.builder.build(words_app.platform.settings.profile())
    assert found(words_app, "PTO") == ["hr/pto.md"]
    assert "line 2: 'PTO' needs words" in words_app.words.rules.problems(AUTHOR)[0]


def test_readers_do_not_see_the_lists(words_app: App) -> None:
    with pytest.raises(Refused, match="Only authors and above"):
        words_app.words.rules.synonyms(READER)


# ---------------------------------------------------------------- what a change is measured by


def test_the_impact_of_words_is_what_search_says_after_the_merge(words_app: App) -> None:
    production = words_app.platform.settings.production().config
    lists = words_app.words.rules
    change = lists.add(AUTHOR, ["notebook -> annual report"])
    change = lists.pin(AUTHOR, Pin("Which form?", "hr/report.md"), Target(change.id))
    words_app.reviews.changes.submit(AUTHOR, change.id)
    impact = words_app.reviews.impacts.measure(AUTHOR, change.id)
    moved = {shift.text: shift for shift in impact.shifts}
    assert (moved["Which form?"].kind, moved["Which form?"].after) == ("own", 1)
    words_app.reviews.discussion.approve(demo("reviewer"), change.id, "Good.")
    words_app.reviews.merger.merge(demo("reviewer"), change.id)
    words_app.index.builder.build(words_app.platform.settings.profile())
    for text in ("Which form?", "notebook"):
        after = list(dict.fromkeys(found(words_app, text, replace(production, k=production.depth))))[:3]
        assert (
            [document.path for document in moved[text].top_after]
            == after
            != [document.path for document in moved[text].top_before]
        )


# ---------------------------------------------------------------- spelling


def test_a_word_that_no_document_uses_is_spelt_as_documents_do(words_app: App) -> None:
    find = words_app.search.page.find
    assert find("suspicous activty").nearest[0] == "suspicious activity"
    assert find("protal").nearest == ("portal",)
    assert find("portal").nearest == ()
    assert find("xylophone zebra").nearest == ()
    assert find("suspicous activty").result.query == "suspicous activty"


def test_no_suggestion_tells_what_a_hidden_document_says(words_app: App) -> None:
    put(words_app, {"hr/secret.md": "---\ntitle: Secret\nstatus: draft\n---\n# Secret\n\nThe zeppelin project.\n"})
    words_app.index.builder.build(words_app.platform.settings.profile())
    assert words_app.search.page.find("zepelin").nearest == ()


known = st.dictionaries(st.text("abcd", min_size=4, max_size=10), st.integers(1, 9), max_size=8)


@given(st.text("abcd", min_size=4, max_size=10), known)
def test_near_words_are_known_near_and_ordered(typed: str, words: dict[str, int]) -> None:
    found = nearest(typed, words)
    edits = [OSA.distance(typed, word) for word in found]
    assert edits == sorted(edits)
    assert all(word in words and distance <= 2 for word, distance in zip(found, edits, strict=True))
    assert (typed in words) <= (found[:1] == [typed])


def test_only_the_words_that_no_document_uses_are_replaced(words_app: App) -> None:
    find = words_app.search.page.find
    assert find("Annual protal").nearest[0] == "Annual portal"
    assert all(text.startswith("30 days, ") for text in find("30 days, anual").nearest)
