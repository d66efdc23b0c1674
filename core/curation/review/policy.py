"""The review rules: `review-rules.yaml` in the knowledge base, itself changed by review."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
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
    suggestions: str = "allow"  # count: people whose suggestions were applied are writers, and do not approve
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
_NO_EFFECT = "own_index"  # accepted and without effect: every hidden document weighs nothing
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
    parts += ["no approval by people whose suggestions were applied"] * (rule.suggestions == "count")
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
    if not isinstance(value, dict) or not set(value) <= {"rules", "readers", "admins_read", _NO_EFFECT}:
        raise BadInput(f"{FILE} must hold `rules`, with a list of rules, and may hold `readers` and `admins_read`.")
    if not isinstance(value.get("rules", []), list):
        raise BadInput(f"{FILE} must hold one key, `rules`, with a list of rules.")
    rules = tuple(_rule(item, n) for n, item in enumerate(value.get("rules", []), 1)) or DEFAULT
    if "readers" not in value:
        return rules, OPEN
    return rules, readers.parse(value["readers"] or {}, value.get("admins_read"), FILE)


def with_readers(text: str, folder: str, names: Sequence[str] | None, admins: bool) -> str:
    """The file with other readers of a folder, and nothing else changed; None takes the folder's own list out.

    >>> print(with_readers("readers:\\n  hr/: [ann]  # pay\\n", "hr", ["group:hr"], True), end="")
    readers:
      hr/: [group:hr]  # pay
    """
    before, key = read_all(text.encode())[1], f"{folder.strip('/')}/"
    if names is None and not before.named:
        return text
    wanted = {folder: own for folder, own in before.folders.items() if folder != key or names is not None}
    wanted |= {key: tuple(names)} if names is not None else {}
    changed = _edited(text.removeprefix("\ufeff"), key, wanted)
    if admins != before.admins:
        changed = (
            re.sub(r"(?m)^admins_read:.*\n?", "", changed).rstrip("\n") + f"\nadmins_read: {str(admins).lower()}\n"
        )
    after = read_all(changed.encode())[1]
    if (dict(after.folders), after.admins) != (wanted, admins):
        raise BadInput(
            f"The readers in {FILE} are written in a way that only people can change. Change its text instead."
        )
    return changed


def _edited(text: str, key: str, wanted: Mapping[str, Sequence[str]]) -> str:
    """The text with one line of `readers` changed, added or taken out; all of them where they do not stand line by
    line.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    node = next((value for name, value in root.value if name.value == "readers"), None) if root else None
    if node is None:
        return f"{text.rstrip()}\nreaders:\n{_lines({key: wanted[key]})}".lstrip() if key in wanted else text
    if not isinstance(node, yaml.MappingNode) or node.flow_style or not node.value:
        return f"{text[: node.start_mark.index].rstrip()}\n{_lines(wanted)}{text[node.end_mark.index :].lstrip()}"
    own = next((pair for pair in node.value if f"{pair[0].value.strip('/')}/" == key), None)
    if own is None:
        at = text.find("\n", _end(node.value[-1][1])) + 1 or len(text)
        indent = " " * node.value[0][0].start_mark.column
        return f"{text[:at].rstrip()}\n{_lines({key: wanted[key]}, indent)}{text[at:]}" if key in wanted else text
    first, last = own[0].start_mark.index, _end(own[1])
    if key in wanted:
        return f"{text[:first]}{_lines({key: wanted[key]}, '').rstrip()}{text[last:]}"
    return text[: text.rfind("\n", 0, first) + 1] + text[text.find("\n", last) + 1 or len(text) :]


def _end(node: yaml.Node) -> int:
    """Where a list ends; the mark of one over several lines lies behind the comments after it."""
    spread = isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value
    return int((node.value[-1] if spread else node).end_mark.index)


def _lines(folders: Mapping[str, Sequence[str]], indent: str = "  ") -> str:
    listed = {folder: f"[{', '.join(map(_quoted, names))}]" for folder, names in folders.items()}
    return "".join(f"{indent}{_quoted(folder)}: {names}\n" for folder, names in listed.items())


def _quoted(text: str) -> str:
    """A text as YAML, in quotes unless it is a plain word."""
    plain = re.fullmatch(r"[a-zA-Z][\w./@:-]*|/", text) and yaml.safe_load(text) == text
    return text if plain else "'" + text.replace("'", "''") + "'"


def _rule(raw: object, number: int) -> Rule:
    where = f"{FILE}, rule {number}"
    rule = strict.parse(Rule, raw, where)  # type: ignore[arg-type]
    if not 1 <= rule.approvals <= 20:
        raise BadInput(f"{where}: approvals must be between 1 and 20, got {rule.approvals}.")
    if rule.conversations not in ("block", "allow"):
        raise BadInput(f"{where}: conversations must be block or allow, got {rule.conversations!r}.")
    if rule.suggestions not in ("count", "allow"):
        raise BadInput(f"{where}: suggestions must be count or allow, got {rule.suggestions!r}.")
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
