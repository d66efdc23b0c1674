"""The review rules: `review-rules.yaml` in the knowledge base, itself changed by review."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import yaml

from core import strict
from core.curation.pictures.picture_files import as_document
from core.curation.review import readers
from core.curation.review.readers import OPEN, Readers
from core.errors import BadInput

FILE = readers.FILE
MAX_BYTES = 64 * 1024
SEVERITIES = ("block", "warn", "off")


@dataclass(frozen=True, slots=True)
class Rule:
    """What changes to some paths require. `match` is a folder (`finance/`) or a pattern (`*/policies/*.md`)."""

    match: str = "*"
    approvals: int = 1
    owners: tuple[str, ...] = ()  # ids of accounts, one of whom must approve
    reviewers: tuple[str, ...] = ()  # ids, addresses or names of accounts that are asked when a change is submitted
    conversations: str = "allow"  # block: every conversation must be resolved before a merge
    answers: int = 0  # questions that every document must list under `answers:`
    found: str = "off"  # block, warn or off: they must be found among the `first` documents
    first: int = 3
    loss: str = "off"  # block, warn or off: no significant loss on a guard or on what documents list
    disagreement: str = "off"  # block, warn or off: no open disagreement with another document

    @property
    def measured(self) -> bool:
        """Whether it asks what a change does to search."""
        return {self.found, self.loss, self.disagreement} != {"off"}


DEFAULT = (Rule(),)
_STRICT = {"block": "", "warn": " (a warning)"}


def demands(rule: Rule) -> str:
    """What a rule asks for, in words.

    >>> demands(Rule("finance/", 2, owners=("helen",), answers=1, loss="warn"))
    '2 approvals, one of them by helen; 1 question in every document; no loss in search (a warning)'
    """
    parts = [f"{rule.approvals} approval{'s' * (rule.approvals > 1)}"]
    parts[0] += f", one of them by {' or '.join(rule.owners)}" if rule.owners else ""
    parts += [f"{', '.join(rule.reviewers)} {'is' if len(rule.reviewers) == 1 else 'are'} asked"] * bool(rule.reviewers)
    parts += ["every conversation resolved"] * (rule.conversations == "block")
    parts += [f"{rule.answers} question{'s' * (rule.answers > 1)} in every document"] * bool(rule.answers)
    for severity, words in (
        (rule.found, f"its questions found among the first {rule.first}"),
        (rule.loss, "no loss in search"),
        (rule.disagreement, "no disagreement with other documents"),
    ):
        parts += [f"{words}{_STRICT.get(severity, '')}"] * (severity in _STRICT)
    return "; ".join(parts)


def read(raw: bytes) -> tuple[Rule, ...]:
    """Rules from the file.

    >>> read(b"rules:\\n  - match: finance/\\n    approvals: 2\\n")[0].approvals
    2
    """
    return read_all(raw)[0]


def read_all(raw: bytes) -> tuple[tuple[Rule, ...], Readers]:
    """The rules of review, and the readers of folders.

    >>> read_all(b"readers:\\n  people/: [group:hr]\\n")[1].of("people/pay.md")
    ('group:hr',)
    """
    if len(raw) > MAX_BYTES:
        raise BadInput(f"{FILE} has {len(raw):,} bytes; the limit is {MAX_BYTES:,}.")
    try:
        value = yaml.safe_load(raw.decode("utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{FILE} cannot be read as YAML: {str(error).splitlines()[0]}.") from None
    if value is None:
        return DEFAULT, OPEN
    if not isinstance(value, dict) or not set(value) <= {"rules", "readers", "admins_read"}:
        raise BadInput(f"{FILE} must hold `rules`, with a list of rules, and may hold `readers` and `admins_read`.")
    if not isinstance(value.get("rules", []), list):
        raise BadInput(f"{FILE} must hold one key, `rules`, with a list of rules.")
    rules = tuple(_rule(item, n) for n, item in enumerate(value.get("rules", []), 1)) or DEFAULT
    if "readers" not in value:
        return rules, OPEN
    return rules, readers.parse(value["readers"] or {}, value.get("admins_read"), FILE)


def _rule(raw: object, number: int) -> Rule:
    where = f"{FILE}, rule {number}"
    rule = strict.parse(Rule, raw, where)  # type: ignore[arg-type]
    if not 1 <= rule.approvals <= 20:
        raise BadInput(f"{where}: approvals must be between 1 and 20, got {rule.approvals}.")
    if rule.conversations not in ("block", "allow"):
        raise BadInput(f"{where}: conversations must be block or allow, got {rule.conversations!r}.")
    for name, limit, value in (("answers", (0, 50), rule.answers), ("first", (1, 20), rule.first)):
        if not limit[0] <= value <= limit[1]:
            raise BadInput(f"{where}: {name} must be between {limit[0]} and {limit[1]}, got {value}.")
    for name in ("found", "loss", "disagreement"):
        if getattr(rule, name) not in SEVERITIES:
            raise BadInput(f"{where}: {name} must be {', '.join(SEVERITIES[:-1])} or off, got {getattr(rule, name)!r}.")
    return rule


def applies_to(rule: Rule, path: str) -> bool:
    """Whether a rule speaks about a path.

    >>> applies_to(Rule("finance/"), "finance/aml/sar.md"), applies_to(Rule("it/*.md"), "hr/leave.md")
    (True, False)
    >>> applies_to(Rule("it/*.md"), "it/vpn.assets/map.png")
    True
    """
    if rule.match.endswith("/"):
        return path.startswith(rule.match)
    return any(fnmatch.fnmatchcase(name, rule.match) for name in (path, as_document(path)))


def applicable(rules: Sequence[Rule], paths: Iterable[str]) -> tuple[Rule, ...]:
    """The rules for any of the paths; all of them must be met."""
    touched = tuple(paths)
    return tuple(rule for rule in rules if any(applies_to(rule, path) for path in touched))
