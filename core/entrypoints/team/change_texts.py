"""The texts of a change on the command line: what it changes, what is new to you, what is in conflict."""

from __future__ import annotations

from typing import Annotated

from core.curation.review.conflicts import Hunk, combined
from core.curation.review.diffs import Diff, Marks
from core.entrypoints.contracts.change_json import collision_json, compared
from core.entrypoints.record import Argument, CommandCall, Option, Shown, UseCaseCall, command, form, operation


@form
class DiffOptions:
    change: Annotated[int, Argument("ID")]
    since_look: Annotated[bool, Option("only what changed since your last look")] = False


@form
class ViewedOptions:
    change: Annotated[int, Argument("ID")]
    path: Annotated[tuple[str, ...], Option("a document of the change")] = ()
    unmark: Annotated[bool, Option("take the mark away", flags=("--not",))] = False


@form
class ConflictsOptions:
    change: Annotated[int, Argument("ID")]


@operation("change_diff", "GET /changes/{change}/diff", "ChangeDiff")
@command("change diff", "what it changes, line by line; remembers that you looked", "reviews.looks.look")
def diff(call: UseCaseCall, form: DiffOptions) -> Shown:
    """What a change does, line by line; remembers that the account looked."""
    value, diffs = compared(call.app, call.actor, form.change, since_look=form.since_look)
    lines = [line for path, rows in diffs.items() for line in (path, *_lines(rows))]
    return Shown(value, lines or ["Nothing changed since your last look."])


def _lines(rows: Diff) -> list[str]:
    lines = []
    for row in rows.rows:
        lines += [f"- {row.left:>5}  {_text(row.before)}"] if row.kind in ("removed", "changed") else []
        lines += [f"+ {row.right:>5}  {_text(row.after)}"] if row.kind in ("added", "changed") else []
    return lines


def _text(marks: Marks) -> str:
    return "".join(words for _, words in marks)


@command("change viewed", "mark documents as viewed until their text changes; list the marks", "reviews.changes.show")
def viewed(call: CommandCall, form: ViewedOptions) -> Shown:
    actor, looks = call.actor, call.app.reviews.looks
    for path in form.path:
        looks.mark(actor, form.change, path, viewed=not form.unmark)
    marked = looks.viewed(actor, form.change)
    paths = [edit.path for edit in call.app.reviews.changes.show(actor, form.change).documents]
    return Shown({path: path in marked for path in paths}, [f"{'x' if p in marked else ' '} {p}" for p in paths])


@operation("change_conflicts", "GET /changes/{change}/conflicts", "[ConflictAnswer]")
@command("change conflicts", "what must be decided before it can be merged", "reviews.merger.collisions")
def conflicts(call: UseCaseCall, form: ConflictsOptions) -> Shown:
    """What must be decided before it can be merged."""
    collisions = call.app.reviews.merger.collisions(call.actor, form.change)
    lines = []
    for collision in collisions:
        lines.append(f"{collision.path}{' (not in ' + collision.gone + ')' if collision.gone else ''}")
        for n, part in enumerate([part for part in collision.parts if part.conflict], 1):
            lines += _sides(n, part)
    if collisions:
        seen = f"--head {collisions[0].head[:12]} --main {collisions[0].main[:12]}"
        lines.append(f"Decide with: python -m core change solve {form.change} {seen} --choice ...")
    return Shown([collision_json(collision) for collision in collisions], lines or ["There is no conflict."])


def _sides(number: int, part: Hunk) -> list[str]:
    both = combined(part)
    sides = {"before": part.base, "mine": part.mine, "theirs": part.theirs}
    sides |= {"both": tuple(both.split("\n"))} if both is not None else {}
    marked = [f"{name + ':':8}{line}" for name, lines in sides.items() for line in lines]
    return [f"{f'  {number}. ' if not n else '     '}{line}" for n, line in enumerate(marked)]
