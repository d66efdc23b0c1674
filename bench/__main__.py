"""`python -m bench [PART ...] [--sizes 2000,20000,200000]`"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from bench import (
    api,
    building,
    changes,
    confidence,
    conversion,
    default,
    disagreements,
    doubt,
    edits,
    embedding,
    endurance,
    fusing,
    impact,
    lcs,
    legs,
    methods,
    methods_report,
    multihop,
    people,
    planted,
    playground,
    quality,
    ray,
    readers,
    report,
    scale,
    segments,
    sessions,
    shared,
    snippets,
    statistics,
    store,
    sweep,
    vectors,
    verdicts,
)
from bench.corpus import ROOT, SHARED
from bench.measure import markdown_table

HOME = ROOT / "bench" / "out"
QUALITY = """Default profile, test queries, documents by their best chunk; each configuration by its own `python -m \
core eval beir`, ranked
as deep as production searches; only Recall@100 counts what a deeper search adds.
Times are those of a process that has just started. Published: Anserini's flat index for BM25, the model's card for \
vectors.

"""


def main() -> None:
    """Run the parts that were asked for, or all."""
    parts = {
        "legs": _legs,
        "building": _building,
        "edits": _edits,
        "segments": _segments,
        "impact": _impact,
        "store": _store,
        "embedding": _embedding,
        "vectors": _vectors,
        "quality": _quality,
        "sessions": _sessions,
        "shared": lambda _: shared.write(),
        "changes": lambda _: changes.write(),
        "api": _api,
        "endurance": _endurance,
        "lcs": _lcs,
        "statistics": _statistics,
        "verdicts": _verdicts,
        "disagreements": _disagreements,
        "sweep": _sweep,
        "playground": _playground,
        "fusion": _fusion,
        "default": _default,
        "methods": _methods,
        "snippets": _snippets,
        "conversion": _conversion,
        "confidence": _confidence,
        "doubt": _doubt,
        "people": _people,
        "readers": _readers,
        "ray": _ray,
        "scale": lambda _: scale.write(),
    }
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="which parts (default: all)")
    parser.add_argument("--sizes", default="2000,20000,200000", help="chunks")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    for name in options.parts or parts:
        parts[name](sizes)


def _legs(sizes: list[int]) -> None:
    measured = [legs.measure(HOME, size) for size in sizes]
    heads = ("chunks", "way", "CPU p50 ms", "CPU p95", "wall p50", "wall p95", "CPU against ours")
    text = f"Top 10, one query at a time, {report.machine()}. The same tokens and vectors for everybody.\n"
    for leg in ("bm25", "dense", "hybrid"):
        text += (
            f"\n### {leg}\n\n"
            + markdown_table(heads, [row for figures in measured for row in legs.rows(figures, leg)])
            + "\n"
        )
    agreement = []
    for figures in measured:
        agreement.append(
            [
                f"{figures['chunks']:,}",
                f"{figures['agreement']:.2f}",
                f"{figures['recall']:.3f}",
                f"{figures['sum']:.2f}x",
            ]
        )
    text += "\n### Agreement\n\nFor the last column both legs and hybrid search took turns.\n\n" + markdown_table(
        ("chunks", "ranks equal match_bm25", "dense recall@10", "hybrid CPU against the sum of its legs"), agreement
    )
    report.write("legs", "Search beside the peers", text)


def _building(sizes: list[int]) -> None:
    measured = [building.measure(HOME, size) for size in sizes]
    heads = (
        "chunks",
        "full CPU s",
        "one edit CPU s",
        "share",
        "edit wall s",
        "open s",
        "open + 2 searches s",
        "peak MB",
        "index MB",
    )
    lines = [
        [
            f"{figures['chunks']:,}",
            figures["full_cpu_s"],
            figures["edit_cpu_s"],
            figures["edit_share"],
            figures["edit_wall_s"],
            figures["open_s"],
            figures["open_and_search_s"],
            figures["peak_mb"],
            figures["index_mb"],
        ]
        for figures in measured
    ]
    text = (
        f"{report.machine()}. CPU without embedding; an edit counts until its new word is found. Opening is in a fresh"
        " process.\n\n"
    )
    text += markdown_table(heads, lines)
    report.write("building", "Indexing", text)


def _edits(sizes: list[int]) -> None:
    measured = [edits.measure(HOME, size) for size in sizes]
    heads = (
        "chunks",
        "one edit CPU s",
        "against the row above",
        "disk GB",
        "open s",
        "own MB",
        "mapped MB",
        "BM25 ms",
        "dense ms",
    )
    before = [None, *(figures["edit_cpu_s"] for figures in measured)]
    lines = []
    for figures, above in zip(measured, before, strict=False):
        for name in ("once", "edited"):
            state, edit = figures[name], figures["edit_cpu_s"]
            lines.append(
                [
                    f"{figures['chunks']:,}, {state['segments']} segment{'s' * (state['segments'] > 1)}",
                    f"{edit:.2f}" if name == "edited" else "",
                    f"{edit / above:.2f}x" if name == "edited" and above else "",
                    f"{figures['disk_gb']:.2f}",
                    *(f"{state[key]:.2f}" for key in ("open_s", "own_mb", "mapped_mb", "bm25_ms", "dense_ms")),
                ]
            )
    report.write("edits", "One edit of a large index", edits.about(report.machine()) + markdown_table(heads, lines))


def _segments(sizes: list[int]) -> None:
    measured = [segments.measure(HOME, size) for size in sizes if size <= 20_000]
    heads = ("chunks", "leg", *(f"{count} segments" for count in segments.COUNTS))
    lines = [
        [f"{figures['chunks']:,}", leg, *(f"{cpu / figures[leg][1]:.2f}x" for cpu in figures[leg].values())]
        for figures in measured
        for leg in segments.LEGS
    ]
    text = (
        f"{report.machine()}. CPU p50 of a search against one segment; generations with more of them took turns with"
        " it.\n\n"
    )
    report.write("segments", "Searches over segments", text + markdown_table(heads, lines))


def _impact(sizes: list[int]) -> None:
    measured = [impact.measure(HOME, size) for size in sizes if size <= 20_000]
    heads = (
        "chunks",
        "questions",
        "first CPU s",
        "CPU s",
        "index MB",
        "20 open changes MB",
        "after they end MB",
        "peak MB",
    )
    names = ("questions", "first_cpu_s", "median_cpu_s", "index_mb", "twenty_mb", "left_mb", "peak_mb")
    lines = [[f"{figures['chunks']:,}", *(figures[name] for name in names)] for figures in measured]
    text = (
        f"{report.machine()}. A change of one document: indexed aside, then every question asked before and after. CPU"
        " without embedding, the median of twenty changes that are open at once; the first one also opens what the"
        " others share.\n\n"
    )
    report.write("impact", "The impact of a change", text + markdown_table(heads, lines))


def _store(sizes: list[int]) -> None:
    rows = [store.measure(HOME, size) for size in sizes if size <= 20_000]
    text = (
        f"{report.machine()}. Two machines share an index over SeaweedFS on the same machine; vectors are synthetic."
        " CPU of the process, without the store's: an edit of one document is published by one machine and fetched by"
        " the other; an idle look finds nothing new.\n\n"
    )
    lines = [[row[name] for name in store.HEADER] for row in rows]
    report.write("store", "One index for several machines", text + markdown_table(store.HEADER, lines))


def _embedding(sizes: list[int]) -> None:
    text = (
        f"{report.machine()}. The starter knowledge base, a handbook, and real Markdown repeated with variation. The"
        " embedder's CPU is what its threads used inside the model. Entities and the import of LanceDB go on beside"
        " it, so that its stage lasts longer than its own work would; spread evenly over the cores, that work would"
        " take the share of the wall time in the column before.\n\n"
    )
    sampled = (
        f"{report.machine()}. The same for an index that would take more than an hour: one text in {embedding.EVERY} is"
        f" embedded and its time counted {embedding.EVERY} times; everything else is done in full.\n\n"
    )
    small, large = embedding.corpora(sizes)
    for part, title, about, names in (
        ("embedding", "A full index with the default model", text, small),
        ("embedding-sampled", "A large index with the default model", sampled, large),
    ):
        rows = [embedding.measure(HOME / "real", name) for name in names]
        if rows:
            report.write(part, title, about + markdown_table(embedding.HEADS, rows))


def _vectors(sizes: list[int]) -> None:
    text = (
        f"{report.machine()}. {vectors.AT_ONCE * vectors.ROUNDS} passages of the starter knowledge base, by the default"
        " model. int8 activations are scaled over a whole batch, so that in a batch neighbours and padding change a"
        " vector; one text at a time they do not, and padding costs nothing.\n\n"
    )
    report.write("vectors", "Vectors beside the bare session", text + markdown_table(vectors.HEADS, vectors.measure()))


def _quality(sizes: list[int]) -> None:
    folders = [folder for folder in (SHARED / "beir" / "scifact", SHARED / "beir" / "nfcorpus") if folder.is_dir()]
    if not folders:
        print(f"No BEIR collections in {SHARED}: the quality part is left out.")
        return
    lines = [row for folder in folders for row in quality.rows(quality.measure(HOME, folder))]
    heads = ("collection", "configuration", "nDCG@10", "published", "Recall@100", "MRR@10", "queries", "ms per query")
    report.write(
        "quality",
        "Retrieval quality",
        QUALITY + markdown_table(heads, lines),
    )


def _sessions(sizes: list[int]) -> None:
    measured = sessions.measure(HOME)
    heads = (
        "sessions",
        "interactions",
        "errors",
        "p50 ms",
        "p95 ms",
        "page opens ms",
        "server CPU ms",
        "bare search() CPU ms",
        "ratio",
        "idle CPU ms per s",
    )
    lines = [
        [
            *(row[key] for key in ("sessions", "interactions", "errors")),
            *(f"{row[key]:.1f}" for key in ("p50_ms", "p95_ms", "open_ms", "cpu_ms", "bare_ms")),
            f"{row['cpu_ms'] / row['bare_ms']:.2f}x",
            f"{row['idle_ms']:.1f}",
        ]
        for row in measured["rows"]
    ]
    text = (
        f"{report.machine()}. The starter knowledge base, fresh questions, think time 2 s on average (0.2 s for one"
        " session). Server CPU is everything the process did per interaction, less what it does while nobody asks,"
        " which stands in the last column. Bare `search()` is a process that does nothing else, asked the same"
        " questions with the same pauses right after. From start to an interactive page with a warm search:"
        f" {measured['interactive_s']:.1f} s.\n\n"
    )
    report.write("sessions", "The app under load", text + markdown_table(heads, lines))


def _api(sizes: list[int]) -> None:
    measured = api.measure(HOME)
    heads = (
        "way",
        "requests",
        "errors",
        "p50 ms",
        "p95 ms",
        "a second",
        "CPU ms",
        "against one",
        "against as many",
        "kB",
    )
    alone, at_once = measured["bare_ms"], measured["crowd_ms"]
    lines = [
        [label, "", "", "", "", "", f"{spent:.2f}", f"{spent / alone:.2f}x", f"{spent / at_once:.2f}x", ""]
        for label, spent in (("bare `search()`, one caller", alone), (f"bare, {api.CLIENTS} callers at once", at_once))
    ]
    lines += [
        [
            f"`{row['path']}`",
            f"{row['requests']:,}",
            row["errors"],
            *(f"{row[key]:.0f}" for key in ("p50_ms", "p95_ms", "per_s")),
            f"{row['cpu_ms']:.2f}",
            f"{row['cpu_ms'] / alone:.2f}x",
            f"{row['cpu_ms'] / at_once:.2f}x",
            f"{row['kb']:.0f}",
        ]
        for row in measured["rows"]
    ]
    text = (
        f"{report.machine()}. The starter knowledge base, {api.CLIENTS} programs that ask as soon as they have their"
        f" answer, over connections that stay open, {api.QUESTIONS} questions whose vectors are cached on all sides."
        " Server CPU is everything the process did per request, less what it does while nobody asks; times are those"
        " of a queue, since the server never rests. `/api/v1/page/search` is what the Search page calls.\n\n"
    )
    report.write("api", "The HTTP API under load", text + markdown_table(heads, lines))


def _lcs(sizes: list[int]) -> None:
    measured = lcs.measure()
    text = f"Two passages of {lcs.WORDS} words, {report.machine()}; all ways agree: {measured['agree']}.\n\n"
    heads = ("way", "CPU p50 ms", "CPU against ours")
    report.write("lcs", "Longest common subsequence", text + markdown_table(heads, lcs.rows(measured)))


def _endurance(sizes: list[int]) -> None:
    run = endurance.measure(HOME)
    text = (
        f"{run['sessions']} tabs open at once, each asking about every {endurance.THINKING:.0f} seconds for"
        f" {run['minutes']:.0f} minutes, "
    )
    text += f"{endurance.AUTHORS} authors who merge, one full rebuild half-way, {report.machine()}. "
    text += (
        f"{run['questions']:,} questions, p50 {run['p50_ms']:.0f} ms, p95 {run['p95_ms']:.0f} ms; {run['merges']}"
        " merges; "
    )
    text += f"{run['errors']} errors, {run['tracebacks']} tracebacks in the log.\n\n"
    lines = [[when, *(f"{run[when][what]:,.0f}" for what in run[when])] for when in ("before", "after")]
    heads = ("", "memory MB", "threads", "open files", "workspace MB")
    report.write("endurance", "Ten minutes of everyday use", text + markdown_table(heads, lines))
    for error in run["why"]:
        print(error)


def _snippets(sizes: list[int]) -> None:
    folder = SHARED / "chunking_evaluation"
    if not folder.exists():
        return
    cards = snippets.measure(HOME, folder)
    text = (
        f"{len(cards):,} cards of the Search page whose passage holds at least one quoted answer of its question. A"
        " quote counts as shown "
    )
    text += (
        "when all its letters and digits stand in the card in one piece. Widths and weights were chosen on two of the"
        " five collections; "
    )
    text += (
        "the others are reported first. The first documents of a page have longer cards. As a peer: the beginning of"
        " the passage, as long as the card.\n\n"
    )
    heads = (
        "collections",
        "cards",
        "a quote shown whole",
        "95 %",
        "every quote shown",
        "beginning of the passage",
        "characters",
    )
    report.write("snippets", "Cards that show the answer", text + markdown_table(heads, snippets.rows(cards)))


def _confidence(sizes: list[int]) -> None:
    known = confidence.asked(HOME)
    measured = {name: confidence.measure(known, config) for name, config in confidence.CONFIGS.items()}
    words = {name: confidence.measure(known, config) for name, config in confidence.WORDS_ALONE.items()}
    heads = (
        "collection",
        "questions",
        "area, answer taken away",
        "area, other topic",
        "doubted though answerable",
        "passed, answer taken away",
        "passed, other topic",
    )
    text = "Every row by a model that was fitted on the other collections; errors at the threshold of the code.\n"
    for kind, fitted_on, names in (
        ("words and meaning", measured, confidence.SIGNS),
        ("words alone", words, confidence.OF_WORDS),
    ):
        every = list(fitted_on.values())
        model = confidence.fitted([arms for each in every for arms in each.values()], names)
        text += f"\n### {kind}\n\n" + markdown_table(("sign", "coefficient"), list(confidence.coefficient_rows(model)))
        for name, shown in fitted_on.items():
            held_out = confidence.held_out(every, shown, names)
            text += f"\n\n{name}:\n\n" + markdown_table(heads, list(confidence.rows(held_out)))
            text += "\n\n" + markdown_table(("threshold", *heads[4:]), list(confidence.curve_rows(held_out))) + "\n"
    for kind, (names, configs) in confidence.OF_FIRST.items():
        model = confidence.first_model(known, names, configs)
        text += (
            f"\n### the chance of the first hit, {kind}\n\n"
            + markdown_table(("sign", "coefficient"), list(confidence.coefficient_rows(model)))
            + "\n"
        )
    report.write("confidence", "Confidence", text)


def _doubt(sizes: list[int]) -> None:
    said, rankings, names = doubt.measure(HOME)
    text = "Said by the search as it is: where the first result is right, and where it is wrong.\n\n"
    text += markdown_table(("collection", "questions", "first is right", "first is wrong"), said)
    text += (
        "\n\nnDCG@10, and what each ranking gains; the family has a first result that lacks a word which a later one"
        " holds.\n\n"
    )
    text += markdown_table(("ranking", "all", "family", *names), rankings) + "\n"
    report.write("doubt", "Doubt about the first result", text)


def _people(sizes: list[int]) -> None:
    measured = people.measure(people.starter(HOME))
    text = (
        "Forty questions as people ask them (`kb/sample/questions.jsonl`), on the starter knowledge base: those with a"
        " right document first.\n\n"
    )
    text += markdown_table(("kind", *measured), list(people.rows(measured)))
    for name, answers in measured.items():
        lines = [[each.question, str(each.rank or "-"), each.first, each.why] for each in people.misses(answers)]
        text += f"\n\nMisses of {name}:\n\n" + markdown_table(("question", "rank", "found first", "why"), lines)
    report.write("people", "Questions as people ask them", text)


def _in_a_fresh_process(what: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.ray", str(HOME / "ray"), what]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])


def _ray(sizes: list[int]) -> None:
    measured = [_in_a_fresh_process(way) for way in ray.WAYS]
    spent = _in_a_fresh_process("serial")
    text = (
        f"{report.machine()}. A third of the starter knowledge base ({measured[0]['chunks']} chunks) with the default"
        " model, every build in a fresh process without known vectors. The three machines are processes of this one: a"
        " head that does no work and two raylets with one processor each; in the last row a worker process and then a"
        " whole raylet with its worker were killed with SIGKILL after the first vectors had come. Wall times contain"
        " the start of Ray and whatever else ran on the machine: two cores that are shared are no evidence for a"
        " speed-up. That the index is the same, what Ray adds in CPU, and that kills are survived is what these rows"
        " show.\n\n"
    )
    text += markdown_table(ray.HEADS, list(ray.rows(measured)))
    rest = spent["read, write, publish"] / spent["all"]
    text += "\n\nWhat workers take and what the builder does by itself, CPU of one build in one process:\n\n"
    shares = [[what, f"{value:.2f}", f"{100 * value / spent['all']:.1f} %"] for what, value in spent.items()]
    text += markdown_table(("part", "CPU s", "of all"), shares)
    text += (
        f"\n\nReading the repository, writing and publishing stay in the builder: {100 * rest:.1f} % of the CPU, so"
        f" that no number of workers makes this build more than {1 / rest:.0f} times faster."
    )
    report.write("ray", "Bulk work on Ray", text)


def _conversion(sizes: list[int]) -> None:
    folder = SHARED / "files"
    if not folder.exists():
        print(f"No files in {folder}: the conversion part is left out.")
        return
    scored = conversion.measure(folder)
    text = conversion.ABOUT + markdown_table(conversion.HEADS, [*conversion.BEFORE, *conversion.rows(scored)])
    text += "\n\nThe files with the lowest scores, and what each names to be looked at:\n\n"
    text += markdown_table(conversion.WORST_HEADS, conversion.worst(scored))
    text += "\n\nFour small files made of traps:\n\n"
    text += markdown_table(("file", "faults before", "faults"), conversion.traps(folder))
    report.write("conversion", "Files to Markdown", text)


def _statistics(sizes: list[int]) -> None:
    timing = statistics.measure()
    line = [
        f"{statistics.ALPHAS}",
        f"{statistics.QUERIES:,}",
        "2,000",
        f"{timing.cpu50 / 1000:.2f}",
        f"{timing.wall50 / 1000:.2f}",
    ]
    heads = ("alphas", "queries", "resamples", "CPU s", "wall s")
    report.write(
        "statistics", "Bootstrap intervals of a sweep", f"{report.machine()}.\n\n" + markdown_table(heads, [line])
    )


def _disagreements(sizes: list[int]) -> None:
    pairs = disagreements.judged()
    heads = ("pairs", "precision (95 %)", "recall (95 %)")
    text = disagreements.ABOUT.format(pairs=len(pairs), disagree=sum(pair.label == "disagree" for pair in pairs))
    for split, title in (("test", "Test documents"), ("tune", "Tuning documents")):
        mine = [pair for pair in pairs if pair.split == split]
        text += f"\n\n### {title}\n\n" + markdown_table(heads, list(disagreements.rows(mine)))
    missed = [
        pair for pair in pairs if pair.base == disagreements.STARTER and pair.label == "disagree" and not pair.clash
    ]
    text += "\n\n### Missed, from the starter base\n\n" + markdown_table(
        ("kind", "one says", "the other says"),
        [[pair.kind, pair.mine, pair.theirs] for pair in missed if pair.split == "test"][:10],
    )
    bases = dict.fromkeys(pair.base for pair in pairs)
    costs = (
        "base",
        "documents",
        "claims",
        "found",
        "CPU s to read",
        "CPU s for all pairs",
        "CPU ms for the longest document",
    )
    every = {disagreements.folder(base) for base in bases} | {f for f in (SHARED / "markdown").glob("*") if f.is_dir()}
    folders = sorted(every, key=lambda folder: folder.name)
    heads = (
        "base",
        "documents",
        "found as it is",
        "planted among the first 20 (95 %)",
        "planted that were found (95 %)",
    )
    rows = [planted.row(folder.name, disagreements.load(folder)) for folder in folders]
    text += "\n\n### Whole bases\n\n" + disagreements.READ + "\n\n" + markdown_table(heads, rows)
    text += "\n\n### Cost\n\n" + markdown_table(costs, [disagreements.cost(folder) for folder in folders])
    report.write("disagreements", "Facts that disagree", text)


def _verdicts(sizes: list[int]) -> None:
    text = (
        f"{verdicts.PAIRS:,} simulated pairs of runs per line, and how often each verdict is given. *Wrong* is a"
        " difference where there is none, the other sign, or "
    )
    text += (
        "a bound below the true difference: about 5 % at most. A column's standard error is at most 0.5 points where 5"
        " % is the truth. With 93 % ties, "
    )
    text += "a difference of .05 cannot be.\n\n"
    heads = ("ties", "true difference", "questions", "better", "worse", "no difference larger than", "open", "wrong")
    report.write("verdicts", "How often a verdict is wrong", text + markdown_table(heads, list(verdicts.rows())))


def _sweep(sizes: list[int]) -> None:
    lines = [
        [what, f"{spent.cpu50:.0f}", f"{spent.cpu95:.0f}", f"{spent.wall50:.0f}"] for what, spent in sweep.measure()
    ]
    text = f"{sweep.QUESTIONS:,} questions, two legs to depth {sweep.DEPTH}, nDCG@10 of documents, {report.machine()}. "
    text += "One move of a slider is normalisation, fusion, ranks, the measure and its interval.\n\n"
    report.write(
        "sweep",
        "Sliders over a whole query set",
        text + markdown_table(("what", "CPU p50 ms", "CPU p95", "wall p50"), lines),
    )


def _playground(sizes: list[int]) -> None:
    largest = sorted(size for size in sizes if size <= 20_000)[-1:]
    measured = [times for size in (0, *largest) for times in playground.measure(HOME, size)]
    heads = (
        "corpus",
        "chunks",
        "reranking",
        "search ms",
        "slider ms",
        "four columns ms",
        "slowest column ms",
        "slider : search",
        "four : slowest",
    )
    text = (
        f"CPU, medians, ranking and drawing on the server together, {report.machine()}. A search is a new run of three"
        " columns; a slider move turns alpha in one of the three, in the reranked one where there is one. Four columns"
        " and the slowest of them alone are timed after their passages were read once. "
    )
    text += (
        "The vectors of the synthetic corpus are made up, but questions are embedded, and passages reranked, by the"
        " real models: a question that costs nothing would make every column too cheap.\n\n"
    )
    report.write(
        "playground", "The playground", text + markdown_table(heads, [playground.rows(times) for times in measured])
    )


def _default(sizes: list[int]) -> None:
    rows = default.measure(HOME, sizes)
    lines = [
        [name, f"{chunks:,}", f"{plain.cpu50:.2f}", f"{ours.cpu50:.2f}", f"{ours.cpu50 / plain.cpu50:.2f}x"]
        for name, chunks, plain, ours in rows
    ]
    text = (
        f"{report.machine()}. Up to {default.ASKED} questions (of the starter knowledge base those that it answers),"
        f" {default.TURNS} times in turns, without their vectors: the recommended configuration (documents, titles,"
        " paths, copies) beside `convex-0.5`.\n\n"
    )
    heads = ("knowledge base", "chunks", "plain fusion: CPU p50 ms", "recommended", "ratio")
    report.write("default", "The recommended search beside plain fusion", text + markdown_table(heads, lines))


def _fusion(sizes: list[int]) -> None:
    measured = fusing.measure()

    def under(at: int) -> str:
        return ", ".join(row[0] for row in measured if row[at].cpu50 < 1.0) or "none"

    lines = [
        [name, missing, *(f"{value:.2f}" for timing in timings for value in (timing.cpu50, timing.cpu95))]
        for name, missing, *timings in measured
    ]
    text = (
        f"2 x {fusing.LEG:,} candidates, {fusing.SHARED} of them found by both legs, {report.machine()}: normalisation,"
        " fusion and ranking. "
    )
    text += (
        "The first fusion of a query also lays the candidates out as arrays. Where a missing score is exact, each leg"
        f" scores all 1,500. Below the target of 1 ms: {under(3)}; with the laying out: {under(2)}.\n\n"
    )
    heads = (
        "configuration",
        "missing scores",
        "laid out and fused: CPU p50 ms",
        "CPU p95",
        "fused: CPU p50 ms",
        "CPU p95",
    )
    report.write("fusion", "Fusion", text + markdown_table(heads, lines))


def _readers(sizes: list[int]) -> None:
    rows = [readers.row(readers.measure(HOME, size)) for size in sizes if size <= readers.BUILT]
    report.write("readers", "Readers", readers.about(report.machine()) + markdown_table(readers.HEADS, rows))


def _methods(sizes: list[int]) -> None:
    folders = [folder for folder in (SHARED / "beir" / "scifact", SHARED / "beir" / "nfcorpus") if folder.is_dir()]
    if not folders:
        print(f"No BEIR collections in {SHARED}: the methods part is left out.")
        return
    collections = [methods.measure(HOME, folder) for folder in folders]
    report.write("methods", "Every method", methods_report.text(collections, report.machine()))
    two_hops = SHARED / "multihop" / "hotpotqa_200"
    if two_hops.is_dir():
        hops = multihop.measure(HOME, two_hops)
        report.write("multihop", "Two hops", methods_report.hops(hops, report.machine()))


if __name__ == "__main__":
    main()
