"""A walk as numbers: JSON for programs, a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from bench.cluster.faults import Happened
from bench.cluster.people import Trouble

_AFTER = 15.0  # seconds after a program runs again in which an error still counts as its consequence


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the others does not exceed.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.5), percentile([], 0.5)
    (2.0, 0.0)
    """
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, round(share * len(ordered)) - 1))] if ordered else 0.0


def latency(values: Sequence[float]) -> dict[str, float]:
    """Milliseconds: the median, and what the slow ones took."""
    found = {f"p{round(100 * share)}": percentile(values, share) for share in (0.5, 0.95, 0.99)}
    return {name: round(1000 * value, 1) for name, value in {**found, "max": max(values, default=0.0)}.items()}


def longest_gap(times: Sequence[float], fault: Happened | None = None) -> float:
    """The longest time between two events; of those that touch a fault, if one is named.

    >>> longest_gap([5.0, 1.0, 2.0]), longest_gap([1.0, 2.0, 5.0], Happened("", "", 0.0, 1.5))
    (3.0, 1.0)
    """
    ordered = sorted(times)
    near = [gap for gap in pairwise(ordered) if fault is None or (gap[0] <= fault.again and gap[1] >= fault.at)]
    return max((end - start for start, end in near), default=0.0)


def cause(trouble: Trouble, faults: Sequence[Happened]) -> str:
    """The fault that an error belongs to: the last one that began before it and was not long over.

    >>> down = Happened("kill -9 of an app node", "node-2", 10.0, 14.0)
    >>> cause(Trouble(12.0, "ann", "merge", 0, ""), [down]), cause(Trouble(60.0, "ann", "merge", 0, ""), [down])
    ('kill -9 of an app node', 'none of the faults')
    """
    near = [fault for fault in faults if fault.at <= trouble.at <= fault.again + _AFTER]
    return near[-1].words if near else "none of the faults"


def counted(troubles: Sequence[Trouble], faults: Sequence[Happened]) -> list[dict[str, Any]]:
    """Errors by cause, by what was being done, and by how they were put."""
    counts = Counter((cause(one, faults), one.doing, one.status, one.sentence) for one in troubles)
    return [
        {"cause": why, "doing": doing, "status": status, "sentence": sentence, "times": times}
        for (why, doing, status, sentence), times in counts.most_common()
    ]


def clean(report: dict[str, Any]) -> bool:
    """Whether nothing was lost, doubled or mixed, and every node ended up as a fresh build."""
    merges, searches, end = report["merges"], report["searches"], report["end"]
    wrong = (
        merges["lost"] + merges["twice"] + searches["mixed"] + end["doubled_chunks"] + sum(end["differing"].values())
    )
    return bool(merges["acknowledged"]) and not wrong and report["settled_after"] >= 0


def markdown(report: dict[str, Any]) -> str:
    """The walk in two tables."""
    merges, searches = report["merges"], report["searches"]
    rows = [
        ("people, searches a second, minutes", f"{report['people']}, {report['rate']:g}, {report['minutes']:g}"),
        ("merges acknowledged", merges["acknowledged"]),
        (
            "of these not in main / not in the database / text missing",
            f"{merges['not_in_main']} / {merges['not_in_database']} / {merges['without_text']}",
        ),
        ("changes merged twice", merges["twice"]),
        ("searches answered", f"{searches['answered']:,} ({searches['per_second']:.1f} a second)"),
        ("searches given up, every connection being busy for half a minute", f"{searches['gave_up']:,}"),
        (
            "passages checked against the commit that their answer names, not in it",
            f"{searches['passages']:,}, {searches['mixed']}",
        ),
        ("chunks twice in an answer", report["end"]["doubled_chunks"]),
        ("search, milliseconds p50 / p95 / p99 / max", _spread(searches["ms"])),
        ("merge, milliseconds p50 / p95 / p99 / max", _spread(report["doings"].get("merge", {}).get("ms"))),
        (
            "from a merge until a node serves it, seconds p50 / p95 / max",
            " / ".join(f"{report['freshness'][name]:.1f}" for name in ("p50", "p95", "max")),
        ),
        ("longest time without a search / without a write, seconds", f"{report['no_search']} / {report['no_write']}"),
        ("documents read without one's own line that was merged", report["stale"]),
        ("errors that people saw", report["errors"]["people"]),
        ("errors that searches saw", report["errors"]["searches"]),
        (
            "steps in real browsers / that failed",
            (
                f"{sum(one['did'] for one in report['browsers'])} /"
                f" {sum(len(one['failed']) for one in report['browsers'])}"
            ),
        ),
        (
            "questions on which a node differs from a fresh build",
            " / ".join(
                f"{name}: {found} of {report['end']['questions']}" for name, found in report["end"]["differing"].items()
            ),
        ),
    ]
    lines = ["| What | Seen |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows), ""]
    lines += ["| Error | Doing | Cause | Times |", "|---|---|---|---|"]
    lines += [
        f"| {one['status'] or 'connection'} {one['sentence'][:110]} | {one['doing']} | {one['cause']} |"
        f" {one['times']} |"
        for one in report["errors"]["listed"]
    ]
    lines += [
        "",
        "| Fault | At second | Ran again after | Longest without a search | Without a write |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {one['words']} | {one['at']:.0f} | {one['again'] - one['at']:.1f} s | {one['no_search']} s |"
        f" {one['no_write']} s |"
        for one in report["faults"]
    ]
    return "\n".join(lines) + "\n"


def _spread(found: dict[str, float] | None) -> str:
    return " / ".join(f"{found[name]:,.0f}" for name in ("p50", "p95", "p99", "max")) if found else "none"
