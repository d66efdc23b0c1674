"""Query sets: what goes in comes out, bad lines are named, judgments survive re-chunking."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.access import Actor
from core.bootstrap import App
from core.errors import BadInput, NotFound, Refused, Stale
from core.evaluation.querysets import anchoring, export_querysets, import_querysets
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question, check, settled
from core.evaluation.querysets.ratings import agreement, cohen, fleiss
from core.services.people.accounts import NewAccount
from core.types import ChunkerSpec, Frozen, Profile
from tests.conftest import demo, indexed, put, write

ADMIN = Actor("ann", "Ann", "ann@example.org", "admin")
READER = Actor("rob", "Rob", "rob@example.org", "reader")

CLAIMS = """---
id: SC-1
title: Freight claims
tags: [freight, claims]
answers:
  - How long do we have to claim?
---
# Freight claims

Claims are made in writing.

## Deadlines

File the claim within nine months of delivery. The carrier answers within 30 days.

## Evidence

Take four photographs. Keep the pallet label with the file.
"""
LEAVE = """---
id: HR-1
title: Leave
tags: [people]
---
# Leave

## Parental leave

Parents take sixteen weeks. Deadlines do not move.
"""


@pytest.fixture
def kb(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", {"ops/claims.md": CLAIMS, "people/leave.md": LEAVE})


def sample() -> QuerySet:
    questions = (Question("q1", "how late may a claim be", "deadline"), Question("q2", 'photos, "four" or five?', ""))
    judgments = (
        Judgment("q1", "ops/claims.md", ("Deadlines",), "within nine months", 2.0, "person", "Ann"),
        Judgment("q1", "people/leave.md", grade=0.0, source="person", judge="Ben"),
        Judgment("q2", "ops/claims.md", ("Evidence",)),
    )
    return QuerySet("sample", questions, judgments, "by hand")


# ---------------------------------------------------------------- in and out


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_lossless_formats_give_back_what_they_got(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"sample.{form}"
    export_querysets.write(sample(), path, form)
    found, problems = import_querysets.read(path)
    assert problems == ()
    assert (found.questions, found.judgments) == (sample().questions, sample().judgments)


def test_a_csv_cell_is_no_formula_and_still_comes_back_as_it_was(tmp_path: Path) -> None:
    question = Question("q1", "=HYPERLINK(1)", "'+ plan")
    judgment = Judgment("q1", "ops/claims.md", ("- Deadlines",), "- within nine months")
    export_querysets.write(QuerySet("x", (question,), (judgment,)), tmp_path / "x.csv", "csv")
    row = (tmp_path / "x.csv").read_text().splitlines()[1]
    assert row == "q1,'=HYPERLINK(1),''+ plan,ops/claims.md,'- Deadlines,'- within nine months,1,import,,"
    found, problems = import_querysets.read(tmp_path / "x.csv")
    assert (found.questions, found.judgments, problems) == ((question,), (judgment,), ())


texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=30).filter(
    lambda text: bool(text.split())
)


@given(st.lists(st.tuples(texts, texts, st.lists(texts, max_size=2)), min_size=1, max_size=5))
def test_any_words_survive_jsonl(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, list[str]]]
) -> None:
    questions = tuple(Question(str(n), " ".join(text.split())) for n, (text, _, _) in enumerate(rows))
    judgments = tuple(Judgment(str(n), "a.md", tuple(heading), quote) for n, (_, quote, heading) in enumerate(rows))
    path = tmp_path_factory.mktemp("x") / "x.jsonl"
    export_querysets.write(QuerySet("x", questions, judgments), path, "jsonl")
    found, problems = import_querysets.read(path)
    assert (found.questions, found.judgments, problems) == (questions, judgments, ())


def test_no_row_of_a_csv_starts_with_a_formula_whatever_ends_its_lines(tmp_path: Path) -> None:
    """Spreadsheets also start a row at a bare carriage return, and some read the wide signs of East Asian keyboards."""
    quotes = ("ok\r=1+1", "ok\r\n=1+1", "\n=1+1", "\r=1+1", "＝1+1", "＠SUM(1)")
    judgments = tuple(Judgment("q1", f"{n}.md", (), quote) for n, quote in enumerate(quotes))
    export_querysets.write(QuerySet("x", (Question("q1", "why"),), judgments), tmp_path / "x.csv", "csv")
    raw = (tmp_path / "x.csv").read_bytes().decode()
    assert "\r" not in raw
    cells = [cell for row in csv.reader(io.StringIO(raw)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\n", "＝", "＋", "－", "＠"))]
    found, problems = import_querysets.read(tmp_path / "x.csv")
    plain = [quote.replace("\r\n", "\n").replace("\r", "\n") for quote in quotes]
    assert ([judgment.quote for judgment in found.judgments], problems) == (plain, ())


@given(st.lists(st.sampled_from(["=1+1", "'=1", "-5 %", "@all", "'tis", "+", "why"]) | texts, min_size=1, max_size=5))
def test_any_question_survives_csv_and_none_is_a_formula(
    tmp_path_factory: pytest.TempPathFactory, asked: list[str]
) -> None:
    questions = tuple(Question(f"q{n}", " ".join(text.split())) for n, text in enumerate(asked))
    path = tmp_path_factory.mktemp("x") / "x.csv"
    export_querysets.write(QuerySet("x", questions, ()), path, "csv")
    cells = [cell for row in csv.reader(path.read_text().splitlines()) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
    assert import_querysets.read(path)[0].questions == questions


@pytest.mark.parametrize("form", ["beir", "trec"])
def test_document_formats_keep_questions_and_grades_by_document_id(kb: App, tmp_path: Path, form: str) -> None:
    kb.evaluation.querysets.keep(ADMIN, sample())
    kb.evaluation.querysets.write(demo("author"), "sample", tmp_path / "out", form)
    found, problems = kb.evaluation.querysets.read(ADMIN, tmp_path / "out", form, "again")
    assert problems == ()
    assert found.questions[0].text == "how late may a claim be"
    assert {(one.question, one.path, one.grade) for one in found.judgments} == {
        ("q1", "ops/claims.md", 2.0),
        ("q1", "people/leave.md", 0.0),
        ("q2", "ops/claims.md", 1.0),
    }


def test_bad_lines_are_named_and_the_rest_goes_in(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "a", "text": "fine", "judgments": [{"path": "a.md"}]}),
        "{not json",
        json.dumps({"id": "b"}),
        json.dumps({"id": "c", "text": "grade", "judgments": [{"path": "a.md", "grade": "high"}]}),
        json.dumps({"id": "a", "text": "another question"}),
        json.dumps({"id": "d", "text": "also fine"}),
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    found, problems = import_querysets.read(tmp_path / "x.jsonl")
    assert [one.id for one in found.questions] == ["a", "c", "d"]
    assert [one.line for one in problems] == [2, 3, 4, 5]
    assert "not JSON" in problems[0].why


def test_rows_with_the_same_question_and_no_id_judge_one_question(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("question,path\nwhy,a.md\nhow,b.md\n why ,c.md\n")
    found, problems = import_querysets.read(tmp_path / "x.csv")
    assert ([each.id for each in found.questions], problems) == (["line-2", "line-3"], ())
    assert [(each.question, each.path) for each in found.judgments] == [
        ("line-2", "a.md"),
        ("line-3", "b.md"),
        ("line-2", "c.md"),
    ]


def test_csv_names_the_line_of_a_short_row(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("question,path\nwhy,a.md\nonly one cell\nhow,b.md\n")
    found, problems = import_querysets.read(tmp_path / "x.csv")
    assert [one.text for one in found.questions] == ["why", "how"]
    assert [(one.line, one.why) for one in problems] == [(3, "1 cells where the first line has 2")]


def test_a_csv_refuses_grades_off_the_scale_and_broken_quotes_by_line(tmp_path: Path) -> None:
    rows = [
        "id,question,path,grade",
        "a,low,a.md,-1",
        "b,high,a.md,99",
        "c,words,a.md,seven",
        "c,words,b.md,3",
        'd,"open quote,a.md,1',
        'e,"fine, with ""quotes""\nand two lines",a.md,2',
        'f,in the "middle" of it,a.md,1',
        'g,after "it"x,a.md,1',
        "h,last,a.md,0",
    ]
    (tmp_path / "x.csv").write_text("\n".join(rows))
    found, problems = import_querysets.read(tmp_path / "x.csv")
    assert [(one.question, one.grade) for one in found.judgments if one.question not in "fg"] == [
        ("c", 3.0),
        ("e", 2.0),
        ("h", 0.0),
    ]
    why = {one.line: one.why for one in problems}
    assert why[2] == "the grade -1 is not between 0 and 3; the question 'low' stays without a judgment"
    assert why[3].startswith("the grade 99 is not between 0 and 3")
    assert why[4] == "the grade 'seven' is not a number", "the question has another judgment"
    assert "quote in this line is not closed" in why[6]


def test_the_lines_that_an_import_left_out_stay_with_the_set(kb: App) -> None:
    sent = b"question,path,grade\nhow late,ops/claims.md,2\nwhy,ops/claims.md,7\n"
    kb.evaluation.querysets.read_upload(ADMIN, "asked.csv", sent)
    (problem,) = kb.evaluation.querysets.problems(demo("author"), "asked")
    assert (problem.line, problem.why.split(";")[0]) == (3, "the grade 7 is not between 0 and 3")
    kb.evaluation.querysets.read_upload(ADMIN, "asked.csv", sent.replace(b"7", b"1"))
    assert kb.evaluation.querysets.problems(demo("author"), "asked") == ()


# ---------------------------------------------------------------- editing


def test_a_set_is_edited_question_by_question_and_the_digest_knows(kb: App) -> None:
    editor, sets = kb.evaluation.editor, kb.evaluation.querysets
    before = sets.keep(ADMIN, sample())
    added = editor.add_question(ADMIN, "sample", "  how many   photos ", "evidence")
    assert sets.get("sample").questions[-1] == Question(added.id, "how many photos", "evidence")
    with pytest.raises(BadInput, match="asks this already"):
        editor.add_question(ADMIN, "sample", "how many photos")
    editor.edit_question(ADMIN, "sample", "q1", "how late may a claim come", "deadline")
    kept = sets.get("sample")
    assert kept.questions[0].text == "how late may a claim come", "its place stays"
    assert len(kept.judgments) == 3, "and so do its judgments"
    assert kept.digest != before.digest
    editor.remove_question(ADMIN, "sample", "q1")
    assert [judgment.question for judgment in sets.get("sample").judgments] == ["q2"]
    with pytest.raises(NotFound, match="no question 'q1'"):
        editor.remove_question(ADMIN, "sample", "q1")
    with pytest.raises(BadInput, match="must have an id and a text"):
        editor.edit_question(ADMIN, "sample", "q2", "  ")


def test_guidelines_that_another_analyst_changed_are_not_overwritten(kb: App) -> None:
    sets = kb.evaluation.querysets
    sets.keep(ADMIN, sample())
    seen = sets.guidelines(ADMIN, "sample")
    sets.set_guidelines(ADMIN, "sample", "Grade the passage.", seen)
    with pytest.raises(Stale, match="were changed meanwhile"):
        sets.set_guidelines(ADMIN, "sample", "Grade the document.", seen)
    assert sets.guidelines(ADMIN, "sample") == "Grade the passage."


def test_a_judgment_is_added_changed_and_removed_and_a_note_changes_no_digest(kb: App) -> None:
    editor, sets = kb.evaluation.editor, kb.evaluation.querysets
    before = sets.keep(ADMIN, sample())
    old = before.judgments[2]
    given = editor.put_judgment(ADMIN, "sample", replace(old, grade=3.0, note="says it"), instead_of=old)
    assert sets.get("sample").judgments[-1] == replace(given, judge=ADMIN.id, source="person")
    assert len(sets.get("sample").judgments) == 3
    digest = sets.get("sample").digest
    editor.put_judgment(ADMIN, "sample", replace(given, note="says it twice"))
    assert sets.get("sample").judgments[-1].note == "says it twice"
    assert sets.get("sample").digest == digest
    editor.remove_judgment(ADMIN, "sample", sets.get("sample").judgments[-1])
    assert len(sets.get("sample").judgments) == 2
    with pytest.raises(NotFound, match="no longer in"):
        editor.remove_judgment(ADMIN, "sample", given)
    with pytest.raises(BadInput, match="grade 4 is not between 0 and 3"):
        editor.put_judgment(ADMIN, "sample", replace(given, grade=4.0))
    with pytest.raises(NotFound, match="no document"):
        editor.put_judgment(ADMIN, "sample", replace(given, path="nowhere.md"))


def test_a_renamed_set_keeps_its_runs(kb: App) -> None:
    kb.evaluation.querysets.keep(ADMIN, sample())
    (run,) = kb.evaluation.runs.measure(ADMIN, "sample", [("", "bm25")])
    kb.evaluation.editor.rename(ADMIN, "sample", "claims")
    assert [known.id for known in kb.evaluation.runs.listed(ADMIN, "claims")] == [run.id]
    assert kb.evaluation.runs.show(ADMIN, run.id).queryset == "claims"
    with pytest.raises(NotFound, match="no query set 'sample'"):
        kb.evaluation.querysets.get("sample")
    with pytest.raises(BadInput, match="already"):
        kb.evaluation.editor.rename(ADMIN, "claims", "claims")


def test_classic_trec_topics_and_qrels(tmp_path: Path) -> None:
    topic = "<top>\n<num> Number: 301\n<title> International Organized Crime\n</top>\n<top><title> no number</top>\n"
    write(tmp_path, {"topics.txt": topic, "qrels.txt": "301 0 a.md 1\n301 0 b.md x\n999 0 a.md 1\n"})
    found, problems = import_querysets.read(tmp_path)
    assert [(one.id, one.text) for one in found.questions] == [("301", "International Organized Crime")]
    assert [(one.path, one.grade) for one in found.judgments] == [("a.md", 1.0)]
    assert {(one.file, one.line) for one in problems} == {("topics.txt", 5), ("qrels.txt", 2), ("judgments", 0)}


def test_frontmatter_answers_become_questions(kb: App) -> None:
    made = kb.evaluation.querysets.from_frontmatter(ADMIN)
    assert [(one.text, judged.path) for one, judged in zip(made.questions, made.judgments, strict=True)] == [
        ("How long do we have to claim?", "ops/claims.md")
    ]
    put(kb, {"ops/claims.md": CLAIMS.replace("  - How long", "  - Who files the claim?\n  - How long")})
    more = kb.evaluation.querysets.from_frontmatter(ADMIN)
    assert made.questions[0] in more.questions, "a question that moved down keeps its id"
    put(kb, {"ops/claims.md": CLAIMS.replace("answers:", "extra:")})
    with pytest.raises(BadInput, match="No document lists a question"):
        kb.evaluation.querysets.from_frontmatter(ADMIN)
    assert len(more.questions) == len(more.judgments) == 2


@pytest.mark.parametrize("name", ["nothing.jsonl", "folder"])
def test_what_is_not_there_is_said_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound, match="There is no"):
        import_querysets.read(tmp_path / name)


# ---------------------------------------------------------------- kept


def test_an_id_goes_on_meaning_the_same_question(kb: App, tmp_path: Path) -> None:
    kept = kb.evaluation.querysets.keep(ADMIN, sample())
    first, *rest = kept.questions
    other = replace(first, text="Something else entirely?")
    with pytest.raises(BadInput, match=f"asks something else under the id {first.id!r}"):
        kb.evaluation.querysets.keep(ADMIN, replace(sample(), questions=(other, *rest)))
    with pytest.raises(BadInput, match=f"asks two things under the id {first.id!r}"):
        kb.evaluation.querysets.keep(ADMIN, replace(sample(), name="fresh", questions=(first, other, *rest)))
    path = tmp_path / "sample.csv"
    path.write_text(f"id,question,path\n{first.id},{other.text},ops/claims.md\nq9,Who signs?,ops/claims.md\n")
    read, problems = kb.evaluation.querysets.read(ADMIN, path, name="sample")
    assert [(one.line, one.why) for one in problems] == [(0, f"the id {first.id!r} already names another question")]
    assert {one.text for one in read.questions} == {*(one.text for one in kept.questions), "Who signs?"}
    assert len(read.judgments) == len(kept.judgments) + 1


def test_keeping_twice_changes_nothing_and_judging_again_replaces_the_grade(kb: App) -> None:
    first = kb.evaluation.querysets.keep(ADMIN, sample())
    assert kb.evaluation.querysets.keep(ADMIN, sample()).digest == first.digest
    place = Judgment("q2", "ops/claims.md", ("Evidence",), grade=1.0)
    kb.evaluation.querysets.judge(ADMIN, "sample", [place])
    again = kb.evaluation.querysets.show(ADMIN, "sample")
    kb.evaluation.querysets.judge(ADMIN, "sample", [replace(place, grade=2.0)])
    more = kb.evaluation.querysets.show(ADMIN, "sample")
    assert len(again.judgments) == len(more.judgments) == 4
    assert [one.grade for one in more.judgments if one.judge == "ann" and one.question == "q2"] == [2.0]
    kb.evaluation.querysets.drop(ADMIN, "sample")
    with pytest.raises(NotFound, match="There is no query set 'sample'. Query sets: none yet"):
        kb.evaluation.querysets.get("sample")


def test_two_people_of_one_name_keep_their_own_grades(kb: App) -> None:
    people = [
        kb.people.accounts.add(ADMIN, NewAccount(f"john{n}", "John Smith", f"john{n}@example.org", "author")).actor
        for n in (1, 2)
    ]
    kb.evaluation.querysets.keep(ADMIN, sample())
    place = Judgment("q2", "ops/claims.md", ("Evidence",))
    for grade, person in enumerate(people):
        kb.evaluation.querysets.judge(person, "sample", [replace(place, grade=float(grade))])
    given = [
        (one.judge, one.grade)
        for one in kb.evaluation.querysets.get("sample").judgments
        if one.judge.startswith("john")
    ]
    assert given == [("john1", 0.0), ("john2", 1.0)]
    assert ("John Smith (john1)", "John Smith (john2)") in [
        one.judges for one in kb.evaluation.querysets.agreement(demo("author"), "sample")
    ]
    hits = kb.search.searcher.search("photos").hits
    for grade, person in enumerate(people):
        kb.playground.grades.judge(person, "photos", hits[0], grade)
    given = [kb.playground.grades.grades(one, "photos", hits) for one in people]
    assert [{chunk: grade.grade for chunk, grade in own.items()} for own in given] == [
        {hits[0].chunk: 0},
        {hits[0].chunk: 1},
    ]
    assert [one.name for one in kb.playground.grades.of(demo("author"), "photos")] == [
        "John Smith (john1)",
        "John Smith (john2)",
    ]


@pytest.mark.sqlite
def test_readers_may_judge_and_not_keep(kb: App) -> None:
    kb.evaluation.querysets.keep(ADMIN, sample())
    kb.evaluation.querysets.judge(READER, "sample", [Judgment("q1", "ops/claims.md", grade=1.0)])
    assert [one.judge for one in kb.evaluation.querysets.get("sample").judgments].count(READER.id) == 1
    with pytest.raises(Refused):
        kb.evaluation.querysets.keep(READER, replace(sample(), name="other"))
    with pytest.raises(Refused):
        kb.evaluation.querysets.show(READER, "sample")


def test_a_judgment_without_a_question_is_refused() -> None:
    with pytest.raises(BadInput, match="'q9'"):
        check(QuerySet("x", (Question("q1", "why"),), (Judgment("q9", "a.md"),)))


# ---------------------------------------------------------------- anchored


@pytest.mark.parametrize(
    "spec",
    [
        ChunkerSpec("markdown"),
        ChunkerSpec("fixed", Frozen({"max_tokens": 12, "overlap": 3})),
        ChunkerSpec("hierarchical", Frozen({"parent": 60, "child": 10, "overlap": 2})),
    ],
)
def test_a_quote_finds_its_chunks_under_every_chunker(kb: App, spec: ChunkerSpec) -> None:
    profile = Profile("other", chunker=spec)
    kb.index.builder.build(profile)
    index = kb.index.generations.open(profile)
    found = anchoring.anchor(sample().judgments[0], index)
    assert found.chunks
    joined = " ".join(index.excerpt(chunk) for chunk in found.chunks)
    assert "nine" in joined
    others = set(index.chunks_of(found.document)) - set(found.chunks)
    assert not any("within nine months" in index.excerpt(chunk) for chunk in others)


def test_a_heading_means_its_section_and_no_more(kb: App) -> None:
    profile = Profile("small", chunker=ChunkerSpec("fixed", Frozen({"max_tokens": 8, "overlap": 0})))
    kb.index.builder.build(profile)
    index = kb.index.generations.open(profile)
    found = anchoring.anchor(Judgment("q", "ops/claims.md", ("Evidence",)), index)
    section = CLAIMS.index("## Evidence")
    every = index.chunks_of(found.document)
    assert found.chunks == tuple(chunk for chunk in every if index.passage(chunk).end > section)
    assert 0 < len(found.chunks) < len(every)


def test_what_cannot_be_mapped_after_a_build_is_listed(kb: App) -> None:
    kb.evaluation.querysets.keep(ADMIN, sample())
    assert kb.evaluation.querysets.unmapped(demo("author"), "sample", kb.search.searcher.index()) == ()
    put(kb, {"ops/claims.md": CLAIMS.replace("nine months", "one year"), "people/leave.md": None})
    kb.index.builder.build(kb.platform.settings.profile())
    lost = kb.evaluation.querysets.unmapped(demo("author"), "sample", kb.search.searcher.index())
    assert [one.why for one in lost] == [
        "The quoted words no longer stand in 'ops/claims.md'.",
        "There is no document 'people/leave.md' any more.",
    ]


def test_a_moved_file_is_found_by_name_and_quote(kb: App) -> None:
    put(kb, {"ops/claims.md": None, "freight/claims.md": CLAIMS})
    kb.index.builder.build(kb.platform.settings.profile())
    index = kb.search.searcher.index()
    found = anchoring.anchor(sample().judgments[0], index)
    assert index.documents[found.document].path == "freight/claims.md"
    assert anchoring.anchor(sample().judgments[2], index).why == "There is no document 'ops/claims.md' any more."


# ---------------------------------------------------------------- several judges


def test_people_outweigh_models_and_their_grades_are_averaged() -> None:
    place = Judgment("q", "a.md")
    given_ = [
        replace(place, source="person", judge="Ann", grade=2.0),
        replace(place, source="person", judge="Ben", grade=1.0),
        replace(place, source="llm judge", judge="m", grade=0.0),
    ]
    assert [one.grade for one in settled(given_)] == [1.5]


def test_agreement_is_cohen_for_pairs_and_fleiss_for_all() -> None:
    grades = {"Ann": [1, 1, 0, 0], "Ben": [1, 0, 0, 0], "Cat": [1, 1, 0, 1]}
    judgments = [
        Judgment("q", f"{n}.md", grade=float(grade), source="person", judge=judge)
        for judge, row in grades.items()
        for n, grade in enumerate(row)
    ]
    found = {one.judges: one for one in agreement(judgments)}
    assert found["Ann", "Ben"].kappa == 0.5  # 3 of 4 the same, 1/2 by chance
    assert found["Ann", "Ben"].same == 0.75
    assert found["Ann", "Ben", "Cat"].kappa == pytest.approx(1 / 3)


@given(st.lists(st.booleans(), min_size=2, max_size=20).filter(lambda row: 0 < sum(row) < len(row)))
def test_a_judge_agrees_with_himself_perfectly(row: list[bool]) -> None:
    assert cohen(row, row) == 1.0
    assert fleiss([{value: 3} for value in row]) == 1.0
