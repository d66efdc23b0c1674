"""What each model was found fit for. A model that failed its probes is not asked, unless an admin says why it may
be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import ANYONE, READS, Actor, use_case
from core.cures import add_model
from core.errors import BadInput, NotFound, Refused, Unfit, one_of
from core.ports import Clock
from core.storage.state.records import ModelCheckRow, of_row

if TYPE_CHECKING:
    from core.services.people.audit import Audit
    from core.storage.state.database import Database

VERSION = 2  # of the probes: raise it when they ask something else or want more, and every model must be checked again

FEATURES: Mapping[str, str] = {
    "rerank": "Reranking in one list",
    "yes or no": "Reranking by yes or no",
    "weights": "Weights for each query",
    "hyde": "Hypothetical answers",
    "context": "Contexts of passages",
    "segment": "Finding where a topic changes",
    "passage questions": "Questions of passages",
    "entities": "Entities of the graph",
    "community summary": "Summaries of topics",
    "paraphrase": "Paraphrased questions",
    "judge": "Judging results",
    "questions and answers": "Questions with answers",
    "ask": "Written answers",
}
"""What a call is for, and what people call it."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What the probes of one feature found."""

    model: str
    server: str
    feature: str
    passed: int
    total: int
    fit: bool
    why: str = ""
    seconds: float = 0.0
    at: str = ""
    forced_by: str = ""
    reason: str = ""

    @property
    def allowed(self) -> bool:
        return self.fit or bool(self.forced_by)

    @property
    def sentence(self) -> str:
        """What was found, in words.

        >>> ModelCheck("m", "", "judge", 3, 8, False, "Its grades follow the passage.").sentence
        'm is not fit for "Judging results": 3 of 8 known items right. Its grades follow the passage.'
        """
        word = "fit" if self.fit else "not fit"
        found = (
            f'{self.model} is {word} for "{FEATURES[self.feature]}": {self.passed} of {self.total} known items right.'
        )
        forced = f" Used all the same: {self.reason}" if self.forced_by and not self.fit else ""
        return f"{found} {self.why}".strip() + forced


class Fitness:
    """Results of probes, by model, server and feature."""

    def __init__(self, database: Database, clock: Clock, audit: Audit) -> None:
        self.database, self.clock, self.audit = database, clock, audit
        self._ready = False

    def require(self, model: str, server: str, purpose: str) -> None:
        """Refuse a call of a model that was found unfit for its purpose; what was not checked may be tried."""
        known = self.of(model, server, purpose) if purpose in FEATURES else None
        if known and not known.allowed:
            raise Unfit(f"{known.sentence} Choose another model, or have an admin allow it with a reason.")

    @use_case(ANYONE)
    def caveat(self, model: str, server: str, purpose: str) -> str:
        """What to say beside the work of a model that is used although it was found unfit; "" for any other."""
        known = self.of(model, server, purpose) if purpose in FEATURES else None
        return known.sentence if known and known.forced_by and not known.fit else ""

    def require_checked(self, model: str, server: str, features: Iterable[str]) -> None:
        """Refuse to choose a model for what it was not checked for, or was found unfit for."""
        for feature in features:
            known = self.of(model, server, feature)
            if known is None:
                raise Refused(
                    f'{model} is not checked for "{FEATURES[feature]}" yet, so its answers cannot be trusted.',
                    add_model("Check the model", f"models check {model}"),
                )
            self.require(model, server, feature)

    def of(self, model: str, server: str, feature: str) -> ModelCheck | None:
        """The last result, if today's probes gave it."""
        row = self._created().model_checks.get(model, server, feature)
        return _check(row) if row and row.version == VERSION else None

    @use_case("compare configurations", READS)
    def listed(self, actor: Actor) -> tuple[ModelCheck, ...]:
        """Every result of today's probes, by model and in the order of the features."""
        checks = [_check(row) for row in self._created().model_checks.all() if row.version == VERSION]
        order = list(FEATURES)
        return tuple(sorted(checks, key=lambda check: (check.model, check.server, order.index(check.feature))))

    def keep(self, check: ModelCheck) -> None:
        """A new result, in place of the last one."""
        values = {name: getattr(check, name) for name in ModelCheck.__slots__}
        with self._created().transaction() as state:
            state.model_checks.keep(**{**values, "fit": int(check.fit), "version": VERSION, "at": self.clock.stamp()})

    @use_case("use an unfit model")
    def force(self, actor: Actor, model: str, feature: str, reason: str, server: str = "") -> ModelCheck:
        """Use an unfit model all the same; the reason is shown with it."""
        reason = " ".join(reason.split())
        if not 3 <= len(reason) <= 300:
            raise BadInput("Say in 3 to 300 characters why the model may be used all the same.")
        one_of(feature, FEATURES, "feature")
        rows = [check for check in self.listed(actor) if (check.model, check.feature) == (model, feature)]
        found = next((check for check in rows if not server or check.server == server), None)
        if found is None:
            raise NotFound(f"{model} was not checked for {feature!r}. Check it first.")
        with self.database.transaction() as state:
            state.model_checks.force(model, found.server, feature, actor.id, reason)
            self.audit.record(state, actor, "use an unfit model", f"{model} for {feature}", detail=reason)
        return self.of(model, found.server, feature) or found

    def _created(self) -> Database:
        """The database with its tables: a call may be the first to need them."""
        if not self._ready:
            self.database.create()
            self._ready = True
        return self.database


def _check(row: ModelCheckRow) -> ModelCheck:
    return of_row(ModelCheck, row)
