"""What was measured about every method, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench import methods, multihop
from bench.measure import markdown_table
from bench.methods import KEEP, MEASURE, SKIP, STAGES, CollectionFigures, Row, skipped
from core.evaluation.runs.comparisons import RunComparison, compare
from core.retrieval.alpha.features import query_features
from core.services.evaluation import cached_candidates

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


def line(collection: CollectionFigures, row: Row) -> list[str]:
    """One method."""
    figures, total = row.run.figures, row.times["total"]["p50"]
    cells = [row.label, str(row.run.questions), f"{figures[MEASURE]:.4f}", f"{figures['Recall@100']:.4f}"]
    return [collection.indexed.name, *cells, f"{total:.1f}", stages(row.times)]


def read_line(collection: CollectionFigures, row: Row) -> list[str]:
    """One way to rerank, beside the hybrid on the same queries."""
    name, label, queries, figure, *rest = line(collection, row)
    gap = "" if row is collection.read[0] else difference(compare(collection.read[0].run, row.run))
    read = "" if row is collection.read[0] else str(row.run.config.rerank_depth)
    return [name, label, queries, read, f"{skipped(row):.0%}", figure, gap, *rest]


# ---------------------------------------------------------------- sentences


def hybrid(collection: CollectionFigures) -> str:
    """The best hybrid against both legs."""
    sentences = "; ".join(
        f"against {leg} {difference(compared)}, {compared.overall.verdict}"
        for leg, compared in collection.against.items()
    )
    return f"- **{collection.indexed.name}**: `{collection.hybrid}`, chosen on train queries: {sentences}."


def verdict(collection: CollectionFigures) -> str:
    """Whether reranking gains, and what conditional reranking keeps of it."""
    fused, final, blended, *_ = collection.read
    alone, mixed = compare(fused.run, final.run), compare(fused.run, blended.run)
    sentence = (
        f"- **{collection.indexed.name}**: against the hybrid, the cross-encoder's own order {difference(alone)},"
        f" {alone.overall.verdict}; "
    )
    sentence += (
        f"blended at {collection.blend:g}, the best on train queries, {difference(mixed)}, {mixed.overall.verdict}. "
    )
    gain = mixed.overall.difference.mean
    if gain <= 0:
        return sentence + "Reranking does not gain here."
    chosen = next(
        row
        for row in collection.read
        if row.run.config.rerank == "conditional" and row.run.config.tau == collection.tau
    )
    if mixed.overall.verdict != "better":
        sentence += "So reranking does not gain here beyond chance, and conditional reranking has nothing to keep; "
        return (
            sentence
            + f"tau {collection.tau:g}, calibrated on train queries, skips {skipped(chosen):.0%} of the queries."
        )
    kept, left = compare(fused.run, chosen.run).overall.difference.mean / gain, skipped(chosen)
    met = "as promised" if kept >= KEEP and left >= SKIP else f"not the {KEEP:.0%} and {SKIP:.0%} that were hoped for"
    return (
        sentence
        + f"Conditional at tau {collection.tau:g}, calibrated on train queries, keeps {kept:.0%} of that gain and skips"
        f" {left:.0%} of the queries: {met}."
    )


def hurt(collection: CollectionFigures) -> list[list[str]]:
    """Which kinds of queries the cross-encoder's own order helped and hurt; the queries themselves stay
    where they are.
    """
    fused, final = collection.read[0].run, collection.read[1].run
    rows = compare(fused, final).rows
    kinds = {
        name: [row for row in rows if test(row.text, fused.results[row.question].confidence)] for name, test in KINDS
    }
    return [
        [
            collection.indexed.name,
            name,
            str(len(of_kind)),
            str(sum(row.difference > 1e-9 for row in of_kind)),
            str(sum(row.difference < -1e-9 for row in of_kind)),
            f"{sum(row.difference for row in of_kind) / len(of_kind):+.4f}",
        ]
        for name, of_kind in kinds.items()
        if of_kind
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


def text(collections: Sequence[CollectionFigures], machine: str) -> str:
    """The whole section."""
    section = (
        f"{machine}. Default profile; documents stand where their best chunk stands; {methods.DEPTH} chunks per leg."
        " Fused rows are of all test queries. p50 is wall time on a shared machine. The last two rows of a collection"
        f" show what parents do: children of {methods.CHILDREN['params']['child']} tokens are found, their parents"
        f" returned, beside whole chunks, both with {methods.STATIC}; Recall@100 counts documents among the first"
        f" {cached_candidates.KEEP} chunks, so children have fewer of them.\n\n"
    )
    section += markdown_table(HEADS, [line(collection, row) for collection in collections for row in collection.rows])
    section += (
        f"\n\n### The best hybrid\n\n{MEASURE}, paired by query, 95 % bootstrap intervals. The fusion is the best one"
        f" on {methods.TRAIN} train queries; figures are of test queries.\n\n" + "\n".join(map(hybrid, collections))
    )
    section += (
        f"\n\n### Reranking\n\nThe bundled cross-encoder reads the best chunks of that hybrid, for {methods.SAMPLE}"
        f" test queries spread evenly over all. Blend weight and tau were fitted on {methods.CALIBRATE} train queries."
        " Each pair is read once: rows below the first take its time for the queries that they rerank.\n\n"
    )
    section += markdown_table(
        READ_HEADS, [read_line(collection, row) for collection in collections for row in collection.read]
    )
    section += "\n\n" + "\n".join(map(verdict, collections))
    section += f"\n\nWhat the cross-encoder's own order does to {MEASURE}, by kind of query:\n\n"
    heads = ("collection", "queries that are", "count", "helped", "hurt", "mean difference")
    return section + markdown_table(heads, [row for collection in collections for row in hurt(collection)])


def hops(figures: multihop.Hops, machine: str) -> str:
    """The section of two-hop questions."""
    heads = ("method", "both@5", "both@10", "Recall@5", "Recall@10", "p50 ms")
    section = (
        f"hotpotqa_200, {machine}. Both: the share of questions with both supporting documents among the first k.\n\n"
    )
    section += markdown_table(heads, [multihop.cells(row) for row in figures.rows])
    section += (
        f"\n\nTri-modal against `{multihop.HYBRID}`, Recall@10: {difference(figures.graph)},"
        f" {figures.graph.overall.verdict}.\n\nThe cross-encoder over the best {multihop.READ} chunks of"
        f" {multihop.SAMPLE} questions, beside the hybrid on the same ones; the blend of {multihop.BLEND:g} was not"
        " fitted (there are no train queries):\n\n"
    )
    return section + markdown_table(heads, [multihop.cells(row) for row in figures.read])
