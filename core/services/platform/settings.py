"""Team settings: profiles and the production configuration, versioned on a branch of the knowledge repository.

In git every promotion has an author and a history; on its own branch it does not trigger a new generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

from core import profiles, strict
from core.access import ANYONE, use_case
from core.curation.document.names import safe_name
from core.cures import ADD_PROFILE
from core.errors import BadInput, Conflict, Corrupt, NotFound
from core.retrieval import config as configs
from core.retrieval.confidence import THRESHOLD
from core.retrieval.prompts import PROMPTS, RerankPrompt
from core.types import NOTHING, Frozen, Person, Profile, SearchConfig

if TYPE_CHECKING:
    from core.storage.git.repository import Repository

_BRANCH = "settings"
_PROFILES = "profiles.yaml"
_SEARCH = "search.yaml"
_DECLINED = "declined.yaml"
_START = {"start": "a new knowledge base"}  # in place of the evidence of a promotion
_QUESTIONS = "questions.yaml"
_PROMPTS = "prompts.yaml"
_STATUSES = "statuses.yaml"
_CONFIDENCE = "confidence.yaml"
_SAMPLE = "sample.yaml"
MAX_DAYS, MAX_FIRST = 3650, 20

BUILT_IN: tuple[Profile, ...] = tuple(
    profiles.from_mapping(raw)
    for raw in (
        {"name": "local"},
        {"name": "quick", "embedder": "potion-base-8m"},
        {
            "name": "windows",
            "chunker": {"name": "fixed", "params": {"max_tokens": 500, "overlap": 50}},
            "context": "none",
        },
        {"name": "family", "chunker": {"name": "hierarchical"}},
    )
)


@dataclass(frozen=True, slots=True)
class Production:
    """The default profile and configuration of Search, API and CLI, and the confidence below which they warn."""

    profile: Profile
    config: SearchConfig
    threshold: float = THRESHOLD


@dataclass(frozen=True, slots=True)
class QuestionSettings:
    """Whether questions are kept, without names, and for how many days; and when one is a gap.

    The document that answers must be among the `first`. A question is a gap if it found nothing good `doubted` times,
    or led to no document `often` times.
    """

    keep: bool = True
    days: int = 90
    first: int = 3
    doubted: int = 2
    often: int = 5


@dataclass(frozen=True, slots=True)
class ConfidenceSettings:
    """The confidence below which a search says that nothing fits well, and what it was chosen on."""

    threshold: float = THRESHOLD
    evidence: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Promotion:
    """A past state of production: when, by whom, and on what evidence."""

    commit: str
    when: str
    author: str
    message: str
    production: Production
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TunedPrompt:
    """A prompt for reranking that was tuned here. A version never changes, so that results stay comparable."""

    name: str
    version: int
    task: str
    example: bool
    evidence: Mapping[str, Any]

    @property
    def title(self) -> str:
        """How a configuration names it."""
        return f"tuned-{self.name}-v{self.version}"

    @property
    def prompt(self) -> RerankPrompt:
        """What a reranker reads."""
        return RerankPrompt(self.title, f"Tuned here: {self.evidence.get('sentence', '')}", self.task, self.example)


class TeamSettings:
    """Reads and writes the settings branch. Every search asks for its head; what a commit says is read once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._profiles = lru_cache(maxsize=8)(self._profiles_at)
        self._production = lru_cache(maxsize=8)(self._production_at)
        self._questions = lru_cache(maxsize=8)(self._questions_at)
        self._statuses = lru_cache(maxsize=8)(lambda head: Frozen(self._parse(head, _STATUSES).get("words") or {}))
        self._prompts = lru_cache(maxsize=8)(self._prompts_at)
        self._confidence = lru_cache(maxsize=8)(self._confidence_at)
        self._sample = lru_cache(maxsize=8)(lambda head: str(self._parse(head, _SAMPLE).get("state", "")))
        self._evidence = lru_cache(maxsize=8)(lambda head: self._parse(head, _SEARCH).get("evidence") or {})
        self._original = lru_cache(maxsize=8)(self._original_at)
        self._promotions = lru_cache(maxsize=8)(self._promotions_at)

    @use_case(ANYONE)
    def profiles(self) -> tuple[Profile, ...]:
        """Built-in profiles, then those that were added."""
        return self._profiles(self.head())

    def _profiles_at(self, head: str) -> tuple[Profile, ...]:
        added = [
            profiles.from_mapping(raw, f"profile {raw.get('name')!r}")
            for raw in self._parse(head, _PROFILES).get("profiles", [])
        ]
        names = {profile.name for profile in added}
        return (*(profile for profile in BUILT_IN if profile.name not in names), *added)

    @use_case(ANYONE)
    def profile(self, name: str = "") -> Profile:
        """A profile by name; the production one without a name."""
        if not name:
            return self.production().profile
        named = self.profiles()
        for profile in named:
            if profile.name == name:
                return profile
        known = ", ".join(profile.name for profile in named)
        raise NotFound(f"There is no profile {name!r}. Profiles: {known}.", ADD_PROFILE)

    def check_free(self, name: str) -> None:
        """Refuse the name of a profile that there is."""
        if any(name == known.name for known in self.profiles()):
            raise BadInput(
                f"There already is a profile {name!r}. "
                "Choose another name: profiles never change, so that results stay comparable."
            )

    def add_profile(self, profile: Profile, author: Person) -> Profile:
        """Save a profile under a new name."""
        profile = profiles.check(profile)
        self.check_free(profile.name)
        added = [*self._parse(self.head(), _PROFILES).get("profiles", []), strict.plain(profile)]
        self._write(_PROFILES, {"profiles": added}, author, f"Add profile {profile.name}")
        return profile

    def remove_profile(self, name: str, author: Person) -> None:
        """Delete a profile that was added; the history keeps it."""
        added = self._parse(self.head(), _PROFILES).get("profiles", [])
        left = [raw for raw in added if raw.get("name") != name]
        if len(left) == len(added):
            raise BadInput(f"The profile {name!r} is built in and cannot be deleted.")
        self._write(_PROFILES, {"profiles": left}, author, f"Delete profile {name}")

    @use_case(ANYONE)
    def production(self) -> Production:
        return self._production(self.head())

    def _production_at(self, head: str) -> Production:
        raw = self._parse(head, _SEARCH)
        named = raw.get("profile", profiles.DEFAULT.name)
        profile = next((known for known in self._profiles(head) if known.name == named), None)
        if profile is None:
            raise Corrupt(f"The production settings name the profile {named!r}, which does not exist.")
        config = configs.from_mapping(raw["config"]) if "config" in raw else configs.PRODUCTION
        return Production(profile, config, self._confidence(head).threshold)

    @use_case(ANYONE)
    def questions(self) -> QuestionSettings:
        """What becomes of the questions people ask."""
        return self._questions(self.head())

    def _questions_at(self, head: str) -> QuestionSettings:
        return strict.parse(QuestionSettings, self._parse(head, _QUESTIONS), "questions")

    def set_questions(self, settings: QuestionSettings, author: Person) -> None:
        """Decide what becomes of them."""
        if not 1 <= settings.days <= MAX_DAYS:
            raise BadInput(f"Questions are kept for 1 to {MAX_DAYS:,} days, not {settings.days}.")
        if not 1 <= settings.first <= MAX_FIRST:
            raise BadInput(f"An answer must stand among the first 1 to {MAX_FIRST} documents, not {settings.first}.")
        if min(settings.doubted, settings.often) < 1:
            raise BadInput("A question is a gap after 1 asking or more.")
        if settings != self.questions():
            self._write(_QUESTIONS, strict.plain(settings), author, "Decide on asked questions")

    def statuses(self) -> Mapping[str, str]:
        """The words of other tools that the team gave a status."""
        return self._statuses(self.head())

    def set_statuses(self, words: Mapping[str, str], author: Person) -> None:
        if dict(words) != dict(self.statuses()):
            self._write(_STATUSES, {"words": dict(words)}, author, "Decide on status words")

    @use_case(ANYONE)
    def confidence(self) -> ConfidenceSettings:
        """Below which confidence nothing fits well: for pages, API, commands and gaps alike."""
        return self._confidence(self.head())

    def _confidence_at(self, head: str) -> ConfidenceSettings:
        return strict.parse(ConfidenceSettings, self._parse(head, _CONFIDENCE), "confidence")

    def set_confidence(self, settings: ConfidenceSettings, author: Person, message: str, seen: str) -> None:
        """Choose the threshold; the commit carries the evidence. `seen` is the head that it was measured at."""
        if not 0 <= settings.threshold <= 1:
            raise BadInput(f"A threshold lies between 0 and 1, not at {settings.threshold:g}.")
        if self.head() != seen:
            raise Conflict("The settings changed in the meantime. Nothing was saved: reload and try again.")
        self._write(_CONFIDENCE, strict.plain(settings), author, message, seen)

    @use_case(ANYONE)
    def prompts(self) -> tuple[TunedPrompt, ...]:
        """Prompts that were tuned here, every version, oldest first."""
        return self._prompts(self.head())

    def _prompts_at(self, head: str) -> tuple[TunedPrompt, ...]:
        return tuple(strict.parse(TunedPrompt, raw, "prompt") for raw in self._parse(head, _PROMPTS).get("prompts", []))

    @use_case(ANYONE)
    def prompt(self, name: str) -> RerankPrompt:
        """A built-in prompt, or one that was tuned here."""
        if name in PROMPTS:
            return PROMPTS[name]
        known = {tuned.title: tuned.prompt for tuned in self.prompts()}
        if name not in known:
            raise NotFound(f"There is no prompt {name!r}. Prompts: {', '.join((*PROMPTS, *known))}.")
        return known[name]

    def add_prompt(
        self, name: str, task: str, example: bool, evidence: Mapping[str, Any], author: Person
    ) -> TunedPrompt:
        """Save a tuned prompt as the next version of its name."""
        version = 1 + sum(tuned.name == name for tuned in self.prompts())
        tuned = TunedPrompt(safe_name(name, "a prompt"), version, task, example, Frozen(evidence))
        kept = [strict.plain(prompt) for prompt in (*self.prompts(), tuned)]
        self._write(_PROMPTS, {"prompts": kept}, author, f"Keep the prompt {tuned.title}")
        return tuned

    def sample(self) -> str:
        """How much of the sample's past was played: "begun", "whole", or "" for a knowledge base that is no sample."""
        return self._sample(self.head())

    def set_sample(self, state: str, author: Person) -> None:
        """Remember it, with the settings, because it is as old as they are."""
        if state != self.sample():
            self._write(_SAMPLE, {"state": state}, author, "Play the past of the sample")

    def evidence(self) -> Mapping[str, Any]:
        """What the newest promotion was based on; empty before the first."""
        return self._evidence(self.head())

    def head(self) -> str:
        """The newest commit of the settings, for `promote` to check that nobody wrote in between."""
        return self.repository.head(_BRANCH)

    def make_default(self, name: str, author: Person) -> Production:
        """Put another profile into production; the configuration stays."""
        profile, now = self.profile(name), self.production()
        self._write(
            _SEARCH,
            {"profile": profile.name, "config": strict.plain(now.config)},
            author,
            f"Make {profile.name} the production profile",
        )
        return self.production()

    def promote(
        self, profile: str, config: SearchConfig, evidence: Mapping[str, Any], author: Person, message: str, seen: str
    ) -> Production:
        """Put a profile and a configuration into production; the commit carries the evidence.

        `seen` is the head that the evidence was compared with; nothing is written if it moved since.
        """
        value = {"profile": self.profile(profile).name, "config": strict.plain(configs.check(config))}
        if self.head() != seen:
            raise Conflict("The settings changed in the meantime. Nothing was promoted: reload and try again.")
        self._write(_SEARCH, {**value, "evidence": dict(evidence)}, author, message, seen)
        return self.production()

    @use_case(ANYONE)
    def start(self, author: Person) -> None:
        """What a new knowledge base searches with; one that has documents or settings keeps its own."""
        self.repository.follow()
        if not self.head() and not self.repository.head():
            value = {"profile": self.profile().name, "config": configs.shape(configs.RECOMMENDED), "evidence": _START}
            with suppress(Conflict):  # another node starts at the same moment
                self._write(_SEARCH, value, author, "Start with the recommended configuration", "")

    def original(self) -> Production:
        """What was in production before the first promotion."""
        return self._original(self.head())

    def _original_at(self, head: str) -> Production:
        first = list(self.repository.log(head))[-1][0].id if head else ""
        started = self._parse(first, _SEARCH).get("evidence") == _START
        return self._production(first) if started else Production(profiles.check(profiles.DEFAULT), configs.PRODUCTION)

    def declined(self) -> str:
        """The identity of the recommended configuration that the team did not want; "" if there is none."""
        return str(self._parse(self.head(), _DECLINED).get("config", ""))

    def decline(self, config: str, reason: str, author: Person) -> None:
        """Remember it, with the reason."""
        self._write(_DECLINED, {"config": config, "reason": reason}, author, f"Decline the recommendation\n\n{reason}")

    def promotions(self) -> tuple[Promotion, ...]:
        """What was in production, newest first."""
        return self._promotions(self.head())

    def _promotions_at(self, head: str) -> tuple[Promotion, ...]:
        promotions = []
        for commit, edits in self.repository.log(head) if head else ():
            raw = self._parse(commit.id, _SEARCH) if any(edit.path == _SEARCH for edit in edits) else {}
            promoted = next((profile for profile in self._profiles(head) if profile.name == raw.get("profile")), None)
            if promoted is not None and "config" in raw and raw.get("evidence") != _START:
                production = Production(promoted, configs.from_mapping(raw["config"]))
                evidence = raw.get("evidence") or {}
                promotions.append(
                    Promotion(commit.id, commit.when, commit.author.name, commit.message, production, evidence)
                )
        return tuple(promotions)

    def _parse(self, head: str, path: str) -> Mapping[str, Any]:
        """A settings file at a commit; nothing before the first one."""
        if not head:
            return {}
        try:
            raw = yaml.safe_load(self.repository.read(head, path))
        except NotFound:
            return {}
        except yaml.YAMLError:
            raise Corrupt(f"The settings file {path} cannot be read as YAML.") from None
        if not isinstance(raw, dict):
            raise Corrupt(f"The settings file {path} must hold keys and values.")
        return raw

    def _write(
        self, path: str, value: Mapping[str, Any], author: Person, message: str, seen: str | None = None
    ) -> None:
        self.repository.follow()
        head = self.head() if seen is None else seen
        text = yaml.safe_dump(strict.plain(value), sort_keys=False, allow_unicode=True)
        self.repository.commit(_BRANCH, {path: text.encode()}, author, message, expected=head)
