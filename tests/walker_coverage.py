"""What a walk has met: findings, and every kind of control with what became of it, kept over walks."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PRESSED, WAITING, DISABLED, LOST = "pressed", "not reached yet", "never enabled", "not reached again"
TRIES = 2  # a control that was not there so often, where it was seen, is not there any more


@dataclass(frozen=True)
class Finding:
    """Something that a person would call broken."""

    kind: str
    role: str
    base: str
    url: str
    control: str
    detail: str


@dataclass
class Known:
    """A kind of control: where it was seen, what was pressed to see it, and what became of it."""

    at: str
    via: str = ""
    state: str = WAITING
    tries: int = 0


@dataclass
class Coverage:
    """The controls that one role has met on one base."""

    known: dict[str, Known] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    ways: set[str] = field(default_factory=set)
    steps: int = 0
    seconds: float = 0

    def meet(self, family: str, at: str, via: str, spared: str, disabled: bool) -> None:
        """Note a control; a reason not to press it, or that it is off, stands until one of its like can be pressed."""
        if family not in self.known:
            self.known[family] = Known(at, via, spared or (DISABLED if disabled else WAITING))
            return
        one = self.known[family]
        if not spared and not disabled and one.state not in (PRESSED, WAITING, LOST):
            one.at, one.via, one.state = at, via, WAITING

    def waiting(self) -> list[str]:
        """What can still be pressed."""
        return [family for family, one in self.known.items() if one.state == WAITING and one.tries < TRIES]

    def path(self, family: str) -> list[str]:
        """What is pressed one after the other to come to a control, itself included."""
        steps = [family]
        while (via := self.known[steps[0]].via) and via in self.known and via not in steps:
            steps.insert(0, via)
        return steps

    def missed(self, family: str) -> None:
        one = self.known[family]
        one.tries += 1
        if one.tries >= TRIES and one.state == WAITING:
            one.state = LOST

    def states(self) -> Counter[str]:
        return Counter(one.state for one in self.known.values())

    def row(self) -> tuple[int, int, int, dict[str, int]]:
        """Met, pressed, what could be pressed, and why the others were not."""
        states = self.states()
        pressed = states.pop(PRESSED, 0)
        left = states[WAITING] + states[LOST]
        return len(self.known), pressed, pressed + left, dict(states.most_common())


@dataclass
class Log:
    """What was walked, and what was found; written to a file as it happens, where one is named."""

    path: Path | None = None
    kept: Path | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    covered: dict[str, Coverage] = field(default_factory=dict)
    compared: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kept and self.kept.exists():
            for name, told in json.loads(self.kept.read_text(encoding="utf-8")).items():
                known = {family: Known(**one) for family, one in told.pop("known").items()}
                self.covered[name] = Coverage(known, ways=set(told.pop("ways")), **told)

    def of(self, base: str, role: str) -> Coverage:
        return self.covered.setdefault(f"{base} {role}", Coverage())

    def pressed(self, base: str) -> set[str]:
        """What some role has pressed on a base."""
        return {family for one in self.roles(base) for family, known in one.known.items() if known.state == PRESSED}

    def roles(self, base: str) -> list[Coverage]:
        return [one for name, one in self.covered.items() if name.rsplit(" ", 1)[0] == base]

    def together(self, base: str) -> Coverage:
        """All roles of a base as one: a control counts as pressed where one of them pressed it."""
        roles, whole = self.roles(base), Coverage()
        for one in roles:
            for family, known in one.known.items():
                if family not in whole.known or known.state == PRESSED:
                    whole.known[family] = known
            whole.views |= one.views
            whole.ways |= one.ways
        whole.steps, whole.seconds = sum(one.steps for one in roles), sum(one.seconds for one in roles)
        return whole

    def save(self) -> None:
        """Keep what was pressed, so that the next walk goes on from there."""
        if self.kept:
            told = {name: {**asdict(one), "ways": sorted(one.ways)} for name, one in self.covered.items()}
            self.kept.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")

    def step(self, **what: Any) -> None:
        self.lines.append(what)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(what, ensure_ascii=False) + "\n")

    def add(self, finding: Finding) -> None:
        same = (finding.kind, re.sub(r"\d+", "#", finding.control + finding.detail))
        if all((known.kind, re.sub(r"\d+", "#", known.control + known.detail)) != same for known in self.findings):
            self.findings.append(finding)
            self.step(finding=asdict(finding))

    def table(self) -> str:
        """One row per base and role, then what was found."""
        rows = [
            "| Base | Role | Views | Ways out | Controls met | Pressed | of those that can be | Steps | Seconds | Findings | Not pressed, and why |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        bases = dict.fromkeys(name.rsplit(" ", 1)[0] for name in self.covered)
        named = {f"{base} together": self.together(base) for base in bases if len(self.roles(base)) > 1}
        for name, one in {**self.covered, **named}.items():
            base, role = name.rsplit(" ", 1)
            met, pressed, could, others = one.row()
            found = sum(finding.base == base and role in (finding.role, "together") for finding in self.findings)
            why = "; ".join(f"{count} {reason}" for reason, count in others.items())
            rows.append(
                f"| {base} | {role} | {len(one.views)} | {len(one.ways)} | {met} | {pressed} | {pressed / max(1, could):.0%} | {one.steps} | {one.seconds:.0f} | {found} | {why} |"
            )
        kinds = Counter(finding.kind for finding in self.findings)
        rows += ["", f"{len(self.findings)} findings: {dict(kinds)}" if kinds else "Nothing found."]
        return "\n".join([*rows, *(f"- {f.kind} · {f.base} · {f.role} · {f.url} · {f.control} · {f.detail}" for f in self.findings)])  # fmt: skip

    def unpressed(self) -> str:
        """Each control that was not pressed, with the reason."""
        return "\n".join(
            f"- {name} · {family} · {one.state} · {one.at}"
            for name, coverage in self.covered.items()
            for family, one in coverage.known.items()
            if one.state != PRESSED
        )
