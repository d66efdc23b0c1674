"""Whether a card shows the words that answer: questions with quoted answers, asked on the Search page."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.access import SYSTEM
from core.bootstrap import App, build
from core.curation.text.render import plain
from core.evaluation.statistics import wilson_lower, wilson_upper
from core.services.search.page import PagePassage
from core.settings import load

TUNED = ("chatlogs", "wikitexts")  # the widths and weights of snippets were chosen on these
DOCUMENT = 8_000  # characters; the collection's files are cut between lines into documents of this length


@dataclass(frozen=True)
class QuotedAnswer:
    """A quote that answers a question, and where it stands."""

    doc: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class ShownCard:
    """A passage on the page that holds quotes of its question: how many, how many whole ones its card shows,
    and its rank.
    """

    corpus: str
    rank: int
    quotes: int
    shown: int
    begun: int  # quotes that the first characters of the passage would show, as many as the card has
    width: int


def measure(home: Path, folder: Path) -> list[ShownCard]:
    """Every card whose passage holds a quoted answer, over all questions."""
    app, starts = _indexed(home / "snippets", folder)
    cards: list[ShownCard] = []
    for corpus, question, quotes in _questions(folder, starts):
        found = app.search.page.find(question)
        passages = [(n, passage) for n, group in enumerate(found.groups, 1) for passage in group.passages]
        cards += (card for n, passage in passages if (card := _card(corpus, n, passage, quotes)))
    return cards


def _indexed(home: Path, folder: Path) -> tuple[App, dict[str, list[int]]]:
    files: dict[str, bytes] = {}
    starts: dict[str, list[int]] = {}
    for file in sorted((folder / "corpora").glob("*.md")):
        text, at = file.read_text(encoding="utf-8"), 0
        while at < len(text):
            starts.setdefault(file.stem, []).append(at)
            cut = text.find("\n", at + DOCUMENT) + 1 or len(text)
            files[f"{file.stem}/{at:07}.md"] = text[at:cut].encode()
            at = cut
    app = build(load(home=home))
    app.platform.workspace.create()
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(SYSTEM, files, [], "Documents with questions")
    app.index.builder.build(app.platform.settings.profile())
    return app, starts


def _questions(folder: Path, starts: Mapping[str, list[int]]) -> Iterator[tuple[str, str, list[QuotedAnswer]]]:
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            corpus = row["corpus_id"]
            quotes = []
            for quote in json.loads(row["references"]):
                at = max(start for start in starts[corpus] if start <= quote["start_index"])
                place = (quote["start_index"] - at, quote["end_index"] - at)
                quotes.append(QuotedAnswer(f"{corpus}/{at:07}", *place, quote["content"]))
            yield corpus, row["question"], quotes


def _card(corpus: str, rank: int, passage: PagePassage, quotes: list[QuotedAnswer]) -> ShownCard | None:
    """The card of a passage that holds at least one of the quotes, else nothing."""
    hit = passage.hit
    held = [_letters(q.text) for q in quotes if q.doc == hit.doc and hit.start <= q.start and q.end <= hit.end]
    held = [quote for quote in held if quote in _letters(plain(hit.text))]
    if not held:
        return None
    card = "".join(segment.text for segment in passage.snippet.segments)
    begin = _letters(plain(hit.text)[: len(card)])
    shown = _letters(card)
    return ShownCard(corpus, rank, len(held), sum(q in shown for q in held), sum(q in begin for q in held), len(card))


def _letters(text: str) -> str:
    """Letters and digits alone: markup, line ends and dots do not count."""
    return re.sub(r"\W+", "", text.casefold())


def rows(cards: list[ShownCard]) -> list[list[str]]:
    """Lines of the table: collections that nothing was chosen on, then the others."""
    fresh = [card for card in cards if card.corpus not in TUNED]
    parts = {
        "not tuned on": fresh,
        "… in the first three documents": [card for card in fresh if card.rank <= 3],
        "… further down": [card for card in fresh if card.rank > 3],
        "tuned on": [card for card in cards if card.corpus in TUNED],
    }
    return [_row(name, part) for name, part in parts.items() if part]


def _row(name: str, cards: list[ShownCard]) -> list[str]:
    n = len(cards)
    some, every, begun = (
        sum(card.shown > 0 for card in cards),
        sum(card.shown == card.quotes for card in cards),
        sum(card.begun > 0 for card in cards),
    )
    width = sum(card.width for card in cards) / n
    interval = f"{wilson_lower(some, n):.1%} to {wilson_upper(some, n):.1%}"
    return [name, f"{n:,}", f"{some / n:.1%}", interval, f"{every / n:.1%}", f"{begun / n:.1%}", f"{width:.0f}"]
