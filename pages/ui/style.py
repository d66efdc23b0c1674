"""Colours, badges, and how dates and counts are written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import streamlit as st

from core.curation.document.statuses import Freshness
from core.retrieval.fusions import FUSIONS
from core.retrieval.legs import LEGS
from core.types import Hit, SearchConfig

ASSETS = Path(__file__).parent / "assets"

# Okabe and Ito's palette, safe for colour-blind readers, in light and dark.
GREY = "#7A8794"
STAGES = {  # title and colour; a leg brings its own
    "embed": ("Embed the question", "#56B4E9"),
    "hyde": ("Imagine an answer", "#D55E00"),
    "alpha": ("Weigh", "#9AA5AE"),
    "fuse": ("Fuse", GREY),
    "cross-encoder": ("Read with the question", "#882255"),
    "rerank": ("Rerank", "#CC79A7"),
    "cut": ("Collect", "#B8C0C8"),
}
CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
# None of these is a colour of a leg or a stage; white letters on them can be read, in light and dark.
CONFIGURATIONS = ("#8457C9", "#6B7A00", "#5E7387", "#9A6243", "#B5447A", "#00838F")

TYPES = {
    "sop": "SOP",
    "faq": "FAQ",
    "policy": "Policy",
    "runbook": "Runbook",
    "glossary": "Glossary",
    "reference": "Reference",
}
_DARK_ABOVE = (
    '[data-testid="stPopoverBody"], [role="dialog"] { color-scheme: dark }'  # they lie outside the app's own scheme
)
STATUSES = {
    "approved": "Approved",
    "imported": "Imported",
    "superseded": "Superseded",
    "retired": "Retired",
    "draft": "Draft",
}
FRESHNESS = {
    "current": "Current",
    "due soon": "Review due soon",
    "overdue": "Overdue for review",
    "upcoming": "Not yet effective",
    "undated": "No review date",
}


def type_name(doc_type: str) -> str:
    return TYPES.get(doc_type, doc_type.capitalize() or "Document")


def fused_score(score: float, config: SearchConfig) -> str:
    """A fused score with the digits of its fusion.

    >>> fused_score(1 / 61, SearchConfig(fusion="rrf")), fused_score(0.5, SearchConfig(fusion="convex"))
    ('0.0164', '0.500')
    """
    return f"{score:.{FUSIONS[config.fusion].decimals}f}"


def contributions(hit: Hit, most: int = 4) -> str:
    """What moved a hit most where a learned ranker scored it; nothing elsewhere.

    >>> reasons = {"title match": 0.5, "length": -0.25}
    >>> contributions(Hit(1, "d", "p", "t", (), "c", 0, 1, "", 1.0, {}, "approved", 1, reasons=reasons))
    ' Because of: title match +0.50, length -0.25.'
    """
    strongest = sorted(hit.reasons.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:most]
    said = ", ".join(f"{name} {points:+.2f}" for name, points in strongest)
    return f" Because of: {said}." if said else ""


def standing(status: str) -> list[dict[str, str]]:
    """The badge of a document that holds: approved by people, or imported and not approved yet."""
    tones = {"approved": "good", "imported": "note"}
    return [{"text": STATUSES[status], "tone": tones[status]}] if status in tones else []


def badges(status: str, freshness: Freshness, effective: str) -> list[dict[str, str]]:
    """Warnings about a document; none when it holds, is in effect and not due for review."""
    badges = []
    if status not in ("approved", "imported"):
        badges.append({"text": STATUSES.get(status, status.capitalize()), "tone": "bad"})
    if freshness.state == "upcoming":
        badges.append({"text": f"Effective from {day(effective)}", "tone": "note"})
    elif freshness.state == "overdue":
        badges.append({"text": "Overdue for review", "tone": "warn"})
    elif freshness.state == "due soon":
        badges.append({"text": f"Review due in {count(freshness.days, 'day')}", "tone": "note"})
    return badges


def day(value: date | str) -> str:
    """A date as people write it.

    >>> day("2026-11-05")
    '5 Nov 2026'
    """
    when = date.fromisoformat(value) if isinstance(value, str) else value
    return f"{when.day} {when:%b %Y}"


def moment(stamp: str) -> str:
    """A time with its zone.

    >>> moment("2026-11-05T14:03:00+00:00")
    '5 Nov 2026, 14:03 UTC'
    """
    when = datetime.fromisoformat(stamp)
    zone = when.strftime("%Z").replace("UTC+00:00", "UTC") or "UTC"
    return f"{when.day} {when:%b %Y, %H:%M} {zone}"


def table(lines: int) -> int:
    """How high a table is, in pixels: as its lines, with no empty ones below, up to most of a screen.

    >>> table(1), table(500)
    (73, 560)
    """
    return min(560, 35 * (lines + 1) + 3)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "document"), count(1200, "day"), count(2, "query")
    ('1 document', '1,200 days', '2 queries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith(("ry", "ty", "ly")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def duration(ms: float) -> str:
    """A time as columns show it.

    >>> duration(4032.1), duration(12.4), duration(0.2)
    ('4.0 s', '12 ms', 'under 1 ms')
    """
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.0f} ms" if ms >= 1 else "under 1 ms"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters.

    >>> shortened("Record retention", 8), shortened("Short", 8)
    ('Record …', 'Short')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def stage_title(name: str) -> str:
    """What people call a stage of a search.

    >>> stage_title("dense"), stage_title("cut")
    ('Meaning (vectors)', 'Collect')
    """
    return LEGS[name].title if name in LEGS else STAGES.get(name, (name, GREY))[0]


def stage_colour(name: str) -> str:
    """The colour of a stage, the same wherever it is drawn."""
    return LEGS[name].colour if name in LEGS else STAGES.get(name, (name, GREY))[1]


def colours(names: Sequence[str]) -> dict[str, str]:
    """One colour per configuration, the same in every chart of a page.

    >>> colours(["BM25", "Vectors", "BM25"])
    {'BM25': '#8457C9', 'Vectors': '#6B7A00'}
    """
    unique = dict.fromkeys(names)
    return {name: CONFIGURATIONS[n % len(CONFIGURATIONS)] for n, name in enumerate(unique)}


def page_style() -> None:
    """The app's own CSS on top of the theme: a static file, nothing from users."""
    dark = _DARK_ABOVE if st.context.theme.type == "dark" else ""
    st.html(f"<style>{(ASSETS / 'app.css').read_text()}{dark}</style>")
