"""Synonyms, pinned answers and suggestions on the command line."""

from __future__ import annotations

from typing import Annotated

from core import strict
from core.curation.words.pins import Pin
from core.entrypoints.record import SOME, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.services.reviews.authoring import Target
from core.services.reviews.changes import Change

ChangeInput = Annotated[int, Option("into this open change (default: a new one)", metavar="ID")]


@form
class ShowOptions:
    change: Annotated[int, Option("as this change has them", metavar="ID")] = 0


@form
class AddSynonymsOptions:
    change: ChangeInput = 0
    title: Annotated[str, Option("of a new change")] = ""
    message: Annotated[str, Option("why")] = ""
    text: Annotated[tuple[str, ...], Argument("TEXT", '"PTO = vacation", or "laptop -> notebook computer"', nargs=SOME)]


@form
class RemoveOptions:
    change: ChangeInput = 0
    title: Annotated[str, Option("of a new change")] = ""
    message: Annotated[str, Option("why")] = ""
    text: Annotated[str, Argument("TEXT", "as `words list` shows it")]


@form
class PinOptions:
    change: ChangeInput = 0
    title: Annotated[str, Option("of a new change")] = ""
    message: Annotated[str, Option("why")] = ""
    question: Annotated[str, Argument("QUESTION")]
    document: Annotated[str, Option("the document, by path or id", metavar="PATH")]
    section: Annotated[str, Option("the heading of its section")] = ""
    also: Annotated[tuple[str, ...], Option("the same in other words", metavar="QUESTION")] = ()


@form
class UnpinOptions:
    change: ChangeInput = 0
    title: Annotated[str, Option("of a new change")] = ""
    message: Annotated[str, Option("why")] = ""
    question: Annotated[str, Argument("QUESTION")]


@command("words list", "the synonyms and pins of the knowledge base, or of a change", "words.rules.synonyms")
def show(call: CommandCall, form: ShowOptions) -> Shown:
    actor, rules = call.actor, call.app.words.rules
    problems = rules.problems(actor) if not form.change else ()
    synonyms = () if problems else rules.synonyms(actor, form.change)
    pins = () if problems else rules.pins(actor, form.change)
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
    return Shown(value, lines or ["No synonyms and no pins yet."])


@command("words acronyms", "acronyms that documents explain and no synonym knows", "words.rules.acronyms")
def acronyms(call: CommandCall) -> Shown:
    found = call.app.words.rules.acronyms(call.actor)
    rows = [(one.synonym.text, one.documents, one.path, one.sentence[:100]) for one in found]
    lines = table(rows, ("synonym", "documents", "first in", "sentence"))
    return Shown(list(found), lines if rows else ["No document explains an acronym that the synonyms lack."])


@command("words add", "propose words that mean the same", "words.rules.add")
def add_synonyms(call: CommandCall, form: AddSynonymsOptions) -> Shown:
    return _saved(call.app.words.rules.add(call.actor, form.text, _target(form)))


@command("words remove", "propose to take a synonym out", "words.rules.remove")
def remove(call: CommandCall, form: RemoveOptions) -> Shown:
    return _saved(call.app.words.rules.remove(call.actor, form.text, _target(form)))


@command("words pin", "propose a document that is shown first for a question", "words.rules.pin")
def pin(call: CommandCall, form: PinOptions) -> Shown:
    wanted = Pin(form.question, form.document, form.section, tuple(form.also))
    return _saved(call.app.words.rules.pin(call.actor, wanted, _target(form)))


@command("words unpin", "propose to take a pin out", "words.rules.unpin")
def unpin(call: CommandCall, form: UnpinOptions) -> Shown:
    return _saved(call.app.words.rules.unpin(call.actor, form.question, _target(form)))


def _target(form: AddSynonymsOptions | RemoveOptions | PinOptions | UnpinOptions) -> Target:
    return Target(form.change, form.title, form.message)


def _saved(change: Change) -> Shown:
    value = {"change": change.id, "title": change.title, "state": change.state, "head": change.head}
    return Shown(
        value, [f"Change {change.id}: {change.title}", f"Ask for review: python -m core change submit {change.id}"]
    )
