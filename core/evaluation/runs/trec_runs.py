"""TREC run files, written for other tools and read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.evaluation.querysets.draft import Problem, is_number, numbered


def write_run(rankings: Mapping[str, Sequence[str]], tag: str) -> str:
    """Rankings in the form that trec_eval reads: `question Q0 document rank score tag`.

    >>> write_run({"1": ["a", "b"]}, "bm25")
    '1 Q0 a 1 2 bm25\\n1 Q0 b 2 1 bm25\\n'
    """
    return "".join(
        f"{question} Q0 {document} {rank} {len(documents) - rank + 1} {tag}\n"
        for question, documents in rankings.items()
        for rank, document in enumerate(documents, 1)
    )


def read_run(text: str) -> tuple[dict[str, tuple[str, ...]], tuple[Problem, ...]]:
    """Rankings from a TREC run, ordered by score; and the lines that could not be used.

    >>> read_run("1 Q0 b 2 1.5 x\\n1 Q0 a 1 2.5 x\\nwhat")
    ({'1': ('a', 'b')}, (Problem(file='run', line=3, why='expected six fields'),))
    """
    scored: dict[str, dict[str, float]] = {}
    problems = []
    for line, raw in numbered(text):
        fields = raw.split()
        if len(fields) != 6:
            problems.append(Problem("run", line, "expected six fields"))
        elif not is_number(fields[4]):
            problems.append(Problem("run", line, f"the score {fields[4]!r} is not a number"))
        else:
            scored.setdefault(fields[0], {}).setdefault(fields[2], float(fields[4]))
    ranked = {q: tuple(sorted(docs, key=lambda d: (-docs[d], d))) for q, docs in scored.items()}
    return ranked, tuple(problems)
