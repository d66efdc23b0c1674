"""Synonyms, pinned answers and suggestions on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from core import strict
from core.curation.words.pins import Pin
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.services.reviews.authoring import Target
from core.services.reviews.changes import Change
from core.settings import Settings


def register(add: Any) -> None:
    words = add.group_of("words")
    listing = words("list", show, "the synonyms and pins of the knowledge base, or of a change")
    listing.add_argument("--change", type=int, default=0, metavar="ID", help="as this change has them")
    words("acronyms", acronyms, "acronyms that documents explain and no synonym knows")
    adding = _proposing(words, "add", add_synonyms, "propose words that mean the same")
    adding.add_argument("text", nargs="+", metavar="TEXT", help='"PTO = vacation", or "laptop -> notebook computer"')
    removing = _proposing(words, "remove", remove, "propose to take a synonym out")
    removing.add_argument("text", metavar="TEXT", help="as `words list` shows it")
    pinning = _proposing(words, "pin", pin, "propose a document that is shown first for a question")
    pinning.add_argument("question", metavar="QUESTION")
    pinning.add_argument("--document", required=True, metavar="PATH", help="the document, by path or id")
    pinning.add_argument("--section", default="", help="the heading of its section")
    pinning.add_argument("--also", action="append", default=[], metavar="QUESTION", help="the same in other words")
    unpinning = _proposing(words, "unpin", unpin, "propose to take a pin out")
    unpinning.add_argument("question", metavar="QUESTION")


def _proposing(words: Any, name: str, run: Any, about: str) -> ArgumentParser:
    command: ArgumentParser = words(name, run, about)
    command.add_argument(
        "--change", type=int, default=0, metavar="ID", help="into this open change (default: a new one)"
    )
    command.add_argument("--title", default="", help="of a new change")
    command.add_argument("--message", default="", help="why")
    return command


def show(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor, house = acting(app, options), app.words.house
    problems = house.problems(actor) if not options.change else ()
    synonyms = () if problems else house.synonyms(actor, options.change)
    pins = () if problems else house.pins(actor, options.change)
    rows = [(state.pin.question, state.pin.document, state.pin.section, state.problem) for state in pins]
    lines = [
        *(f"! {problem}" for problem in problems),
        *(synonym.text for synonym in synonyms),
        *(table(rows, ("pinned question", "document", "section", "")) if rows else []),
    ]
    value = {
        "synonyms": [{"text": synonym.text, **strict.plain(synonym)} for synonym in synonyms],
        "pins": [{**strict.plain(state.pin), "title": state.title, "problem": state.problem} for state in pins],
        "problems": list(problems),
    }
    terminal.show(value, lines or ["No synonyms and no pins yet."])
    return 0


def acronyms(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    found = app.words.house.acronyms(acting(app, options))
    rows = [(one.synonym.text, one.documents, one.path, one.sentence[:100]) for one in found]
    lines = table(rows, ("synonym", "documents", "first in", "sentence"))
    terminal.show(list(found), lines if rows else ["No document explains an acronym that the synonyms lack."])
    return 0


def add_synonyms(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _saved(app.words.house.add(acting(app, options), options.text, _target(options)), terminal)


def remove(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _saved(app.words.house.remove(acting(app, options), options.text, _target(options)), terminal)


def pin(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    wanted = Pin(options.question, options.document, options.section, tuple(options.also))
    return _saved(app.words.house.pin(acting(app, options), wanted, _target(options)), terminal)


def unpin(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _saved(app.words.house.unpin(acting(app, options), options.question, _target(options)), terminal)


def _target(options: Namespace) -> Target:
    return Target(options.change, options.title, options.message)


def _saved(change: Change, terminal: Terminal) -> int:
    value = {"change": change.id, "title": change.title, "state": change.state, "head": change.head}
    terminal.show(
        value, [f"Change {change.id}: {change.title}", f"Ask for review: python -m core change submit {change.id}"]
    )
    return 0
