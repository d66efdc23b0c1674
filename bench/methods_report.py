"""What was measured about every method, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench import methods, multihop
from bench.measure import markdown_table
from bench.methods import KEEP, MEASURE, SKIP, STAGES, Measured, Row, skipped
from core.evaluation.comparisons import RunComparison, compare
from core.retrieval.alpha.features import query_features
from core.services.evaluation import candidates

HEADS = ("collection", "method", "queries", MEASURE, "Recall@100", "p50 ms", "of which")
READ_HEADS = (
    "collection",
    "method",
    "queries",
    "chunks read",
    "skipped",
    MEASURE,
    "against hybrid",
    "Recall@100",
    "p50 ms",
    "of which",
)


def stages(times: Mapping[str, Mapping[str, float]]) -> str:
    """The median of each stage, in milliseconds."""
    return ", ".join(f"{name} {times[name]['p50']:.1f}" for name in STAGES if name in times)


def difference(compared: RunComparison) -> str:
    """A paired difference with its interval."""
    gap = compared.overall.difference
    return f"{gap.mean:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})"


def line(found: Measured, row: Row) -> list[str]:
    """One method."""
    figures, total = row.run.figures, row.times["total"]["p50"]
    cells = [row.label, str(row.run.questions), f"{figures[MEASURE]:.4f}", f"{figures['Recall@100']:.4f}"]
    return [found.laid.name, *cells, f"{total:.1f}", stages(row.times)]


def read_line(found: Measured, row: Row) -> list[str]:
    """One way to rerank, beside the hybrid on the same queries."""
    name, label, queries, figure, *rest = line(found, row)
    gap = "" if row is found.read[0] else difference(compare(found.read[0].run, row.run))
    read = "" if row is found.read[0] else str(row.run.config.rerank_depth)
    return [name, label, queries, read, f"{skipped(row):.0%}", figure, gap, *rest]


# ---------------------------------------------------------------- sentences


def hybrid(found: Measured) -> str:
    """The best hybrid against both legs."""
    said = "; ".join(f"against {leg} {difference(one)}, {one.overall.verdict}" for leg, one in found.against.items())
    return f"- **{found.laid.name}**: `{found.hybrid}`, chosen on train queries: {said}."


def verdict(found: Measured) -> str:
    """Whether reranking gains, and what conditional reranking keeps of it."""
    fused, final, blended, *_ = found.read
    alone, mixed = compare(fused.run, final.run), compare(fused.run, blended.run)
    said = f"- **{found.laid.name}**: against the hybrid, the cross-encoder's own order {difference(alone)}, {alone.overall.verdict}; "
    said += f"blended at {found.blend:g}, the best on train queries, {difference(mixed)}, {mixed.overall.verdict}. "
    gain = mixed.overall.difference.mean
    if gain <= 0:
        return said + "Reranking does not gain here."
    chosen = next(
        row for row in found.read if row.run.config.rerank == "conditional" and row.run.config.tau == found.tau
    )
    if mixed.overall.verdict != "better":
        said += "So reranking does not gain here beyond chance, and conditional reranking has nothing to keep; "
        return said + f"tau {found.tau:g}, calibrated on train queries, skips {skipped(chosen):.0%} of the queries."
    kept, left = compare(fused.run, chosen.run).overall.difference.mean / gain, skipped(chosen)
    met = "as promised" if kept >= KEEP and left >= SKIP else f"not the {KEEP:.0%} and {SKIP:.0%} that were hoped for"
    return (
        said
        + f"Conditional at tau {found.tau:g}, calibrated on train queries, keeps {kept:.0%} of that gain and skips {left:.0%} of the queries: {met}."
    )


def hurt(found: Measured) -> list[list[str]]:
    """Which kinds of queries the cross-encoder's own order helped and hurt; the queries themselves stay where they are."""
    fused, final = found.read[0].run, found.read[1].run
    rows = compare(fused, final).rows
    kinds = {
        name: [row for row in rows if test(row.text, fused.results[row.question].confidence)] for name, test in KINDS
    }
    return [
        [
            found.laid.name,
            name,
            str(len(some)),
            str(sum(row.difference > 1e-9 for row in some)),
            str(sum(row.difference < -1e-9 for row in some)),
            f"{sum(row.difference for row in some) / len(some):+.4f}",
        ]
        for name, some in kinds.items()
        if some
    ]


KINDS = (
    ("all", lambda text, sure: True),
    ("up to 3 words", lambda text, sure: query_features(text)[0] <= 3),
    ("4 to 10 words", lambda text, sure: 3 < query_features(text)[0] <= 10),
    ("more than 10 words", lambda text, sure: query_features(text)[0] > 10),
    ("with digits", lambda text, sure: query_features(text)[1] > 0),
    ("with an acronym", lambda text, sure: query_features(text)[3] > 0),
    ("legs agree on the first chunk (best score 1)", lambda text, sure: sure >= 1.0),
    ("legs disagree", lambda text, sure: sure < 1.0),
)


def text(found: Sequence[Measured], machine: str) -> str:
    """The whole section."""
    said = (
        f"{machine}. Default profile; documents stand where their best chunk stands; {methods.DEPTH} chunks per leg. "
        "Fused rows are of all test queries. p50 is wall time on a shared machine. The last two rows of a collection show what "
        f"parents do: children of {methods.CHILDREN['params']['child']} tokens are found, their parents returned, beside whole "
        f"chunks, both with {methods.STATIC}; Recall@100 counts documents among the first {candidates.KEEP} chunks, so children have "
        "fewer of them.\n\n"
    )
    said += markdown_table(HEADS, [line(one, row) for one in found for row in one.rows])
    said += (
        f"\n\n### The best hybrid\n\n{MEASURE}, paired by query, 95 % bootstrap intervals. The fusion is the best one on "
        f"{methods.TRAIN} train queries; figures are of test queries.\n\n" + "\n".join(map(hybrid, found))
    )
    said += (
        f"\n\n### Reranking\n\nThe bundled cross-encoder reads the best chunks of that hybrid, for "
        f"{methods.SAMPLE} test queries spread evenly over all. Blend weight and tau were fitted on {methods.CALIBRATE} train "
        "queries. Each pair is read once: rows below the first take its time for the queries that they rerank.\n\n"
    )
    said += markdown_table(READ_HEADS, [read_line(one, row) for one in found for row in one.read])
    said += "\n\n" + "\n".join(map(verdict, found))
    said += f"\n\nWhat the cross-encoder's own order does to {MEASURE}, by kind of query:\n\n"
    heads = ("collection", "queries that are", "count", "helped", "hurt", "mean difference")
    return said + markdown_table(heads, [row for one in found for row in hurt(one)])


def hops(found: multihop.Hops, machine: str) -> str:
    """The section of two-hop questions."""
    heads = ("method", "both@5", "both@10", "Recall@5", "Recall@10", "p50 ms")
    said = (
        f"hotpotqa_200, {machine}. Both: the share of questions with both supporting documents among the first k.\n\n"
    )
    said += markdown_table(heads, [multihop.cells(row) for row in found.rows])
    said += (
        f"\n\nTri-modal against `{multihop.HYBRID}`, Recall@10: {difference(found.graph)}, {found.graph.overall.verdict}."
        f"\n\nThe cross-encoder over the best {multihop.READ} chunks of {multihop.SAMPLE} questions, beside the hybrid on the "
        f"same ones; the blend of {multihop.BLEND:g} was not fitted (there are no train queries):\n\n"
    )
    return said + markdown_table(heads, [multihop.cells(row) for row in found.read])
