"""Generators: the same seed gives the same questions, every answer stands where it is said to stand."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest

from core.access import Actor
from core.analysis import fold
from core.bootstrap import App, build
from core.curation.document.frontmatter import read_document
from core.curation.text.render import plain
from core.evaluation.generators import known_items, qa
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.generators.paraphrase import by_llm, by_rules
from core.evaluation.generators.qa import QaSettings
from core.evaluation.querysets.queryset import Judgment, QuerySet
from core.evaluation.runs import pooling
from core.services.evaluation.runs import RunPlan
from core.settings import load
from core.types import Document
from tests.conftest import ROOT, FixedClock, ScriptedLlm, SmallModels, demo, put

ADMIN = Actor("ann", "Ann", "ann@example.org", "admin")


@cache
def kb_documents() -> tuple[Document, ...]:
    files = sorted((ROOT / "kb").rglob("*.md"))
    return tuple(read_document(str(path.relative_to(ROOT / "kb")), path.read_text(encoding="utf-8")) for path in files)


@cache
def kb_items() -> QuerySet:
    return known_items.generate(kb_documents())


def test_the_starter_knowledge_base_gives_400_questions_in_five_categories() -> None:
    counts = Counter(question.category for question in kb_items().questions)
    assert sum(counts.values()) >= 400
    assert set(counts) == set(known_items.CATEGORIES)
    assert min(counts.values()) >= 60


def test_the_same_seed_gives_the_same_questions_in_any_order_of_documents() -> None:
    some = kb_documents()[:5]
    again = known_items.generate(some[::-1])
    assert again == known_items.generate(some)
    assert again != known_items.generate(some, KnownItemSettings(7))


def test_every_known_item_stands_in_its_document() -> None:
    texts = {document.path: " ".join(document.text.split()) for document in kb_documents()}
    words = {document.path: fold(plain(document.text[document.body :])) for document in kb_documents()}
    questions = {question.id: question for question in kb_items().questions}
    assert len(questions) == len(kb_items().questions)
    for judgment in kb_items().judgments:
        assert " ".join(judgment.quote.split()) in texts[judgment.path]
        question = questions[judgment.question]
        if question.category == "heading_direct":
            assert judgment.heading[-1] == question.text
        if question.category == "entity_lookup":
            assert fold(question.text) in words[judgment.path]
        if question.category in ("exact_phrase", "first_sentence"):
            assert question.text == judgment.quote


def test_rules_reword_and_are_labelled_so() -> None:
    said = by_rules("Approval limits", "invoices")
    assert "approval" not in said.lower()
    sources = {one.source for one in kb_items().judgments}
    assert sources == {known_items.RULES}


def test_a_model_rewords_better_and_a_useless_answer_falls_back_to_rules() -> None:
    section = ("Approval limits", "purchasing", "Orders over $5,000 are signed by the director.")
    good = by_llm(ScriptedLlm('"Who may sign large orders?"'), known_items.RULES, known_items.LLM)
    assert good(*section) == ("Who may sign large orders?", known_items.LLM)
    for useless in (
        "",
        "Approval limits",
        "x" * 500,
        "one\ntwo",
        "Where can I find the section titled 'P'?",
        "What is the weather like today?",
        "Who signs orders of Acme?",
        "What a treasure! A colleague without this document would type into a search box because the text answers it.",
        "I'm sorry, but I can't assist with orders.",
    ):
        text, source = by_llm(ScriptedLlm(useless), known_items.RULES, known_items.LLM)(*section)
        assert (text, source) == (by_rules(*section[:2]), known_items.RULES), useless


# ---------------------------------------------------------------- questions and answers


def long_document(path: str, tag: str, entity: str) -> Document:
    words = " ".join(f"word{n}" for n in range(590))
    body = f"# T\n\n{entity} signs the form within 30 days. RC-114, SAV3-7, WD-12 and QX-9 apply. {words}\n"
    return read_document(path, f"---\ntitle: T\ntags: [{tag}]\n---\n{body}")


def test_segments_have_1000_words_and_none_has_fewer_than_500() -> None:
    document = Document("d", "d.md", "D", " ".join("w" for _ in range(2600)))
    sizes = [len(document.text[a:b].split()) for a, b in qa.segments(document)]
    assert sizes == [1000, 1000, 600]
    assert len(qa.segments(Document("d", "d.md", "D", "w " * 2499))) == 2


def test_pairs_share_an_entity_and_across_files_a_tag() -> None:
    made = [
        qa.SourceSegment(long_document("a.md", "freight", "Dana"), 0, 9, ("RC-114", "A")),
        qa.SourceSegment(long_document("b.md", "freight", "Dana"), 0, 9, ("RC-114", "B")),
        qa.SourceSegment(long_document("c.md", "people", "Dana"), 0, 9, ("RC-114", "C")),
        qa.SourceSegment(long_document("a.md", "freight", "Dana"), 9, 18, ("A",)),
    ]
    across = [(one.document.path, other.document.path) for one, other in qa.pairs(made, same_file=False)]
    assert across == [("a.md", "b.md")]
    assert [(one.start, other.start) for one, other in qa.pairs(made, same_file=True)] == [(0, 9)]


def test_only_answers_that_stand_word_for_word_are_kept_and_the_rest_is_counted() -> None:
    said = json.dumps(
        [
            {"question": "How long does Dana Whitfield have?", "answer": "within 30 days"},
            {"question": "And then what happens?", "answer": "within thirty days"},
            {"question": "", "answer": "30 days"},
        ]
    )
    documents = [long_document(f"{name}.md", "freight", "Dana Whitfield") for name in "ab"]
    made = qa.generate(documents, ScriptedLlm(f"Here you are: {said}"), QaSettings(per_kind=2))
    assert made.refused["the answer is not a substring of its passage"] == 3
    assert made.refused["question or answer missing"] == 3
    kinds = Counter(one.category for one in made.queryset.questions)
    assert kinds == {"single-file-1-hop": 1, "multi-file-2-hop": 1}
    answers = [one for one in made.queryset.judgments if one.grade == 2.0]
    assert {one.quote for one in answers} == {"within 30 days"}
    assert {(one.source, one.judge) for one in made.queryset.judgments} == {("qa (llm)", "scripted")}
    two_hops = [one for one in made.queryset.judgments if one.question.startswith("multi")]
    assert {one.path for one in two_hops} == {"a.md", "b.md"}


@pytest.mark.parametrize("said", ["", "no JSON here", '{"question": "x"}', "[1, 2]"])
def test_a_model_that_talks_nonsense_gives_no_questions(said: str) -> None:
    made = qa.generate([long_document("a.md", "x", "Dana")], ScriptedLlm(said))
    assert made.queryset.questions == ()
    assert made.refused


def test_kinds_without_questions_are_named_with_what_the_documents_lack() -> None:
    usable = json.dumps([{"question": "How long does Dana Whitfield have?", "answer": "within 30 days"}])
    short = read_document("s.md", "# S\n\nToo short to ask about.\n")
    made = qa.generate([short], ScriptedLlm(usable))
    assert made.left_out == {
        "single-file-1-hop": "it needs a document of 500 words, and the longest has 7",
        "single-file-2-hop": "it needs a document of 1,500 words, and the longest has 7",
        "multi-file-2-hop": "it needs a document of 500 words, and the longest has 7",
    }
    assert made.queryset.about.endswith("; without single-file-1-hop, single-file-2-hop, multi-file-2-hop")
    one = qa.generate([short, long_document("a.md", "x", "Dana Whitfield")], ScriptedLlm(usable))
    assert list(one.left_out) == ["single-file-2-hop", "multi-file-2-hop"]
    assert one.left_out["multi-file-2-hop"] == "it needs two documents of 500 words, and there is one"
    apart = [long_document("a.md", "x", "Dana Whitfield"), long_document("b.md", "y", "Dana Whitfield")]
    lacking = qa.generate(apart, ScriptedLlm(usable)).left_out["multi-file-2-hop"]
    assert lacking == "no two segments of documents with a tag in common name the same thing"
    nonsense = qa.generate([long_document("a.md", "x", "Dana")], ScriptedLlm("no")).left_out
    assert nonsense["single-file-1-hop"] == "none of 1 answers of scripted could be used"


def test_names_of_a_recogniser_join_segments_before_the_model_is_asked_for_more() -> None:
    plain = (
        "# T\n\n" + "the depot opens at seven and closes at nine. " * 70 + "Reno and Oslo and Bonn and Kyiv and Lima.\n"
    )
    documents = [read_document(f"{name}.md", f"---\ntitle: T\ntags: [x]\n---\n{plain}") for name in "ab"]
    usable = json.dumps([{"question": "When does it open in the morning?", "answer": "opens at seven"}])

    def names(text):
        return [word for word in ("Reno", "Oslo", "Bonn", "Kyiv", "Lima") if word in text]

    llm = ScriptedLlm(usable)
    made = qa.generate(documents, llm, names=names)
    assert "multi-file-2-hop" not in made.left_out
    assert "names by rules and spaCy" in made.queryset.about
    assert not [prompt for prompt in llm.asked if "more entities" in prompt]


def test_categories_of_known_items_without_questions_are_named() -> None:
    bare = known_items.generate([read_document("a.md", "# A\n\nNothing to ask.\n")])
    assert known_items.left_out(bare)["heading_paraphrase"] == "no document has a heading below its title"
    assert list(known_items.left_out(bare)) == list(known_items.CATEGORIES)
    assert known_items.left_out(kb_items()) == {}


# ---------------------------------------------------------------- judging


@pytest.fixture
def judged_by_llm(tmp_path) -> tuple[App, ScriptedLlm]:
    llm = ScriptedLlm("2", "maybe", "0")
    app = build(load({}, home=tmp_path / "home"), clock=FixedClock(), models=SmallModels(llm))
    app.platform.workspace.create()
    put(
        app, {f"{name}.md": f"# {name}\n\n## Part\n\nAbout {name} and apples.\n" for name in ("alpha", "beta", "gamma")}
    )
    app.index.builder.build(app.platform.settings.profile())
    app.evaluation.querysets.keep(
        ADMIN, known_items.generate(app.knowledge.documents.all(), KnownItemSettings(name="items"))
    )
    return app, llm


def test_a_pool_is_blind_and_a_model_judges_it_under_its_own_name(judged_by_llm: tuple[App, ScriptedLlm]) -> None:
    app, llm = judged_by_llm
    plan = app.evaluation.runs.plan("", "bm25")
    run = app.evaluation.runs.evaluate("items", [RunPlan(plan.profile, plan.config)])[0]
    pool = pooling.pool([run], app.search.searcher.index())[:3]
    assert pool == pooling.pool([run, run], app.search.searcher.index())[:3], "who found it leaves no trace"
    before = len(app.evaluation.querysets.get("items").judgments)
    assert app.evaluation.querysets.judge_by_model(ADMIN, "items", pool, llm) == (
        2,
        {"The answer of scripted was not used: it is none of the grades 0, 1 and 2.": 1},
    )
    added = app.evaluation.querysets.get("items").judgments[before:]
    assert [(one.source, one.judge, one.grade) for one in added] == [
        ("llm judge", "scripted", 2.0),
        ("llm judge", "scripted", 0.0),
    ]
    assert llm.asked[0].count("</passage>") == 1


def test_agreement_of_the_model_with_people_is_shown(judged_by_llm: tuple[App, ScriptedLlm]) -> None:
    app, llm = judged_by_llm
    run = app.evaluation.runs.evaluate("items", [app.evaluation.runs.plan("", "bm25")])[0]
    pool = pooling.pool([run], app.search.searcher.index())[:3]
    app.evaluation.querysets.judge_by_model(ADMIN, "items", pool, llm)
    app.evaluation.querysets.judge(ADMIN, "items", [one.judged(1.0 if n == 0 else 0.0) for n, one in enumerate(pool)])
    found = {one.judges: one for one in app.evaluation.querysets.agreement(demo("author"), "items")}
    assert found["ann", "scripted (llm)"].kappa == 1.0
    assert isinstance(pool[0].judged(1.0), Judgment)
