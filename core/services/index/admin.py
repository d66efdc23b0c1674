"""What admins do to the index. Rights are checked here, for pages and command line alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from core import profiles
from core.access import READS, Actor, use_case
from core.chunking import embedded_text, profile_chunker
from core.errors import BadInput, ConcordError, Unavailable
from core.ports import Embedder
from core.services.index.embedding import unknown_texts
from core.services.index.model_calls import build_calls, summary_calls
from core.services.jobs.jobs import Job, Jobs
from core.services.models.call_estimates import CallEstimate, CallEstimator
from core.services.models.prices import FREE, OfferedModels
from core.services.platform.settings import Production
from core.types import Generation, Profile

if TYPE_CHECKING:
    from core.services.models.wiring import ModelRoom
    from core.services.platform.base import Base

_SAMPLE = 12  # documents that an estimate chunks
_TIMED = 3  # texts that an estimate embeds


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a build would take, measured on a sample."""

    documents: int
    chunks: int
    to_embed: int
    seconds: float
    dollars: float = 0.0  # for vectors
    calls: tuple[CallEstimate, ...] = ()  # of language models

    @property
    def time(self) -> tuple[float, float]:
        """Seconds, from and to, with the calls whose time is known."""
        known = [row.seconds for row in self.calls if row.seconds]
        return self.seconds + sum(low for low, _ in known), self.seconds + sum(high for _, high in known)

    @property
    def price(self) -> tuple[float, float]:
        """Dollars, from and to."""
        low, high = (sum(row.dollars[n] for row in self.calls) for n in (0, 1))
        return self.dollars + low, self.dollars + high


class IndexAdmin:
    """Builds, rollbacks, profiles."""

    def __init__(
        self,
        base: Base,
        jobs: Jobs,
        models: ModelRoom,
        offered: Callable[[], OfferedModels],
        estimator: CallEstimator,
        check_graph: Callable[[str], None],
    ) -> None:
        self.documents, self.generations, self.team_settings = base.documents, base.generations, base.team_settings
        self.jobs = jobs
        self.audit = base.audit
        self.cache = base.vectors
        self._texts = base.texts
        self.models, self.prices, self._fitness = models.registry, models.ledger.prices, models.probed
        self._offered, self._estimator, self._check_graph = offered, estimator, check_graph

    @use_case("rebuild the index", whole=True)
    def rebuild(self, actor: Actor, profile: str = "", *, full: bool = False) -> Job:
        """Start a build of the newest commit in the background."""
        name = self.team_settings.profile(profile).name
        return self.jobs.start("reindex", {"profile": name, "full": full}, actor)

    @use_case("rebuild the index", whole=True)
    def verify(self, actor: Actor) -> Job:
        """Check in the background that repository, database and index agree."""
        return self.jobs.start("verify", {}, actor)

    @use_case("see the index", READS)
    def generations_of(self, actor: Actor, profile: str = "") -> tuple[Generation, ...]:
        """The generations of a profile that are still there."""
        return self.generations.all(self.team_settings.profile(profile))

    @use_case("compare configurations", READS)
    def profiles(self, actor: Actor) -> tuple[tuple[Profile, Generation | None], ...]:
        """Every profile with the generation that it serves."""
        return tuple((profile, self.generations.current(profile)) for profile in self.team_settings.profiles())

    @use_case("compare configurations", READS)
    def absent_models(self, actor: Actor, profile: Profile) -> tuple[str, ...]:
        """The bundled models that a profile needs and this machine has not: it cannot be built or searched before they
        are fetched."""
        absent = self._offered().absent
        return tuple(name for name in (profile.embedder, *profile.embedders) if name in absent)

    @use_case("roll back the index")
    def rollback(self, actor: Actor, number: int, profile: str = "") -> Generation:
        """Serve an older generation until the next rebuild."""
        generation = self.generations.rollback(self.team_settings.profile(profile), number)
        self.audit.note(actor, "roll back the index", f"generation {number} of {generation.profile}")
        return generation

    @use_case("cancel a job")
    def cancel(self, actor: Actor, job: int) -> Job:
        return self.jobs.cancel(actor, job)

    @use_case("add a profile", READS)
    def check_profile(self, actor: Actor, profile: Profile) -> Profile:
        """The profile with every parameter, as it would be saved; BadInput says what is wrong. No model is loaded."""
        checked = profiles.check(profile)
        self.team_settings.check_free(checked.name)
        self._check_graph(checked.graph)
        for name, feature in profiles.model_uses(checked):
            self._check_fitness(name, feature)
        return checked

    @use_case("add a profile")
    def add_profile(self, actor: Actor, profile: Profile) -> Profile:
        """Save a profile; models that cannot be loaded are refused at once, not when it is built."""
        self._check_models(self.check_profile(actor, profile))
        saved = self.team_settings.add_profile(profile, actor.person)
        self.audit.note(actor, "add a profile", saved.name)
        return saved

    def _check_models(self, profile: Profile) -> None:
        offered = self._offered()
        for name in (profile.embedder, *profile.embedders):
            _usable(partial(self.models.embedder, name), name, offered.embedders)
        for name in profile.writers:
            _usable(partial(self.models.llm, name), name, offered.llms)

    def _check_fitness(self, name: str, feature: str) -> None:
        """Refuse a model that was not checked, or was found unfit; without a fitness table nothing is refused."""
        if self._fitness is None:
            return
        try:
            llm = self.models.llm(name)
        except (
            Unavailable,
            BadInput,
        ):  # it may wait for a model that is not configured yet; a bad name is refused below
            return
        self._fitness.require_checked(llm.name, llm.server, [feature])

    @use_case("compare configurations", READS)
    def models_offered(self, actor: Actor) -> OfferedModels:
        """The models that a profile or a configuration can name."""
        return self._offered()

    @use_case("delete a profile")
    def delete_profile(self, actor: Actor, name: str) -> None:
        """Delete a profile that somebody added, with its generations; never what is searched or what is built in."""
        profile = self.team_settings.profile(name)
        if profile == self.team_settings.production().profile:
            raise BadInput(f"The profile {name!r} is in production. Make another one the default first.")
        building = [job for job in self.jobs.recent() if job.open and job.arguments.get("profile") == name]
        if building:
            raise BadInput(f"The profile {name!r} is being built by job {building[0].id}. Cancel that first.")
        self.team_settings.remove_profile(name, actor.person)
        self.generations.remove(profile)
        self.audit.note(actor, "delete a profile", name)

    @use_case("change what is in production")
    def make_default(self, actor: Actor, name: str) -> Production:
        """Put a profile into production; it must have an index."""
        if self.generations.current(self.team_settings.profile(name)) is None:
            raise BadInput(f"The profile {name!r} has no index yet. Build it first, so that nobody searches nothing.")
        production = self.team_settings.make_default(name, actor.person)
        self.audit.note(actor, "make a profile default", name)
        return production

    @use_case("see the index", READS, whole=True)
    def estimate(self, actor: Actor, profile: Profile) -> Estimate:
        """Chunk and embed a sample, and scale it up."""
        profile = profiles.check(profile)
        everything = self.documents.all()
        sample = everything[:: max(1, len(everything) // _SAMPLE)]
        embedder = self.models.of(profile)
        split = profile_chunker(profile, embedder)
        started = time.perf_counter()
        chunked = [(document, split(document)) for document in sample]
        texts = [embedded_text(chunk) for _, chunks in chunked for chunk in chunks]
        chunking = time.perf_counter() - started
        scale = len(everything) / max(1, len(sample))
        dollars = self._price(embedder, texts) * scale
        fresh = unknown_texts(embedder, self.cache, texts)
        started = time.perf_counter()
        embedder.documents(fresh[:: max(1, len(fresh) // _TIMED)][:_TIMED])
        each = (time.perf_counter() - started) / max(1, min(_TIMED, len(fresh)))
        to_embed = round(len(fresh) * scale)
        seconds = chunking * scale + to_embed * each + 2.0
        calls = build_calls(self._estimator, self._texts, profile, chunked, scale)
        calls += summary_calls(self._estimator, profile, chunked, scale)
        return Estimate(len(everything), round(len(texts) * scale), to_embed, seconds, dollars, calls)

    def _price(self, embedder: Embedder, texts: Sequence[str]) -> float:
        """The price of embedding the texts that are not cached, over all paid parts."""
        dollars = 0.0
        for part in embedder.parts or (embedder,):
            price = self.prices.of(part.name)
            if price != FREE:
                fresh = unknown_texts(part, self.cache, texts)
                dollars += price.of(sum(len(part.tokens(text)) for text in fresh), 0)
        return dollars


def _usable(load: Callable[[], object], name: str, known: Sequence[str]) -> None:
    """Load a model, or say that it cannot be used and what can."""
    try:
        load()
    except ConcordError as error:
        listed = f" Available here: {', '.join(known)}." if known else ""
        raise BadInput(f"The model {name!r} cannot be used: {error}{listed}") from None
