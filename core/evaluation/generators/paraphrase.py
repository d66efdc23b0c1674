"""Other words for a heading: by rules and synonyms, or by a language model whose answer is checked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping

from core.errors import ConcordError
from core.ports import Llm

SYNONYMS: Mapping[str, str] = {
    "approval": "sign-off", "approvals": "sign-offs", "approve": "sign off", "approver": "person who signs off",
    "access": "permission", "account": "login", "alert": "warning", "amount": "sum", "annual": "yearly", "audit": "check",
    "authority": "power to decide", "backup": "copy", "begin": "start", "budget": "spending plan", "cancel": "call off",
    "carrier": "trucking company", "change": "modification", "changes": "modifications", "check": "verify",
    "checklist": "list of things to check", "claim": "demand", "claims": "demands", "close": "finish", "complaint": "grievance",
    "contact": "person to call", "contacts": "people to call", "customer": "client", "customers": "clients",
    "daily": "every day", "damage": "harm", "deadline": "last date", "deadlines": "last dates", "definitions": "meaning of terms",
    "delete": "remove", "delivery": "shipment", "documents": "papers", "duties": "responsibilities", "emergency": "urgent case",
    "employee": "staff member", "employees": "staff", "error": "mistake", "errors": "mistakes", "escalation": "whom to involve next",
    "evidence": "proof", "exceptions": "special cases", "exception": "special case", "failure": "breakdown", "failures": "breakdowns",
    "file": "submit", "filing": "submitting", "fix": "repair", "form": "paper to fill in", "goods": "items", "hiring": "recruiting",
    "incident": "problem", "incidents": "problems", "inventory": "stock", "invoice": "bill", "invoices": "bills", "issue": "problem",
    "keep": "retain", "leave": "time off", "limits": "maximum amounts", "limit": "maximum", "login": "sign-in", "manager": "boss",
    "monitoring": "watching", "monthly": "every month", "notify": "tell", "notification": "message", "order": "purchase",
    "orders": "purchases", "overdue": "late", "owner": "person in charge", "password": "secret", "payment": "transfer of money",
    "payments": "transfers of money", "policy": "rules", "prerequisites": "what is needed first", "procedure": "steps",
    "process": "way of working", "purchase": "buying", "purpose": "reason", "quarterly": "every three months", "receipt": "proof",
    "receiving": "taking in goods", "recovery": "getting back", "records": "paperwork", "refund": "money back",
    "rejected": "turned down", "related": "similar", "report": "tell about", "reporting": "telling about", "request": "ask for",
    "requests": "things asked for", "requirements": "what is required", "responsibilities": "who does what", "restore": "bring back",
    "retention": "how long to keep", "returns": "sending back", "review": "look over", "reviews": "checks", "risk": "danger",
    "risks": "dangers", "roles": "who does what", "rollback": "undo", "safety": "protection", "schedule": "timetable",
    "scope": "what is covered", "security": "protection", "settling": "agreeing", "shortage": "missing items", "steps": "what to do",
    "supplier": "vendor", "suppliers": "vendors", "symptoms": "signs", "termination": "leaving", "test": "try out",
    "thresholds": "limits", "threshold": "limit", "timeline": "dates", "training": "course", "transfer": "move", "travel": "trips",
    "troubleshooting": "finding the cause", "update": "renew", "vendor": "supplier", "vendors": "suppliers", "verification": "check",
    "verify": "make sure", "weekly": "every week", "warehouse": "storage",
}  # fmt: skip

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


def by_llm(llm: Llm, rules: str, model: str) -> Callable[[str, str], tuple[str, str]]:
    """Paraphrase with a model; where its answer is no use, by rules, and the label says so."""

    def reword(heading: str, title: str) -> tuple[str, str]:
        try:
            answer = llm.complete(
                _PROMPT.format(heading=heading, title=title), purpose="paraphrase", max_tokens=60
            ).text
        except ConcordError:
            return by_rules(heading, title), rules
        text = " ".join(answer.split()).strip("\"'` ")
        usable = 2 < len(text) <= 200 and "\n" not in answer.strip() and text.casefold() != heading.casefold()
        return (text, model) if usable else (by_rules(heading, title), rules)

    return reword


_PROMPT = (
    "A document called {title!r} has a section with the heading {heading!r}. Write the question that a colleague who has "
    "never seen the document would type to find this section. Use other words than the heading where you can. "
    "Answer with the question alone, on one line, at most 15 words."
)
