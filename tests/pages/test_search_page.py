"""Search for people: what is remembered between searches is never older than what it was made from."""

from __future__ import annotations

import gc
import re
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis import analyser, options_for
from core.bootstrap import App
from core.curation.text.excerpts import HEADS, excerpt, excerpt_text
from core.retrieval import config as configs
from core.retrieval.confidence import lacking
from core.retrieval.snippets import RARE, RUNS, WIDTH, _sentences, snippet
from core.services.search.searcher import as_json
from core.types import Filters, LexicalOptions
from pages.ui import style
from pages.ui.components.search_view import view
from tests.conftest import FixedClock, indexed, put

WORDS = ["filing", "files", "CTR", "e-mail", "C++", "31", "the", "Then", "bank", "Banks"]
ENDS = [" ", " ", ", ", ". ", "\n", "? "]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), max_size=120).map(
    lambda pairs: "".join(word + end for word, end in pairs).strip()
)
QUERIES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
OPTIONS = st.sampled_from([LexicalOptions(), LexicalOptions(stemmer="none", stopwords="none")])


def rarity(term: str) -> float:
    return len(term) / 7


@given(TEXTS, QUERIES, OPTIONS)
def test_a_snippet_marks_exactly_the_words_of_the_query(text: str, query: str, options: LexicalOptions) -> None:
    made, options = snippet(text, query, options, rarity), options_for(query, options)
    shown, analyse = "".join(segment.text for segment in made.segments), analyser(options)
    wanted = set(analyse(query))
    parts = re.split(r" … |\n…\n", shown)
    assert all(part in text for part in parts)
    assert len(parts) <= RUNS
    assert made.cut_before or text.startswith(parts[0])
    assert made.cut_after or text.endswith(parts[-1])
    assert (len(shown) == len(text)) == (not made.cut_before and not made.cut_after and len(parts) == 1)
    marked = Counter(segment.text for segment in made.segments if segment.matched)
    assert marked == Counter(shown[a:b] for a, b, terms in analyse.words(shown) if wanted.intersection(terms))


@given(TEXTS, QUERIES, OPTIONS)
def test_the_best_sentence_holds_the_rarest_words_of_the_query(text: str, query: str, options: LexicalOptions) -> None:
    analyse = analyser(options_for(query, options))
    wanted = set(analyse(query))
    found = [text[a:b] for a, b in _sentences(text)]
    worth = [sum(rarity(term) ** RARE for term in sorted(wanted.intersection(analyse(it)))) for it in found]
    best = "".join(segment.text for segment in snippet(text, query, options, rarity).segments if segment.best)
    assert found[worth.index(max(worth))].startswith(best) if wanted.intersection(analyse(text)) else not best


def test_one_text_is_laid_out_once_for_each_way_of_analysing() -> None:
    def marks(options):
        return [part.text for part in snippet("Filing it.", "files", options, rarity).segments if part.matched]

    assert marks(LexicalOptions()) == ["Filing"]
    assert marks(LexicalOptions(stemmer="none")) == []


TABLE = "| Amount | Who signs |\n|---|---|\n" + "".join(
    f"| up to ${n},000 | Person {n} of a department with a rather long name |\n" for n in range(1, 40)
)


def shown_text(text: str, query: str) -> str:
    return "".join(segment.text for segment in snippet(text, query, LexicalOptions(), rarity).segments)


def test_a_row_that_answers_comes_with_the_head_of_its_table() -> None:
    shown = shown_text(excerpt_text(f"Signing limits.\n\n{TABLE}"), "person 31").split("\n")
    assert "Amount\tWho signs\t" in shown
    assert any(line.startswith("up to $31,000\tPerson 31") for line in shown)
    assert "|" not in "".join(shown)
    assert len("".join(shown)) < 2 * WIDTH


def test_steps_keep_their_numbers_and_lists_their_marks() -> None:
    steps = "7. Open the **gate**\n   - slowly\n   - with gloves\n\n8. Close the valve\n"
    assert excerpt_text(steps) == "7. Open the gate\n  • slowly\n  • with gloves\n8. Close the valve"


@given(
    st.lists(st.lists(st.sampled_from(["a", "b c", "", "`x`", "d"]), min_size=2, max_size=2), min_size=1, max_size=9)
)
def test_rows_without_their_head_are_still_rows(rows: list[list[str]]) -> None:
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    filled = ["\t".join(cell.strip("`") or "\u00a0" for cell in cells) for cells in rows if any(cells)]
    assert excerpt_text(lines).split("\n") == (filled or [""])
    assert excerpt_text(lines, "Place\n| Form | Days |\n|---|---|").split("\n") == ["Form\tDays\t", *filled]


FAQ = """# People FAQ

## Can I trade a shift?

Usually, with 48 hours to go.

## Can I work from home?

If the job allows it. Ask for form HR-18.

### On a customer's site

Only with *their* word.
"""


def test_each_sentence_of_a_passage_is_below_its_own_heading() -> None:
    shown = excerpt(FAQ)
    lines = shown.text.split("\n")
    assert [line for line in lines if line.endswith(HEADS)] == [
        f"{name}{HEADS}" for name in ("Can I trade a shift?", "Can I work from home?", "On a customer's site")
    ]
    assert [FAQ[at:].split("\n")[0].strip("# ") for at in shown.sections] == [
        line.strip(HEADS) for line in lines if line.endswith(HEADS)
    ]
    assert excerpt_text("# Leave\n\n## Sick\n\nCall before 6.\n") == "Call before 6."


@given(st.lists(st.sampled_from(["filing", "bank", "then"]), min_size=4, max_size=9, unique=False), QUERIES)
def test_a_sentence_brings_its_heading_however_much_is_left_out(names: list[str], query: str) -> None:
    text = "\n".join(f"{name} {n}{HEADS}\n{'The files of a CTR. ' * 12}\n{name} e-mail" for n, name in enumerate(names))
    lines = shown_text(text, query).replace("… ", "").split("\n")
    above = ""
    for line in lines:
        above = line if line.endswith(HEADS) else above
        if line.endswith("e-mail"):
            assert line.split()[0] == above.split()[0]


@pytest.mark.parametrize("query", ["work from home", "who hands out HR-18", "on a customer's site", "the shift"])
def test_a_hit_has_the_heading_of_its_best_sentence_and_opens_there(query: str, tmp_path: Path) -> None:
    app = indexed(tmp_path / "home", {"faq.md": FAQ})
    hit = app.search.page.find(query).groups[0].passages[0].hit
    document = app.knowledge.documents.show("faq")
    names = {
        "who hands out HR-18": ("Can I work from home?",),
        "on a customer's site": ("Can I work from home?", "On a customer's site"),
        "the shift": ("Can I trade a shift?",),
    }
    assert hit.heading == names.get(query, ("Can I work from home?",))
    assert document.text[slice(*hit.opens)].split("\n")[0].strip("# ") == hit.heading[-1]
    assert (document.text[hit.start : hit.end], hit.passage_heading) == (hit.text, ())


def policy(owner: str, due: str) -> str:
    return (
        f"---\nid: a\ntype: policy\nowner: {owner}\ntags: [bank, cash]\nreview_due: {due}\n---\n# A\n\nKeep bank "
        "records.\n"
    )


@pytest.fixture
def indexed_app(tmp_path: Path) -> App:
    return indexed(
        tmp_path / "home", {"fin/a.md": policy("ann", "2026-12-20"), "it/b.md": "# B\n\nThe bank of batteries.\n"}
    )


def test_facets_count_the_documents_in_the_list(indexed_app: App) -> None:
    facets = indexed_app.search.page.find("bank").facets
    assert facets["folders"] == (("fin", 1), ("it", 1))
    assert facets["owners"] == (("ann", 1),)
    assert facets["tags"] == (("bank", 1), ("cash", 1))
    assert facets["freshness"] == (("due soon", 1), ("undated", 1))


def test_counts_in_head_facets_and_list_agree(app: App) -> None:
    words = ("bank", "cash", "vault", "door", "key", "guard")
    files = {
        f"{folder}/{n}.md": f"---\nowner: {owner}\ntags: [t{n % 3}]\ndoc_type: {('sop', 'policy')[n % 2]}\n---\n# "
        f"{words[n % 6]} {n}\n\n"
        + "\n\n".join(
            f"## Part {part}\n\nThe {words[(n + part) % 6]} and the {words[(n * part) % 6]}." for part in range(4)
        )
        for n, (folder, owner) in enumerate([("fin", "ann"), ("it", "ben"), ("it/net", "ann"), ("hr", "cid")] * 6)
    }
    put(app, files)
    app.index.builder.build(app.platform.settings.profile())
    choices: list[dict[str, tuple[str, ...]]] = [
        {},
        {"folders": ("it",)},
        {"owners": ("ann",)},
        {"types": ("sop",), "folders": ("fin", "it")},
    ]
    for query in (*words, "bank door", "the key of the vault", "guard part 3"):
        for chosen in choices:
            filters = Filters(**chosen)
            found = app.search.page.find(query, filters)
            shown, listed = view(found, filters, {}), len(found.groups)
            passages = sum(len(group.passages) for group in found.groups)
            assert len({group.facts.doc for group in found.groups}) == listed == len(shown["groups"])
            assert shown["summary"] == f"{style.count(passages, 'passage')} in {style.count(listed, 'document')}"
            for name in ("folders", "owners", "types", "statuses", "freshness"):
                counts, picked = dict(found.facets[name]), chosen.get(name)
                assert sum(n for value, n in counts.items() if not picked or value in picked) == listed, (query, name)


def test_the_page_says_first_when_nothing_fits(indexed_app: App) -> None:
    find = indexed_app.search.page.find

    def fits(query):
        return find(query).result.fits

    assert fits("bank records")
    assert not fits("bank yacht marina"), "of three words only the common one is found"
    assert not fits("zeppelin")
    assert not find("zeppelin").literal
    assert fits("bank 2031"), "a number is rarely written as asked"
    shown = view(find("bank"), Filters(), {})
    assert (shown["fits"], shown["confidence"]) == (True, round(find("bank").result.confidence, 4))
    assert shown["how"].endswith(f"confidence {shown['confidence']:.0%}")


def test_a_hit_says_whether_to_trust_it(indexed_app: App) -> None:
    touched = indexed_app.knowledge.documents.touched()
    [first, *_] = view(indexed_app.search.page.find("keep records"), Filters(), touched)["groups"]
    day = style.day(touched["fin/a.md"].when[:10])
    assert f"kept by ann · version 1 of {day}" in first["about"]
    assert [badge["text"] for badge in first["badges"]] == ["Imported", "Review due in 35 days"]


def test_a_long_passage_can_be_shown_whole(app: App) -> None:
    text = " ".join(f"Sentence {n} speaks of harbour {n}." for n in range(40))
    put(app, {"a.md": f"# A\n\n{text}\n"})
    app.index.builder.build(app.platform.settings.profile())
    [passage] = app.search.page.find("harbour 25").groups[0].passages
    assert passage.whole is not None
    assert "".join(part.text for part in passage.whole.segments) == text
    assert "harbour 25" in (shown := "".join(part.text for part in passage.snippet.segments))
    assert len(shown) < len(text)


def test_a_passage_that_begins_inside_a_table_has_the_head_of_the_table(app: App) -> None:
    put(app, {"a.md": f"# Limits\n\n{TABLE * 1}" + "".join(f"| over ${n}M | Board member {n} |\n" for n in range(200))})
    app.index.builder.build(app.platform.settings.profile())
    passages = [passage for group in app.search.page.find("board member 150").groups for passage in group.passages]
    cut = [passage for passage in passages if passage.hit.text.startswith("| over")]
    assert cut
    for passage in cut:
        shown = "".join(part.text for part in passage.snippet.segments)
        assert shown.startswith("Amount\tWho signs\t\n")
        assert "|" not in shown


def test_titles_and_headings_of_hits_are_plain_text(indexed_app: App) -> None:
    put(indexed_app, {"it/d.md": "# **Vault** [rules](b.md)\n\n## ![New](n.png) `door`\n\nThe vault closes at six.\n"})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    hit = indexed_app.search.page.find("vault closes").groups[0].passages[0].hit
    assert (hit.title, hit.heading) == ("Vault rules", ("New door",))


def test_badges_and_facets_move_on_with_the_day(indexed_app: App) -> None:
    assert indexed_app.search.page.find("records").groups[0].freshness.state == "due soon"
    assert isinstance(indexed_app.search.page.clock, FixedClock)
    indexed_app.search.page.clock.day = "2026-12-21"
    found = indexed_app.search.page.find("records")
    assert found.groups[0].freshness.state == "overdue"
    assert dict(found.facets["freshness"])["overdue"] == 1


def test_badges_and_facets_move_on_with_the_index(indexed_app: App) -> None:
    assert indexed_app.search.page.find("records").groups[0].facts.owner == "ann"
    put(indexed_app, {"fin/a.md": policy("ben", "2027-12-20")})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    found = indexed_app.search.page.find("records")
    assert (found.groups[0].facts.owner, found.groups[0].freshness.state) == ("ben", "current")
    assert found.facets["owners"] == (("ben", 1),)


def test_after_warming_up_no_search_reads_a_passage_for_the_first_time(indexed_app: App) -> None:
    indexed_app.platform.workspace.warm()
    before = excerpt.cache_info().misses
    assert indexed_app.search.page.find("bank").groups
    assert excerpt.cache_info().misses == before
    put(indexed_app, {"it/c.md": "# C\n\nA new bank opens.\n"})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    assert any(
        "A new bank opens." in found.hit.text
        for group in indexed_app.search.page.find("bank").groups
        for found in group.passages
    )
    assert excerpt.cache_info().misses == before + 1


def test_an_empty_workspace_has_nothing_to_warm(app: App) -> None:
    app.platform.workspace.warm()
    assert app.index.generations.current(app.platform.settings.profile()) is None


def test_a_replaced_generation_is_forgotten(indexed_app: App) -> None:
    for query in ("bank", "bakn"):
        indexed_app.search.page.find(query)
    old = weakref.ref(indexed_app.search.searcher.index())
    put(indexed_app, {"fin/c.md": "# C\n\nAnother bank.\n"})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    indexed_app.search.page.find("bank")
    gc.collect()
    assert old() is None


def test_a_first_result_that_holds_little_of_the_question_is_doubted_where_a_later_one_holds_more(
    tmp_path: Path,
) -> None:
    files = {
        "a.md": "# Rated crashes\n\nThe service `rated++` re-rates loads.\n",
        "b.md": "# Travel\n\nOwn car: the mileage is paid at a rate of $0.67.\n",
        **{f"c{n}.md": f"# Rate {n}\n\nA rate of the desk, number {n}.\n" for n in range(6)},
    }
    app = indexed(tmp_path / "home", files)
    index = app.index.generations.open(app.platform.settings.profile())
    crash, travel = (next(iter(index.chunks_of(n))) for n in range(2))
    assert lacking("mileage rate own car", [crash, travel], index) == ("mileage", "car")
    assert lacking("mileage rate own car", [travel, crash], index) == ()
    assert lacking("rated service loads", [crash, travel], index) == ()
    assert lacking("mileage rate", [crash, travel], index) == (), "two words say too little"
    assert lacking("service loads mileage car paid", [crash, travel], index) == (), "the first holds enough"
    assert lacking("service paid zebra quagga", [crash, travel], index) == (), "the later one holds no more"


def test_a_doubt_about_the_first_result_reaches_the_page_and_programs(tmp_path: Path) -> None:
    files = {
        "a.md": "# Rate\n\nRate.\n",
        "b.md": "# Travel\n\nWhoever drives a car for us writes down each mileage and sends it to the desk, which "
        "pays a rate.\n",
        **{
            f"c{n}.md": f"# Desk {n}\n\nThe people at desk {n} know no rate by heart, so ask them for the list.\n"
            for n in range(6)
        },
    }
    app = indexed(tmp_path / "home", files)
    said = "The first result does not mention “mileage” or “car”. A later one does."
    result = app.search.searcher.search("mileage rate car", config=configs.parse("dense"))
    assert result.hits[0].path == "a.md"
    assert (result.doubt, as_json(result)["warnings"]) == (said, [said])
    results = replace(app.search.page.find("mileage rate car"), result=result)
    assert view(results, Filters(), {})["doubt"] == said
    assert not app.search.searcher.search("desk rate list", config=configs.parse("dense")).doubt
