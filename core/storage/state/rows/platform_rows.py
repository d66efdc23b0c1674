"""Jobs and workers, the git remote, calls of paid models and their checks, and what goes out: mail and webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, or_, select, update

from core.storage.state.records import (
    Call,
    DeliveryAttemptRow,
    DeliveryRow,
    HeldDelivery,
    JobRow,
    ModelCheckRow,
    OpenJob,
    PastCalls,
    RemoteRow,
    ReplyRow,
    SpendingOnPurpose,
    WebhookRow,
    WorkerRow,
)
from core.storage.state.tables import (
    calls,
    claims,
    deliveries,
    delivery_attempts,
    jobs,
    mail_choices,
    mail_keys,
    messages,
    model_checks,
    remotes,
    replies,
    webhooks,
    workers,
)
from core.storage.state.transactions import NumberedRows, StoredRows, seconds_now

UNFINISHED = "not finished"  # stands in `failed` while a call is under way
_OPEN = jobs.c.state.in_(("queued", "running"))
_LOST = and_(jobs.c.state == "running", jobs.c.leased < seconds_now())
_WAITS = or_(jobs.c.state == "queued", _LOST)
_JOBS = select(*(column for column in jobs.c if column.name != "log"))


class ReplyRows(StoredRows):
    """The table `replies`: what the API answered under the keys of its callers."""

    def get(self, caller: str, key: str) -> ReplyRow | None:
        return self._run.first(ReplyRow, select(replies).where(replies.c.caller == caller, replies.c.key == key))

    def add(self, **values: Any) -> None:
        """One that is being worked on."""
        self._run.insert(replies, **values)

    def set(self, caller: str, key: str, **values: Any) -> None:
        self._run.change(update(replies).where(replies.c.caller == caller, replies.c.key == key).values(**values))

    def drop(self, caller: str, key: str) -> None:
        """As if it had not come."""
        self._run.change(delete(replies).where(replies.c.caller == caller, replies.c.key == key))

    def older(self, than: float) -> int:
        """Drop what is older; how many there were."""
        return self._run.change(delete(replies).where(replies.c.at < than))


class JobRows(NumberedRows[JobRow]):
    """The table `jobs`; what one printed is read on its own."""

    kind, table = JobRow, jobs

    def get(self, number: int) -> JobRow | None:
        return self._run.first(JobRow, _JOBS.where(jobs.c.id == number))

    def newest(self, limit: int) -> list[JobRow]:
        """Newest first."""
        return self._run.rows(JobRow, _JOBS.order_by(jobs.c.id.desc()).limit(limit))

    def open(self) -> list[OpenJob]:
        """Those that are queued or running; `lost` where the worker that has it was not heard of in time."""
        return self._run.rows(OpenJob, _JOBS.add_columns(_LOST.label("lost")).where(_OPEN).order_by(jobs.c.id))

    def same(self, kind: str, arguments: str) -> JobRow | None:
        """An open job that does the same work."""
        return self._run.first(JobRow, _JOBS.where(jobs.c.kind == kind, jobs.c.arguments == arguments, _OPEN))

    def set_open(self, number: int, **values: Any) -> bool:
        """The same for a job that did not end; False when it did."""
        return self._run.change(update(jobs).where(jobs.c.id == number, _OPEN).values(**values)) > 0

    def log(self, number: int) -> str:
        """The end of what it printed, as far as workers wrote it down."""
        return self._run.value(select(jobs.c.log).where(jobs.c.id == number)) or ""

    # ------------------------------------------------------------ workers

    def waiting(self, attempts: int) -> list[JobRow]:
        """Those that nobody does and that were not tried too often, oldest first."""
        return self._run.rows(JobRow, _JOBS.where(_WAITS, jobs.c.attempts < attempts).order_by(jobs.c.id))

    def claim(self, number: int, worker: str, at: str, lease: float) -> bool:
        """Give a job that waits to a worker; False where another one was quicker, or it ended."""
        mine = {"state": "running", "worker": worker, "leased": seconds_now() + lease, "started": at}
        taken = update(jobs).where(jobs.c.id == number, _WAITS).values(**mine, attempts=jobs.c.attempts + 1)
        return bool(self._run.take(taken.returning(jobs.c.id)))

    def lose(self, worker: str) -> None:
        """A worker died: what it had waits for another one."""
        self._run.change(update(jobs).where(jobs.c.worker == worker, jobs.c.state == "running").values(leased=0.0))

    def report(self, number: int, worker: str, **values: Any) -> bool | None:
        """What became of a job so far; whether it was asked to stop, None where another worker has it."""
        mine = (jobs.c.id == number, jobs.c.worker == worker, jobs.c.state == "running")
        rows = self._run.take(update(jobs).where(*mine).values(**values).returning(jobs.c.cancel))
        return bool(rows[0]) if rows else None

    def hand_back(self, number: int, worker: str) -> None:
        """Let another worker have it; this was no attempt."""
        mine = update(jobs).where(jobs.c.id == number, jobs.c.worker == worker, jobs.c.state == "running")
        self._run.change(mine.values(state="queued", worker="", leased=0, attempts=jobs.c.attempts - 1))

    def beat(self, number: int, worker: str, lease: float, log: str) -> bool | None:
        """The same, with a longer lease and what it printed."""
        return self.report(number, worker, leased=seconds_now() + lease, log=log)


class WorkerRows(StoredRows):
    """The tables `workers`, which says who is alive, and `claims`: what one node at a time may do."""

    def join(self, name: str, started: str) -> None:
        """A worker begins; those that were not seen for a day are forgotten."""
        self._run.change(delete(workers).where(workers.c.seen < seconds_now() - 86_400.0))
        self._run.upsert(workers, [{"name": name, "started": started, "seen": 0.0}], new=["started"])
        self.see(name)

    def see(self, name: str) -> None:
        alive = update(workers).where(workers.c.name == name).values(seen=seconds_now())
        self._run.take(alive.returning(workers.c.name))

    def leave(self, name: str) -> None:
        self._run.change(delete(workers).where(workers.c.name == name))

    def silence(self) -> dict[str, float]:
        """For how many seconds each worker gave no sign of life."""
        return self._run.pairs(select(workers.c.name, seconds_now() - workers.c.seen))

    def alive(self, within: float) -> list[WorkerRow]:
        """Those that were seen in the last seconds."""
        return self._run.rows(
            WorkerRow, select(workers).where(workers.c.seen > seconds_now() - within).order_by(workers.c.name)
        )

    def claim(self, name: str, holder: str, lease: float) -> bool:
        """Whether a holder has something for itself for a time, since nobody else has it."""
        free = or_(claims.c.until < seconds_now(), claims.c.holder == holder)
        self._run.change(delete(claims).where(claims.c.until < seconds_now() - 86_400.0, claims.c.holder != ""))
        self._run.upsert(claims, [{"name": name, "holder": "", "until": 0.0}], new=())
        mine = update(claims).where(claims.c.name == name, free).values(holder=holder, until=seconds_now() + lease)
        return self._run.change(mine) > 0


class RemoteRows(StoredRows):
    """The table `remotes`, which has one row at most."""

    def get(self) -> RemoteRow | None:
        """The remote, if there is one."""
        return self._run.first(RemoteRow, select(remotes))

    def add(self, remote: RemoteRow) -> None:
        self._run.insert(remotes, **vars(remote))

    def set(self, **values: Any) -> None:
        self._run.change(update(remotes).values(**values))

    def remove(self) -> None:
        self._run.change(delete(remotes))


class CallRows(NumberedRows[Call]):
    """The table `calls`. Times are between two texts that sort."""

    kind, table = Call, calls

    def spent(self, start: str, end: str) -> float:
        """Dollars of a time."""
        return float(self._run.value(select(func.sum(calls.c.dollars)).where(calls.c.at.between(start, end))) or 0.0)

    def newest(self, start: str, end: str, limit: int) -> list[Call]:
        """Newest first."""
        of_time = select(calls).where(calls.c.at.between(start, end))
        return self._run.rows(Call, of_time.order_by(calls.c.id.desc()).limit(limit))

    def averages(self, model: str, purpose: str) -> PastCalls | None:
        """What calls that were made and finished took; None before the first."""
        made = (calls.c.model == model, calls.c.purpose == purpose, calls.c.cached == 0, calls.c.failed == "")
        taken = func.avg(calls.c.output_tokens).label("output_tokens"), func.avg(calls.c.seconds).label("seconds")
        return self._run.first(PastCalls, select(*taken).where(*made).having(func.count() > 0))

    def by_purpose(self, start: str, end: str) -> list[SpendingOnPurpose]:
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
        rows = self._run.rows(SpendingOnPurpose, of_time.order_by(func.sum(calls.c.dollars).desc(), *group))
        return [replace(row, seconds=round(row.seconds, 3)) for row in rows]


class ModelCheckRows(StoredRows):
    """The table `model_checks`: one row per model, server and feature."""

    def all(self) -> list[ModelCheckRow]:
        """Every row, by model and feature."""
        return self._run.rows(ModelCheckRow, select(model_checks).order_by(model_checks.c.model, model_checks.c.server))

    def get(self, model: str, server: str, feature: str) -> ModelCheckRow | None:
        return self._run.first(ModelCheckRow, select(model_checks).where(*_key(model, server, feature)))

    def keep(self, model: str, server: str, feature: str, **values: Any) -> None:
        """A new result in place of the last one, and of what was forced against it."""
        self._run.change(delete(model_checks).where(*_key(model, server, feature)))
        self._run.insert(model_checks, model=model, server=server, feature=feature, **values)

    def force(self, model: str, server: str, feature: str, who: str, reason: str) -> bool:
        """Use a model all the same; False when it was never checked."""
        row = update(model_checks).where(*_key(model, server, feature))
        return self._run.change(row.values(forced_by=who, reason=reason)) > 0


def _of_lane(channel: str, target: str) -> tuple[ColumnElement[bool], ...]:
    """Mail has one lane for all."""
    return (deliveries.c.channel == channel, *([deliveries.c.target == target] if target else []))


def _free(now: float) -> tuple[ColumnElement[bool], ...]:
    return deliveries.c.state == "waiting", deliveries.c.due <= now, deliveries.c.leased <= now


class DeliveryRows(StoredRows):
    """The tables `deliveries` and `delivery_attempts`: what goes out, and every attempt at it."""

    def add(self, **values: Any) -> None:
        """A new one, unless its key is there."""
        self._run.upsert(deliveries, [values], ["key"], ())

    def get(self, number: int) -> DeliveryRow | None:
        return self._run.first(DeliveryRow, select(deliveries).where(deliveries.c.id == number))

    def by_key(self, key: str) -> DeliveryRow | None:
        """By what receivers know it by."""
        return self._run.first(DeliveryRow, select(deliveries).where(deliveries.c.key == key))

    def newest(self, limit: int, **equal: Any) -> list[DeliveryRow]:
        """Those in which the named columns have the given values, newest first; an empty value asks for nothing."""
        wanted = [deliveries.c[name] == value for name, value in equal.items() if value]
        return self._run.rows(
            DeliveryRow, select(deliveries).where(*wanted).order_by(deliveries.c.id.desc()).limit(limit)
        )

    def counts(self) -> dict[str, int]:
        """How many are in each state."""
        return self._run.pairs(select(deliveries.c.state, func.count()).group_by(deliveries.c.state))

    def lanes(self, now: float) -> list[tuple[str, str]]:
        """The mail server and the webhooks for which something is due that no worker holds."""
        target = case((deliveries.c.channel == "mail", ""), else_=deliveries.c.target).label("target")
        lanes = select(deliveries.c.channel, target).where(*_free(now)).distinct()
        return sorted((row.channel, row.target) for row in self._run.rows(DeliveryRow, lanes))

    def due(self, now: float, limit: int, channel: str, target: str) -> list[DeliveryRow]:
        """What is due in one lane and no worker holds, oldest first."""
        mine = (*_free(now), *_of_lane(channel, target))
        return self._run.rows(
            DeliveryRow, select(deliveries).where(*mine).order_by(deliveries.c.due, deliveries.c.id).limit(limit)
        )

    def postpone(self, channel: str, target: str, until: float) -> None:
        """What is due in one lane earlier and no worker holds waits, too."""
        mine = (*_free(until), *_of_lane(channel, target))
        self._run.change(update(deliveries).where(*mine).values(due=until))

    def lease(self, number: int, worker: str, until: float) -> None:
        """Give one to a worker for a time."""
        self.set(number, worker=worker, leased=until)

    def end_lease(self, number: int, worker: str, **values: Any) -> bool:
        """What became of one that a worker holds; False where it was taken over."""
        mine = (deliveries.c.id == number, deliveries.c.worker == worker)
        return self._run.change(update(deliveries).where(*mine).values(**values, worker="", leased=0)) > 0

    def set(self, number: int, **values: Any) -> None:
        self._run.change(update(deliveries).where(deliveries.c.id == number).values(**values))

    def cancel(self, channel: str, target: str, note: str, at: str) -> int:
        """End what waits for one receiver; how many that were."""
        waiting = (deliveries.c.state.in_(("waiting", "held")), deliveries.c.channel == channel)
        ended = update(deliveries).where(*waiting, deliveries.c.target == target)
        return self._run.change(ended.values(state="cancelled", note=note, ended=at))

    def held(self, before: float) -> list[HeldDelivery]:
        """What waits for the daily mail since before a moment, oldest first, with when its message was `read`."""
        joined = select(deliveries, messages.c.read).outerjoin(messages, messages.c.id == deliveries.c.message)
        waiting = (deliveries.c.state == "held", deliveries.c.since < before)
        return self._run.rows(HeldDelivery, joined.where(*waiting).order_by(deliveries.c.id))

    def add_attempt(self, **values: Any) -> int:
        return self._run.add(delivery_attempts, **values)

    def attempts(self, number: int) -> list[DeliveryAttemptRow]:
        """Of one delivery, oldest first."""
        mine = delivery_attempts.c.delivery == number
        return self._run.rows(
            DeliveryAttemptRow, select(delivery_attempts).where(mine).order_by(delivery_attempts.c.id)
        )

    def forget(self, before: float) -> int:
        """Drop what ended and is older, with its attempts; how many that were."""
        old = (deliveries.c.since < before, deliveries.c.state.not_in(("waiting", "held")))
        numbers = select(deliveries.c.id).where(*old)
        self._run.change(delete(delivery_attempts).where(delivery_attempts.c.delivery.in_(numbers)))
        return self._run.change(delete(deliveries).where(*old))


class WebhookRows(NumberedRows[WebhookRow]):
    """The table `webhooks`."""

    kind, table = WebhookRow, webhooks

    def all(self) -> list[WebhookRow]:
        """Oldest first."""
        return self._run.rows(WebhookRow, select(webhooks).order_by(webhooks.c.id))

    def drop(self, number: int) -> int:
        """Gone; how many that were."""
        return self._run.change(delete(webhooks).where(webhooks.c.id == number))


class MailChoiceRows(StoredRows):
    """The tables `mail_choices` and `mail_keys`: what people want by mail, and the keys that sign their links."""

    def of(self, account: str) -> dict[str, str]:
        """Topic to choice."""
        mine = mail_choices.c.account == account
        return self._run.pairs(select(mail_choices.c.topic, mail_choices.c.choice).where(mine))

    def set(self, account: str, topics: Sequence[str], choice: str) -> None:
        """The same choice for some topics."""
        rows = [{"account": account, "topic": topic, "choice": choice} for topic in topics]
        self._run.upsert(mail_choices, rows)

    def key(self, account: str) -> str:
        """The key of an account, "" if it has none."""
        return self._run.value(select(mail_keys.c.key).where(mail_keys.c.account == account)) or ""

    def add_key(self, account: str, key: str) -> None:
        """A key, unless there is one."""
        self._run.upsert(mail_keys, [{"account": account, "key": key}], new=())


def _key(model: str, server: str, feature: str) -> tuple[ColumnElement[bool], ...]:
    return model_checks.c.model == model, model_checks.c.server == server, model_checks.c.feature == feature


def _sum_if(wanted: ColumnElement[bool], value: Any) -> ColumnElement[Any]:
    return func.sum(case((wanted, value), else_=0))
