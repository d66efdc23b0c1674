"""Templates: what a good document of each type answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

REVIEW = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Template:
    """A document type, its purpose, and a body with hints to overwrite."""

    doc_type: str
    name: str
    about: str
    answers: tuple[str, ...]
    body: str


def fill(template: Template, title: str, owner: str, today: date) -> str:
    """A template as a document, with frontmatter and empty sections.

    >>> fill(TEMPLATES["sop"], 'Count "A" bins', "Stock control", date(2026, 11, 15)).splitlines()[1:5]
    ['title: "Count \\\\"A\\\\" bins"', 'doc_type: sop', 'status: approved', 'owner: "Stock control"']
    """
    lines = ["---", f"title: {_quoted(title)}", f"doc_type: {template.doc_type}", "status: approved"]
    lines += [f"owner: {_quoted(owner)}", "tags: []", f"effective_date: {today}", f"review_due: {today + REVIEW}"]
    lines += ["answers:", *(f"  - {_quoted(question)}" for question in template.answers), "---"]
    return "\n".join(lines) + f"\n# {_flat(title)}\n\n{template.body.strip()}\n"


def begin(template: Template, owner: str, today: date) -> str:
    """A template without title, as the editor opens it.

    >>> begin(TEMPLATES["faq"], "Ann", date(2026, 11, 15)).splitlines()[:3]
    ['---', 'doc_type: faq', 'status: approved']
    """
    head, _, body = fill(template, "?", owner, today).partition("\n# ?\n")
    return head.replace('title: "?"\n', "", 1) + "\n" + body


def begin_answering(question: str, owner: str, today: date) -> str:
    """The template for questions without title, on its way to answer one: it is listed, and the first heading.

    >>> text = begin_answering("where do guests park?", "Ann", date(2026, 11, 15))
    >>> [line for line in text.splitlines() if "guests" in line]
    ['  - "where do guests park?"', '## where do guests park?']
    """
    faq = TEMPLATES["faq"]
    first, _, rest = faq.body.partition(_MOST_ASKED)
    answering = replace(faq, answers=(question,), body=f"{first}## {_flat(question)}{rest}")
    return begin(answering, owner, today)


def _flat(text: str) -> str:
    return " ".join("".join(c for c in text if c.isprintable()).split())


def _quoted(text: str) -> str:
    return '"' + _flat(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


_SOP = """
One or two sentences: what this procedure achieves, and when somebody needs it.

## Scope

Who follows it, at which sites and in which systems; what it does not cover, with a link to what does.

## Before you start

- Access, forms and tools that are needed
- Conditions that must be met, and who confirms them

## Steps

1. Do one thing per step, in the imperative: "Open the batch in the payment queue."
2. Say what the person sees when the step worked.
3. Name limits with their numbers and units: amounts, hours, temperatures.

## If something goes wrong

| What you see | What it means | What to do |
|---|---|---|
| The exact message or state | The likely cause | The next step, and whom to call |

## Records

What is kept, where, for how long, and under which rule.

## Roles

| Role | Does |
|---|---|
| Preparer | Carries out the steps |
| Approver | Checks and signs; never the same person |
"""

_POLICY = """
One paragraph: what this policy decides, and why the organisation needs it decided.

## Who it applies to

People, sites, systems and contracts. Name what is excluded.

## The rules

1. Write each rule so that two readers would decide the same case the same way: who must, must not or may do what.
2. Give limits as numbers with units, and say which side of the limit is allowed.
3. One rule per item; reasons go below, not into the rule.

## Exceptions

Who may grant one, for how long, in which form, and where it is recorded.

## What happens when it is broken

How it is reported, to whom, and what follows.

## Related documents

The laws, standards and procedures this policy rests on or is carried out by.
"""

_RUNBOOK = """
One sentence: the alarm or symptom this runbook answers, and what it costs while it lasts.

## How you notice

- The alarm, with its exact text and where it appears
- What users see

## First five minutes

1. Confirm that it is real: the command or screen, and what a healthy answer looks like.
2. Say so: the channel, and the words to use.
3. Stop the damage: the one safe action that never makes it worse.

## Diagnose

| Check | Healthy | If not |
|---|---|---|
| The command or screen | The expected value | Which fix below to use |

## Fix

### Fix A: the usual cause

1. The command, in full.
2. How to see that it worked.

### Fix B: when that did not help

1. The command, in full.
2. How to undo it.

## Escalate

After how many minutes, to whom, by which number, with which facts at hand.

## Afterwards

What to record, what to switch back, and who writes the review.
"""

_MOST_ASKED = "## How do I ask for the thing people ask for most?"
_FAQ = f"""
One sentence: whose questions these are, and which procedure or policy has the last word.

{_MOST_ASKED}

The answer in the first sentence. Then the steps, or a link to them.

## How long does it take?

The usual time with its unit, and what makes it longer.

## Who decides?

The role, and how to reach it.

## What if I disagree or it is urgent?

The way to escalate, with its limits.
"""

TEMPLATES: Mapping[str, Template] = {
    "sop": Template(
        "sop",
        "SOP",
        "A procedure that people follow step by step.",
        ("How do I carry out this procedure?", "What do I do when a step fails?"),
        _SOP,
    ),
    "policy": Template(
        "policy",
        "Policy",
        "Rules that decide cases, and who may make exceptions.",
        ("What is allowed, and up to which limit?", "Who may grant an exception?"),
        _POLICY,
    ),
    "runbook": Template(
        "runbook",
        "Runbook",
        "What to do when an alarm goes off.",
        ("What do I do first when this alarm appears?", "When do I escalate, and to whom?"),
        _RUNBOOK,
    ),
    "faq": Template(
        "faq",
        "FAQ",
        "Questions people ask, each with its answer first.",
        ("How do I ask for it?", "How long does it take?"),
        _FAQ,
    ),
}
