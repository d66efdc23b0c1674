"""Reads the script of the sample, `kb/sample/past.yaml`, and plays it with the use cases that people use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import yaml

from core import strict
from core.access import Actor
from core.curation.review.diffs import lines
from core.curation.words.pins import Pin
from core.errors import Corrupt, NotFound
from core.evaluation.tuning.calibration import TauRule
from core.ports import Clock, Progress
from core.retrieval.config import parse
from core.retrieval.presets import presets, spell
from core.services.evaluation.measurement_jobs import EvaluationJobs
from core.services.evaluation.runs import Runs
from core.services.inbox.watches import Watches
from core.services.knowledge.wiring import Knowledge
from core.services.people.wiring import People
from core.services.reviews.changes import Change
from core.services.reviews.discussion import CommentPlace
from core.services.reviews.wiring import Reviews
from core.services.search.queries import QueryLog
from core.services.tuning.wiring import Tuning
from core.services.words.words import SynonymsAndPins

FOLDER, FILE = "sample", "past.yaml"
MORNING = time(9)  # everything happens from then on, a minute apart
_FIELDS = ("days", "who")


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that somebody did, so many days ago: a verb, what it is about, and the rest."""

    days: int
    who: str
    verb: str
    what: Any
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """What happened before anything could be searched, the oldest first, and what happened in the search."""

    past: tuple[Deed, ...]
    later: tuple[Deed, ...]


class PastClock:
    """The `Clock` port, so many days before today; a minute passes between two looks at it."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.days, self._minutes = clock, 0, 0

    def set(self, days: int) -> None:
        """Another day begins; the same one goes on."""
        if days != self.days:
            self.days, self._minutes = days, 0

    def today(self) -> date:
        return self.clock.today() - timedelta(days=self.days)

    def stamp(self) -> str:
        zone = datetime.fromisoformat(self.clock.stamp()).tzinfo
        now = datetime.combine(self.today(), MORNING, zone) + timedelta(minutes=self._minutes)
        self._minutes += 1
        return now.isoformat(timespec="seconds")


def read(kb: Path, verbs: Iterable[str]) -> Script:
    """The script beside the documents of a starter knowledge base."""
    raw = yaml.safe_load((kb / FOLDER / FILE).read_text(encoding="utf-8"))
    past, later = ([_deed(entry, tuple(verbs)) for entry in raw[part]] for part in ("past", "later"))
    return Script(tuple(sorted(past, key=lambda deed: -deed.days)), tuple(later))


def _deed(entry: Mapping[str, Any], verbs: Sequence[str]) -> Deed:
    verb = next((name for name in entry if name in verbs), None)
    if verb is None:
        raise Corrupt(f"{FILE} does not say what was done in {dict(entry)!r}. Verbs: {', '.join(verbs)}.")
    more = {name: value for name, value in entry.items() if name not in (*_FIELDS, verb)}
    return Deed(entry["days"], entry.get("who", ""), verb, entry[verb], more)


def edited(text: str, edits: Sequence[Mapping[str, str]]) -> str:
    """A text after edits: `was` becomes `now`, or everything `from` one line `to` another does.

    >>> edited("a b c", [{"was": "b", "now": "x"}]), edited("a b c", [{"from": "a", "to": "c", "now": ""}])
    ('a x c', 'c')
    """
    for edit in edits:
        start = text.find(edit["was"] if "was" in edit else edit["from"])
        end = start + len(edit["was"]) if "was" in edit else text.find(edit["to"], start)
        if start < 0 or end < 0:
            raise Corrupt(f"{FILE} edits {edit!r}, which is not in the document.")
        text = text[:start] + edit["now"] + text[end:]
    return text


def first_texts(kb: Path, script: Script) -> dict[str, bytes]:
    """The documents as they were before everything that was merged since."""
    texts = {path.relative_to(kb).as_posix(): path.read_text(encoding="utf-8") for path in sorted(kb.rglob("*.md"))}
    for deed in reversed([deed for deed in script.past if deed.verb == "merged"]):
        undo = {"was": deed.more["now"], "now": deed.more["was"]}
        texts[deed.more["path"]] = edited(texts[deed.more["path"]], [undo])
    return {path: text.encode() for path, text in texts.items()}


READER = "reader"  # who asks, where the script names nobody


@dataclass(slots=True)
class SamplePast:
    """The use cases of a workspace whose clock can be set back."""

    kb: Path
    clock: PastClock
    people: People
    knowledge: Knowledge
    reviews: Reviews
    words: SynonymsAndPins
    watches: Watches
    queries: QueryLog
    runs: Runs
    tuning: Tuning
    jobs: EvaluationJobs
    numbers: dict[str, int] = field(default_factory=dict)  # of changes, as the script calls them

    @property
    def script(self) -> Script:
        return read(self.kb, VERBS)

    def play(self, deeds: Sequence[Deed], progress: Progress) -> None:
        """One deed after the other, each by its person on its day."""
        for n, deed in enumerate(deeds, 1):
            self.clock.set(deed.days)
            VERBS[deed.verb](self, self.people.accounts.actor(deed.who or READER), deed.what, deed.more)
            progress(n, len(deeds), "Playing the past")

    # ------------------------------------------------------------ documents and changes

    def begin(self, actor: Actor, message: str, more: Mapping[str, Any]) -> None:
        self.tuning.production.team_settings.start(actor.person)
        files = first_texts(self.kb, self.script)
        self.reviews.merger.importing(actor, message, lambda: self.knowledge.documents.save(actor, files, [], message))

    def propose(self, actor: Actor, title: str, more: Mapping[str, Any]) -> Change:
        files = {more["adds"]: more["text"]} if "adds" in more else dict(self._edits(more["edits"]))
        written: dict[str, bytes | None] = {path: text.encode() for path, text in files.items()}
        change = self.reviews.changes.propose(actor, title, written, more["why"])
        self.numbers[more.get("change", "")] = change.id
        return change

    def _edits(self, edits: Mapping[str, Any]) -> dict[str, str]:
        return {
            path: edited(self.knowledge.documents.show(path).text, parts if isinstance(parts, list) else [parts])
            for path, parts in edits.items()
        }

    def merged(self, actor: Actor, title: str, more: Mapping[str, Any]) -> None:
        edit = {name: more[name] for name in ("was", "now")}
        self._land(actor, self.propose(actor, title, {**more, "edits": {more["path"]: edit}}), more["reviewer"])

    def _land(self, actor: Actor, change: Change, reviewer: str) -> None:
        self.reviews.changes.submit(actor, change.id, [reviewer])
        self.reviews.discussion.approve(self.people.accounts.actor(reviewer), change.id)
        self.reviews.merger.merge(actor, change.id)

    def synonyms(self, actor: Actor, texts: Sequence[str], more: Mapping[str, Any]) -> None:
        self._land(actor, self.words.add(actor, texts), more["reviewer"])

    def pin(self, actor: Actor, question: str, more: Mapping[str, Any]) -> None:
        pin = Pin(question, more["document"], more["section"], tuple(more["also"]))
        self._land(actor, self.words.pin(actor, pin), more["reviewer"])

    def submit(self, actor: Actor, change: str, more: Mapping[str, Any]) -> None:
        self.reviews.changes.submit(actor, self.numbers[change], more["reviewers"])

    def approve(self, actor: Actor, change: str, more: Mapping[str, Any]) -> None:
        self.reviews.discussion.approve(actor, self.numbers[change], more["note"])

    def comment(self, actor: Actor, change: str, more: Mapping[str, Any]) -> None:
        number = self.numbers[change]
        proposed = self.reviews.changes.get(number)
        path = proposed.documents[0].path
        text = self.knowledge.documents.repository.read(proposed.head, path).decode()
        line = next(n for n, words in enumerate(lines(text), 1) if words.startswith(more["line"]))
        self.reviews.discussion.comment(actor, number, more["text"], CommentPlace(path, line))

    def reply(self, actor: Actor, change: str, more: Mapping[str, Any]) -> None:
        number = self.numbers[change]
        last = [comment for comment in self.reviews.discussion.comments(actor, number) if not comment.thread][-1]
        self.reviews.discussion.comment(actor, number, more["text"], thread=last.id)

    def measure_merged(self, actor: Actor, state: str, more: Mapping[str, Any]) -> None:
        """What changes that were merged did to search, as if each had been measured on its last day."""
        merged = sorted(self.reviews.changes.all(state=state), key=lambda change: change.ended)
        measured = self.reviews.impacts.measure_merged(merged)
        for change in merged:
            self.clock.set((self.clock.clock.today() - date.fromisoformat(change.ended[:10])).days)
            next(measured)

    # ------------------------------------------------------------ readers

    def watch(self, actor: Actor, what: str, more: Mapping[str, Any]) -> None:
        self.watches.watch(actor, more.get("kind", "document"), what)

    def give_feedback(self, actor: Actor, kind: str, more: Mapping[str, Any]) -> None:
        self.knowledge.feedback.give(actor, more["path"], kind, more["note"])

    def answer(self, actor: Actor, number: int, more: Mapping[str, Any]) -> None:
        self.knowledge.feedback.close(actor, number, more["note"])

    def gap(self, actor: Actor, question: str, more: Mapping[str, Any]) -> None:
        self.knowledge.gaps.report(actor, question, more.get("note", ""))

    def close(self, actor: Actor, question: str, more: Mapping[str, Any]) -> None:
        gap = next((gap for gap in self.knowledge.gaps.open(actor) if gap.query == question), None)
        if gap is None:
            raise NotFound(f"Nobody asked {question!r}.")
        self.knowledge.gaps.close(actor, gap.id)

    def asked(self, actor: Actor, question: str, more: Mapping[str, Any]) -> None:
        """The same question on one day after the other; some of those who asked went on to a document."""
        first = self.clock.days
        for n in range(more["times"]):
            self.clock.set(first - n)
            self.queries.keep(actor, question, opened=n < more.get("opened", 0))

    # ------------------------------------------------------------ measuring

    def queryset(self, actor: Actor, name: str, more: Mapping[str, Any]) -> None:
        if "file" in more:
            self.runs.querysets.read(actor, self.kb / FOLDER / more["file"], "jsonl", name)
        else:
            self.runs.querysets.from_frontmatter(actor, name)

    def measure(self, actor: Actor, queryset: str, more: Mapping[str, Any]) -> None:
        self.runs.measure(actor, queryset, [("", _spelled(config)) for config in more["configs"]])

    def promote(self, actor: Actor, config: str, more: Mapping[str, Any]) -> None:
        run = self.runs.measure(actor, more["queryset"], [("", _spelled(config))])[0].id if "queryset" in more else ""
        self.tuning.production.promote(
            actor, run, config="" if run else _spelled(config), reason=more.get("reason", "")
        )

    def calibrate(self, actor: Actor, queryset: str, more: Mapping[str, Any]) -> None:
        config, rule = _spelled(more["config"]), TauRule()
        tau = self.tuning.sweeps.tau(actor, queryset, rule, config=parse(config))
        told = {"queryset": queryset, "config": config, "measure": rule.measure, "rule": rule.by}
        self.jobs.keep_result(actor, "calibrate", strict.plain(tau), **told)

    def threshold(self, actor: Actor, queryset: str, more: Mapping[str, Any]) -> None:
        self.tuning.confidence.choose(actor, queryset, reason=more.get("reason", ""))


def _spelled(config: str) -> str:
    """A preset by its title, or a configuration by its name."""
    return spell(presets()[config]) if config in presets() else config


VERBS: Mapping[str, Callable[[SamplePast, Actor, Any, Mapping[str, Any]], object]] = {
    "begin": SamplePast.begin,
    "propose": SamplePast.propose,
    "merged": SamplePast.merged,
    "synonyms": SamplePast.synonyms,
    "pin": SamplePast.pin,
    "submit": SamplePast.submit,
    "approve": SamplePast.approve,
    "comment": SamplePast.comment,
    "reply": SamplePast.reply,
    "watch": SamplePast.watch,
    "feedback": SamplePast.give_feedback,
    "answer": SamplePast.answer,
    "gap": SamplePast.gap,
    "close": SamplePast.close,
    "asked": SamplePast.asked,
    "queryset": SamplePast.queryset,
    "impacts": SamplePast.measure_merged,
    "runs": SamplePast.measure,
    "promote": SamplePast.promote,
    "tau": SamplePast.calibrate,
    "threshold": SamplePast.threshold,
}
