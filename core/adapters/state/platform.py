"""Jobs, the git remote, the calls of paid models, and what models were found fit for."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, case, delete, func, select, update

from core.adapters.state.statements import Row, Statements
from core.adapters.state.tables import calls, jobs, model_checks, remotes

UNFINISHED = "not finished"  # stands in `failed` while a call is under way
_OPEN = jobs.c.state.in_(("queued", "running"))


class JobRows:
    """The table `jobs`."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def get(self, number: int) -> Row | None:
        """By id."""
        return self._run.first(select(jobs).where(jobs.c.id == number))

    def newest(self, limit: int) -> list[Row]:
        """Newest first."""
        return self._run.rows(select(jobs).order_by(jobs.c.id.desc()).limit(limit))

    def open(self) -> list[Row]:
        """Those that are queued or running."""
        return self._run.rows(select(jobs).where(_OPEN).order_by(jobs.c.id))

    def same(self, kind: str, arguments: str) -> int | None:
        """An open job that does the same work."""
        alike = select(jobs.c.id).where(jobs.c.kind == kind, jobs.c.arguments == arguments, _OPEN)
        found: int | None = self._run.value(alike)
        return found

    def add(self, **values: Any) -> int:
        """A new one; its id."""
        return self._run.add(jobs, **values)

    def set(self, number: int, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(jobs).where(jobs.c.id == number).values(**values))

    def set_open(self, number: int, **values: Any) -> bool:
        """The same for a job that did not end; False when it did."""
        return self._run.change(update(jobs).where(jobs.c.id == number, _OPEN).values(**values)) > 0

    def begin(self, number: int, at: str) -> None:
        """One more attempt."""
        self.set(number, state="running", started=at, attempts=jobs.c.attempts + 1)

    def cancelled(self, number: int) -> bool:
        """Whether somebody asked it to stop."""
        return bool(self._run.value(select(jobs.c.cancel).where(jobs.c.id == number)))


class RemoteRows:
    """The table `remotes`, which has one row at most."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def get(self) -> Row | None:
        """The remote, if there is one."""
        return self._run.first(select(remotes))

    def add(self, **values: Any) -> None:
        """A new one."""
        self._run.insert(remotes, **values)

    def set(self, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(remotes).values(**values))

    def remove(self) -> None:
        """Forget it."""
        self._run.change(delete(remotes))


class CallRows:
    """The table `calls`. Times are between two texts that sort."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def add(self, **values: Any) -> int:
        """A new one; its id."""
        return self._run.add(calls, **values)

    def set(self, number: int, **values: Any) -> None:
        """Other values in some columns."""
        self._run.change(update(calls).where(calls.c.id == number).values(**values))

    def spent(self, start: str, end: str) -> float:
        """Dollars of a time."""
        return float(self._run.value(select(func.sum(calls.c.dollars)).where(calls.c.at.between(start, end))) or 0.0)

    def newest(self, start: str, end: str, limit: int) -> list[Row]:
        """Newest first."""
        of_time = select(calls).where(calls.c.at.between(start, end))
        return self._run.rows(of_time.order_by(calls.c.id.desc()).limit(limit))

    def averages(self, model: str, purpose: str) -> Row | None:
        """How many calls were made and finished, and what they took on average."""
        made = (calls.c.model == model, calls.c.purpose == purpose, calls.c.cached == 0, calls.c.failed == "")
        taken = func.avg(calls.c.output_tokens).label("output_tokens"), func.avg(calls.c.seconds).label("seconds")
        return self._run.first(select(func.count().label("calls"), *taken).where(*made))

    def by_purpose(self, start: str, end: str) -> list[Row]:
        """Sums by purpose and model, the dearest first. Tokens are those of calls that were made."""
        made = calls.c.cached == 0
        sums = (
            func.count().label("calls"),
            func.sum(calls.c.cached).label("cached"),
            _sum_if(calls.c.failed.not_in(("", UNFINISHED)), 1).label("failed"),
            _sum_if(made, calls.c.input_tokens).label("input_tokens"),
            _sum_if(made, calls.c.output_tokens).label("output_tokens"),
            func.sum(calls.c.seconds).label("seconds"),
            func.sum(calls.c.dollars).label("dollars"),
        )
        group = (calls.c.purpose, calls.c.model)
        of_time = select(*group, *sums).where(calls.c.at.between(start, end)).group_by(*group)
        rows = self._run.rows(of_time.order_by(func.sum(calls.c.dollars).desc(), *group))
        return [{**row, "seconds": round(row["seconds"], 3)} for row in rows]


class ModelCheckRows:
    """The table `model_checks`: one row per model, server and feature."""

    def __init__(self, statements: Statements) -> None:
        self._run = statements

    def all(self) -> list[Row]:
        """Every row, by model and feature."""
        return self._run.rows(select(model_checks).order_by(model_checks.c.model, model_checks.c.server))

    def get(self, model: str, server: str, feature: str) -> Row | None:
        """By its key."""
        return self._run.first(select(model_checks).where(*_key(model, server, feature)))

    def keep(self, model: str, server: str, feature: str, **values: Any) -> None:
        """A new result in place of the last one, and of what was forced against it."""
        self._run.change(delete(model_checks).where(*_key(model, server, feature)))
        self._run.insert(model_checks, model=model, server=server, feature=feature, **values)

    def force(self, model: str, server: str, feature: str, who: str, reason: str) -> bool:
        """Use a model all the same; False when it was never checked."""
        row = update(model_checks).where(*_key(model, server, feature))
        return self._run.change(row.values(forced_by=who, reason=reason)) > 0


def _key(model: str, server: str, feature: str) -> tuple[ColumnElement[bool], ...]:
    return model_checks.c.model == model, model_checks.c.server == server, model_checks.c.feature == feature


def _sum_if(wanted: ColumnElement[bool], value: Any) -> ColumnElement[Any]:
    return func.sum(case((wanted, value), else_=0))
