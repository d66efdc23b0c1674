"""Other words for a heading: by rules and synonyms, or by a language model whose answer is checked."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from core.errors import BadInput, Unavailable
from core.llm.asking import ModelTask, ask
from core.llm.prompt import RULE, cut, quoted
from core.llm.usable import content_words, echoes, unsupported, words
from core.ports import Llm

SYNONYMS: Mapping[str, str] = {
    "approval": "sign-off",
    "approvals": "sign-offs",
    "approve": "sign off",
    "approver": "person who signs off",
    "access": "permission",
    "account": "login",
    "alert": "warning",
    "amount": "sum",
    "annual": "yearly",
    "audit": "check",
    "authority": "power to decide",
    "backup": "copy",
    "begin": "start",
    "budget": "spending plan",
    "cancel": "call off",
    "carrier": "trucking company",
    "change": "modification",
    "changes": "modifications",
    "check": "verify",
    "checklist": "list of things to check",
    "claim": "demand",
    "claims": "demands",
    "close": "finish",
    "complaint": "grievance",
    "contact": "person to call",
    "contacts": "people to call",
    "customer": "client",
    "customers": "clients",
    "daily": "every day",
    "damage": "harm",
    "deadline": "last date",
    "deadlines": "last dates",
    "definitions": "meaning of terms",
    "delete": "remove",
    "delivery": "shipment",
    "documents": "papers",
    "duties": "responsibilities",
    "emergency": "urgent case",
    "employee": "staff member",
    "employees": "staff",
    "error": "mistake",
    "errors": "mistakes",
    "escalation": "whom to involve next",
    "evidence": "proof",
    "exceptions": "special cases",
    "exception": "special case",
    "failure": "breakdown",
    "failures": "breakdowns",
    "file": "submit",
    "filing": "submitting",
    "fix": "repair",
    "form": "paper to fill in",
    "goods": "items",
    "hiring": "recruiting",
    "incident": "problem",
    "incidents": "problems",
    "inventory": "stock",
    "invoice": "bill",
    "invoices": "bills",
    "issue": "problem",
    "keep": "retain",
    "leave": "time off",
    "limits": "maximum amounts",
    "limit": "maximum",
    "login": "sign-in",
    "manager": "boss",
    "monitoring": "watching",
    "monthly": "every month",
    "notify": "tell",
    "notification": "message",
    "order": "purchase",
    "orders": "purchases",
    "overdue": "late",
    "owner": "person in charge",
    "password": "secret",
    "payment": "transfer of money",
    "payments": "transfers of money",
    "policy": "rules",
    "prerequisites": "what is needed first",
    "procedure": "steps",
    "process": "way of working",
    "purchase": "buying",
    "purpose": "reason",
    "quarterly": "every three months",
    "receipt": "proof",
    "receiving": "taking in goods",
    "recovery": "getting back",
    "records": "paperwork",
    "refund": "money back",
    "rejected": "turned down",
    "related": "similar",
    "report": "tell about",
    "reporting": "telling about",
    "request": "ask for",
    "requests": "things asked for",
    "requirements": "what is required",
    "responsibilities": "who does what",
    "restore": "bring back",
    "retention": "how long to keep",
    "returns": "sending back",
    "review": "look over",
    "reviews": "checks",
    "risk": "danger",
    "risks": "dangers",
    "roles": "who does what",
    "rollback": "undo",
    "safety": "protection",
    "schedule": "timetable",
    "scope": "what is covered",
    "security": "protection",
    "settling": "agreeing",
    "shortage": "missing items",
    "steps": "what to do",
    "supplier": "vendor",
    "suppliers": "vendors",
    "symptoms": "signs",
    "termination": "leaving",
    "test": "try out",
    "thresholds": "limits",
    "threshold": "limit",
    "timeline": "dates",
    "training": "course",
    "transfer": "move",
    "travel": "trips",
    "troubleshooting": "finding the cause",
    "update": "renew",
    "vendor": "supplier",
    "vendors": "suppliers",
    "verification": "check",
    "verify": "make sure",
    "weekly": "every week",
    "warehouse": "storage",
}

_FRAMES = ("what do we say about {} for {}", "{} in the case of {}", "where can I read about {} ({})", "{}, {}")


def by_rules(heading: str, title: str) -> str:
    """The heading with synonyms, in a frame that names its document; a hash of the heading picks the frame.

    >>> by_rules("Approval limits", "travel expenses")
    'what do we say about sign-off maximum amounts for trips expenses'
    """
    frame = _FRAMES[hashlib.sha256(heading.encode()).digest()[0] % len(_FRAMES)]
    return frame.format(_replaced(heading), _replaced(title))


def _replaced(text: str) -> str:
    plain = re.sub(r"^[\d.)]+\s*", "", text).rstrip(".:?!")
    return re.sub(
        r"[A-Za-z]+", lambda m: SYNONYMS.get(m[0].lower(), m[0] if _is_acronym(m[0]) else m[0].lower()), plain
    )


def _is_acronym(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def by_llm(
    llm: Llm, rules: str, model: str, failed: Counter[str] | None = None
) -> Callable[[str, str, str], tuple[str, str]]:
    """Paraphrase with a model; where there is no usable answer, by rules: the label says so, and `failed` counts
    why.
    """

    def reword(heading: str, title: str, body: str = "") -> tuple[str, str]:
        try:
            return ask(llm, task(heading, title, body))[0], model
        except Unavailable as error:
            if failed is not None:
                failed[str(error).rstrip(".")] += 1
            return by_rules(heading, title), rules

    return reword


def task(heading: str, title: str, body: str = "") -> ModelTask[str]:
    """What a model is asked about a section."""
    material = f"Document: {title}\nHeading: {heading}\n{cut(body.strip(), ROOM)}"
    read = partial(_question, heading=heading, about=f"{title} {body}")
    return ModelTask("paraphrase", f"{quoted('material', material)}\n\n{_PROMPT}", read, RULE, 60)


def _question(answer: str, heading: str, about: str) -> str:
    """The question in an answer: one line about the subject, in other words than the heading.

    >>> _question('"Who may sign off on travel expenses?"', "Approval limits", "Travel expenses")
    'Who may sign off on travel expenses?'
    """
    text = " ".join(answer.split()).strip("\"'`“”* ")
    if "\n" in answer.strip() or not 3 <= len(text.split()) <= 20:
        raise BadInput("it is not one question of at most 20 words")
    if not content_words(text) & content_words(f"{heading} {about}"):
        raise BadInput("it has not one word in common with the section")
    if _ABOUT_PAPER.search(text) and not _ABOUT_PAPER.search(f"{heading} {about}"):
        raise BadInput("it asks for a section instead of its subject")
    if words(heading) == words(text) or (len(words(heading)) > 2 and echoes(text, heading, len(words(heading)))):
        raise BadInput("it repeats the heading")
    missing = unsupported(text, [heading, about])
    if missing:
        raise BadInput(f"it names what the section does not: {', '.join(missing[:3])}")
    return text


ROOM = 1200  # characters of a section that the model sees
_ABOUT_PAPER = re.compile(
    r"\b(?:section|heading|titled|entitled|document called|(?:the|this) document|never seen)\b", re.IGNORECASE
)
_PROMPT = (
    "Write the question that a colleague without this document would type into a search box because the text under "
    "the heading answers it. Ask about the subject, not about the document, and use other words than the heading where "
    "you can. Answer with the question alone, on one line, at most 15 words."
)
