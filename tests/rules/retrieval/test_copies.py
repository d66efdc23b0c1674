"""Near-copies: listed once, named with the best of them, and never taken for a text that says something else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.entrypoints.cli import main
from core.evaluation.measures.by_name import Gold, named
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.retrieval import config as configs
from core.retrieval.near_copies import LOOK, compared, groups, possible, sketched
from core.services.evaluation.cached_candidates import CandidateCache
from core.services.evaluation.runs import RunPlan
from core.storage.index.arrays import compiled, kernels
from core.types import Filters, SearchConfig
from tests.conftest import demo, indexed, put
from tests.support.apptest import Open, drawn

RULE = (
    "Before you leave the yard, close the gate and tell the guard by phone on 4357. Payments over 500 dollars need a "
    "second signature from a supervisor in Lyon within 2 days, and goods that were opened are not taken back. Whoever "
    "finds a broken seal writes down where and when, keeps the parts in one bag and asks the desk for help."
)
SMALL_CHANGE = RULE.replace("for help", "for advice")
DIFFERENT = {
    "a phone number": RULE.replace("4357", "4358"),
    "a limit": RULE.replace("500", "5000"),
    "a unit": RULE.replace("2 days", "2 hours"),
    "a negation": RULE.replace("are not taken", "are always taken"),
    "a name": RULE.replace("Lyon", "Turin"),
    "a number in words": RULE.replace("in one bag", "in two bag"),
    "the order of numbers": RULE.replace("500", "x").replace("2 days", "500 days").replace("x", "2"),
}
words = st.sampled_from(
    [
        "gate",
        "yard",
        "guard",
        "seal",
        "bag",
        "desk",
        "12",
        "13",
        "Lyon",
        "not",
        "close",
        "tell",
        "open",
        "the",
        "a",
        "of",
    ]
)
texts = st.lists(words, min_size=0, max_size=30).map(" ".join)
several = st.lists(texts, max_size=8).flatmap(
    lambda pool: st.lists(st.sampled_from([*pool, RULE, SMALL_CHANGE]), max_size=40)
)


@given(several, st.integers(1, 8))
def test_every_candidate_stands_in_one_group_and_the_best_keep_their_order(pool: list[str], k: int) -> None:
    found = groups(range(len(pool)), pool.__getitem__, k)
    assert sorted(n for group in found for n in group) == list(range(len(pool)))
    assert all(group == sorted(group) for group in found)
    first = [group[0] for group in found]
    assert first == sorted(first)


@given(several, st.integers(1, 8))
def test_nothing_distinct_is_lost_and_k_are_listed_where_there_are_so_many(pool: list[str], k: int) -> None:
    found = groups(range(len(pool)), pool.__getitem__, k)
    for first, *others in found:
        assert all(compared(pool[other]).copies(compared(pool[first])) for other in others)
    distinct: list[int] = []
    for n, text in enumerate(pool):
        if not any(compared(text).copies(compared(pool[other])) for other in distinct):
            distinct.append(n)
    assert [group[0] for group in found[:k]] == distinct[:k]


@given(several, st.integers(1, 8))
def test_sketches_overlook_no_copy_and_change_no_list(pool: list[str], k: int) -> None:
    sketches = sketched(pool[: LOOK * k])
    maybe = kernels.earlier(sketches)
    assert groups(range(len(pool)), pool.__getitem__, k, None, maybe) == groups(range(len(pool)), pool.__getitem__, k)
    assert np.array_equal(compiled.possible(sketches), np.tril(possible(sketches), -1).nonzero())


@given(st.integers(1, 6), st.integers(0, 6))
def test_copies_of_one_text_never_fill_a_list(k: int, others: int) -> None:
    pool = [*[RULE] * (LOOK * k + 3), *(f"Something else: {n}" for n in range(others))]
    found = groups(range(len(pool)), pool.__getitem__, k)
    assert [len(group) for group in found[:k]] == [LOOK * k + 3 if k > 1 else LOOK, *[1] * min(k - 1, others)]


@pytest.mark.parametrize(
    "copy",
    [
        RULE,
        "  " + RULE.replace(" ", "\n   ") + "\n",
        f"# Another title 7\n\n> {RULE}",
        RULE.replace("gate", "**gate**").replace("the desk", "[the desk](../x/desk.md)").replace("guard", "`guard`"),
        SMALL_CHANGE,
        RULE[: RULE.index("Whoever")],
    ],
    ids=["exact", "white space", "title and quote", "markup", "a plain word", "a part"],
)
def test_a_copy_is_known_whatever_it_looks_like(copy: str) -> None:
    link = "[the desk](desk.md)"
    assert groups([0, 1], [RULE.replace("the desk", link) if link[:5] in copy else RULE, copy].__getitem__, 2) == [
        [0, 1]
    ]


@pytest.mark.parametrize("other", list(DIFFERENT.values()), ids=list(DIFFERENT))
def test_texts_that_differ_in_a_fact_are_both_listed(other: str) -> None:
    assert groups([0, 1], [RULE, other].__getitem__, 2) == [[0], [1]]


def test_one_number_tells_two_long_texts_apart() -> None:
    chapter = " ".join(f"{a}{b} is kept" for a in "abcdefghijk" for b in "lmnopqrst")
    long = f"{chapter} for 500 days {chapter}"
    assert groups([0, 1], [long, long.replace("kept for", "held for")].__getitem__, 2) == [[0, 1]]
    assert groups([0, 1], [long, long.replace("500", "600")].__getitem__, 2) == [[0], [1]]


def test_a_longer_text_is_never_hidden_behind_a_shorter_one() -> None:
    longer = RULE + " On Sundays the yard is closed, and nobody may enter it without a pass from the office in charge."
    assert groups([0, 1], [RULE, longer].__getitem__, 2) == [[0], [1]]
    assert groups([0, 1], [longer, RULE].__getitem__, 2) == [[0, 1]]


def test_short_answers_under_other_titles_are_not_the_same() -> None:
    asked = ["# May I park here?\n\nYes, ask the guard.", "# May I bring a dog?\n\nYes, ask the guard."]
    assert groups([0, 1], asked.__getitem__, 2) == [[0], [1]]


# ---------------------------------------------------------------- the one search

TOPICS = ["apples", "pears", "plums", "quinces", "cherries", "grapes"]
FILES = {
    **{
        f"yard/copy{n}.md": f"---\nid: C-{n}\ntitle: Copy {n}\ntags: [yard{n}]\n---\n# Copy {n}\n\n{RULE}\n"
        for n in range(8)
    },
    **{
        f"fruit/{topic}.md": f"---\nid: F-{topic}\ntitle: On {topic}\n---\n# On {topic}\n\nThe guard at the gate "
        f"sells {topic} "
        f"from the yard. Whoever likes {topic} comes early and brings a bag for all the {topic} that are left.\n"
        for topic in TOPICS
    },
    "yard/old.md": f"---\nid: C-OLD\ntitle: The old rule\nstatus: retired\n---\n# The old rule\n\n{RULE}\n",
    "yard/draft.md": f"---\nid: C-DRAFT\ntitle: A draft\nstatus: draft\n---\n# A draft\n\n{RULE}\n",
}
QUESTION = "close the gate and tell the guard in the yard"


def config(**changes: Any) -> SearchConfig:
    return configs.from_mapping({"base": "bm25", "collapse": True, "k": 5, "depth": 10, **changes})


@pytest.fixture
def yard(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


@pytest.mark.parametrize(
    "changes", [{}, {"documents": True}, {"base": "convex-0.5"}, {"rerank": "always"}, {"depth": 5}]
)
def test_copies_are_named_once_and_their_places_are_filled(yard: App, changes: dict[str, Any]) -> None:
    search = yard.search.searcher.search
    plain = search(QUESTION, config=config(**{**changes, "collapse": False}))
    assert sum(hit.doc.startswith("C-") for hit in plain.hits) == 5, "copies fill the list"
    assert all(not hit.also for hit in plain.hits)
    result = search(QUESTION, config=config(**changes))
    assert [hit.rank for hit in result.hits] == [1, 2, 3, 4, 5]
    assert [hit.doc[0] for hit in result.hits].count("C") == 1
    first = result.hits[0]
    assert (first.doc, first.chunk) == (plain.hits[0].doc, plain.hits[0].chunk)
    named_docs = [other.doc for other in first.also]
    assert first.doc not in named_docs
    assert len(named_docs) == len(set(named_docs)) >= 4
    assert not {"C-OLD", "C-DRAFT"} & set(named_docs)
    assert "named with the best" in next(stage.note for stage in result.stages if stage.name == "cut")


def test_nobody_reads_the_name_of_a_document_that_they_could_not_find(yard: App) -> None:
    search = yard.search.searcher.search
    only = search(QUESTION, config=config(), filters=Filters(tags=("yard1", "yard2"))).hits
    assert [(hit.doc[:2], len(hit.also)) for hit in only] == [("C-", 1)]
    named_docs = {
        other.doc for hit in search(QUESTION, config=config(), filters=Filters(history=True)).hits for other in hit.also
    }
    assert "C-DRAFT" not in named_docs


def test_a_page_that_says_more_elsewhere_hides_behind_no_other(yard: App) -> None:
    """Its best passage is a copy; as a document it is another one."""
    more = "\n\n".join(f"Key {n} opens door {n} of the shed, and its ring is painted in colour {n}." for n in range(60))
    put(yard, {"yard/more.md": f"---\nid: C-MORE\ntitle: Copy 9\n---\n# Copy 9\n\n{RULE}\n\n## Keys\n\n{more}\n"})
    yard.index.builder.build(yard.platform.settings.profile())
    found = {
        documents: yard.search.searcher.search(QUESTION, config=config(documents=documents)).hits
        for documents in (True, False)
    }
    listed = {documents: [hit.doc for hit in hits] for documents, hits in found.items()}
    assert "C-MORE" in listed[True]
    assert "C-MORE" not in {other.doc for hit in found[True] for other in hit.also}
    assert sum(doc.startswith("C-") for doc in listed[True]) == 2, "the copies themselves still stand together"
    assert sum(doc.startswith("C-") for doc in listed[False]) == 1, "its passage alone is a copy"


def test_an_approved_copy_stands_for_a_retired_one_that_ranks_a_little_better(yard: App) -> None:
    put(yard, {f"yard/copy{n}.md": None for n in range(8)})
    put(yard, {"yard/new.md": f"---\nid: C-NEW\ntitle: The new rule\n---\n# The new rule\n\n{RULE} Ask the office.\n"})
    yard.index.builder.build(yard.platform.settings.profile())
    filters, search = Filters(history=True), yard.search.searcher.search
    plain = [hit.doc for hit in search(QUESTION, config=config(collapse=False), filters=filters).hits]
    assert plain[:2] == ["C-OLD", "C-NEW"]
    assert [hit.doc for hit in search(QUESTION, config=config(), filters=filters).hits][:2] == ["C-OLD", "C-NEW"], (
        "it says more"
    )
    put(yard, {"yard/new.md": f"---\nid: C-NEW\ntitle: The new rule\n---\n# The new rule\n\n{SMALL_CHANGE}\n"})
    yard.index.builder.build(yard.platform.settings.profile())
    first = search(QUESTION, config=config(), filters=filters).hits[0]
    assert (first.doc, [other.doc for other in first.also]) == ("C-NEW", ["C-OLD"])


def test_parents_collapse_too(yard: App) -> None:
    from core.profiles import from_mapping

    sizes = {"parent": 300, "child": 30, "overlap": 5}
    family = yard.index.admin.add_profile(
        demo("admin"), from_mapping({"name": "families", "chunker": {"name": "hierarchical", "params": sizes}})
    )
    yard.index.builder.build(family)
    asked = config(parents=True, depth=4)
    result = yard.search.searcher.search(QUESTION, profile="families", config=asked)
    assert [hit.rank for hit in result.hits] == [1, 2, 3, 4, 5]
    assert [len(hit.also) for hit in result.hits if hit.doc.startswith("C-")] == [7]
    cache = CandidateCache(
        yard.search.searcher, yard.evaluation.runs.database, yard.search.searcher.index("families"), asked
    )
    assert [len(group) for group in cache.rank(QUESTION, asked).copies] == [8]


# ---------------------------------------------------------------- measuring


def test_a_copy_that_is_named_counts_at_the_place_where_it_is_named() -> None:
    gold = Gold({5: 1.0, 9: 1.0})
    assert named([7, 3, 9], [(7, 5)], gold) == ([5, 3, 9], gold)
    assert named([7, 3], [(7, 5, 9)], gold) == ([5, 3], Gold({5: 1.0})), "both are found at one place"
    assert named([5, 9], [(5, 9)], gold) == ([5, 9], gold), "it is listed by itself, too"
    assert named([7, 3], [(7, 4)], gold) == ([7, 3], gold)


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_a_run_counts_the_names_that_people_see(yard: App, unit: str) -> None:
    index = yard.search.searcher.index()
    hit = yard.search.searcher.search(QUESTION, config=config()).hits[0]
    other = hit.also[-1]
    quote = index.excerpt(index.number(other.chunk) or 0)
    judgment = Judgment("q1", other.path, other.heading, quote)
    yard.evaluation.querysets.keep(
        demo("admin"), QuerySet("yard", (Question("q1", QUESTION, "hand"),), (judgment,), "by hand")
    )
    plan = RunPlan(yard.platform.settings.profile(), config())
    plain = replace(plan, config=config(collapse=False))
    before, after = yard.evaluation.runs.evaluate("yard", [plain, plan], unit)
    assert before.results["q1"].values["MRR@10"] < 1.0
    assert after.results["q1"].values["MRR@10"] == 1.0
    assert after.results["q1"].values["Recall@5"] == 1.0


# ---------------------------------------------------------------- options and doors


def test_what_was_promoted_before_behaves_as_before() -> None:
    assert not configs.PRODUCTION.collapse
    assert "collapse" not in configs.shape(configs.PRODUCTION)
    assert configs.identity(configs.parse("convex-0.5")) == "80bf6228d486"


def test_the_command_line_names_the_others(yard: App, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "--home",
        str(yard.settings.home),
        "search",
        QUESTION,
        "--config",
        json.dumps({"base": "bm25", "collapse": True}),
    ]
    main([*asked, "--json", "--quiet"])
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert set(hits[0]["also"][0]) == {"doc", "path", "title", "heading", "chunk", "start", "end", "version"}
    main([*asked, "--quiet"])
    assert "same text in Copy" in capsys.readouterr().out


def test_the_card_names_three_documents_and_counts_the_rest(yard: App, visit: Open) -> None:
    settings = yard.platform.settings
    settings.promote("local", config(depth=30), {}, demo("admin").person, "Copies", settings.head())
    found = drawn(visit("search", home=yard.settings.home, q=QUESTION), "search")["found"]
    card = next(group for group in found["groups"] if group["doc"].startswith("C-"))
    also = card["passages"][0]["also"]
    assert [link["label"][:4] for link in also["links"]] == ["Copy"] * 3
    assert (also["more"], len(also["rest"].split(", "))) == (4, 4)
    assert set(also["links"][0]["place"]) == {"doc", "start", "end", "version"}
    assert "The same text in 7 other documents" in card["passages"][0]["why"]["sentence"]
    assert sum(group["doc"].startswith("C-") for group in found["groups"]) == 1


@pytest.mark.slow
def test_links_lead_to_the_copies(tmp_path: Path, yard: App) -> None:
    from tests.support.browser import chromium, screen, server

    settings = yard.platform.settings
    settings.promote("local", config(depth=30), {}, demo("admin").person, "Copies", settings.head())
    with server(yard.settings.home, tmp_path / "log") as base, chromium() as browser, screen(browser, base) as shown:
        shown.open(f"/search?q={QUESTION.replace(' ', '+')}")
        link = shown.page.locator(".also a").first
        name = link.inner_text()
        assert "and 4 more" in shown.page.locator(".also").first.inner_text()
        link.click()
        shown.page.get_by_role("heading", name=name, exact=True).first.wait_for()
