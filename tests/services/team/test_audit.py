"""The audit has a line for every use case that changes something for others, and for the life of every job."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from core.access import AUDITED, NEEDS, SYSTEM, Actor
from core.bootstrap import App, build
from core.curation.words.pins import Pin
from core.errors import BadInput
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.generators.qa import QaSettings
from core.evaluation.querysets.queryset import Judgment
from core.evaluation.querysets.ratings import AddedPassage
from core.evaluation.runs.pooling import Pooled
from core.evaluation.tuning.calibration import TauRule
from core.ports import Progress
from core.retrieval import config as configs
from core.services.people.accounts import NewAccount
from core.services.platform.settings import QuestionSettings
from core.services.playground.compare import Column
from core.services.playground.grades import Grade
from core.services.remote.remotes import Remotes
from core.services.reviews.authoring import Target
from core.services.reviews.discussion import CommentPlace
from core.storage.state.records import AuditEntry
from core.types import Profile, Receipt
from tests.conftest import ROOT, FixedClock, NoProcesses, ScriptedLlm, SmallModels, demo, indexed, put, small_app, write
from tests.doors.test_doors import records
from tests.services.laboratory.test_embedder import NotingTrainer
from tests.support.evaluated import evaluated, questions
from tests.support.remotes import bare, outside

pytestmark = pytest.mark.usefixtures("few_trees")
AUTHOR, REVIEWER = demo("author"), demo("reviewer")
ADMIN = replace(demo("admin"), door="command line")
TEXT = "# Note\n\nFirst line.\n"


def proposed(app: App, name: str, submitted: bool = True, by: Actor = AUTHOR) -> int:
    number = app.reviews.changes.propose(by, name, {f"{name}.md": TEXT.encode()}).id
    if submitted:
        app.reviews.changes.submit(by, number)
    return number


def invited(app: App) -> int:
    return app.reviews.changes.invite(ADMIN, proposed(app, "uninvite"), ["reviewer"]).id


def questioned(app: App) -> None:
    """Questions by a language model that is there for this alone."""
    generator = replace(app.evaluation.generator, models=SmallModels(ScriptedLlm('{"questions": []}')))
    generator.qa(ADMIN, QaSettings(per_kind=1))


def wide(app: App) -> str:
    """The name of a set with questions enough to learn from."""
    app.evaluation.querysets.keep(ADMIN, questions(each=2, name="wide"))
    return "wide"


def ranked(app: App) -> None:
    """A ranker trained on enough questions."""
    app.tuning.rankers.train(ADMIN, [wide(app)], config=configs.parse("convex-0.5"))


def taught(app: App) -> None:
    app.tuning.embedders.trainer = NotingTrainer(app.settings.home)
    app.tuning.learning.learn(ADMIN, [wide(app)])


def embedded(app: App) -> None:
    """An embedder of a trainer that trains nothing."""
    app.tuning.embedders.trainer = NotingTrainer(app.settings.home)
    app.tuning.embedders.train(ADMIN, [wide(app)])


def rolled_back(app: App) -> None:
    """A promotion of its own, taken back."""
    app.tuning.production.promote(ADMIN, config="convex-0.4", reason="A try.")
    app.tuning.production.rollback(ADMIN, "It was a try.")


def offered(app: App) -> None:
    """What is recommended, measured, also where it was declined before and documents are new."""
    app.index.builder.build(app.platform.settings.profile())
    app.tuning.recommendation.team_settings.decline("", "It is offered again.", ADMIN.person)
    app.tuning.recommendation.measure(ADMIN)


def approved(app: App, name: str) -> int:
    number = proposed(app, name)
    app.reviews.discussion.approve(REVIEWER, number)
    return number


def merged(app: App, name: str) -> int:
    return app.reviews.merger.merge(AUTHOR, approved(app, name)).id


class NoReceiver:
    """The `Poster` port, and the `Mailer` port, where nobody is there."""

    def check(self, url: str) -> str:
        return url

    def post(self, *_: object) -> Receipt:
        return Receipt("sent", 200)

    def connected(self) -> AbstractContextManager[object]:
        return nullcontext(lambda mail: Receipt("sent", 250))


def hooked(app: App) -> int:
    """The number of a new webhook."""
    app.deliveries.sender.poster = app.deliveries.webhooks.poster = NoReceiver()
    return app.deliveries.webhooks.add(ADMIN, "https://example.org/hook")[0].id


def delivered(app: App) -> int:
    """The number of a delivery."""
    return app.deliveries.webhooks.test(ADMIN, hooked(app)).id


def mailed(app: App) -> None:
    """A test of mail."""
    app.deliveries.sender.mailer = NoReceiver()  # type: ignore[assignment]
    app.deliveries.board.test_mail(ADMIN)


def in_conflict(app: App) -> int:
    put(app, {"conflict.md": "# Note\n\nA line.\n"})
    number = app.reviews.changes.propose(ADMIN, "conflict", {"conflict.md": b"# Note\n\nMine.\n"}).id
    put(app, {"conflict.md": "# Note\n\nTheirs.\n"})
    return number


def suggested(app: App) -> tuple[int, int]:
    number = proposed(app, "suggested", by=ADMIN)
    body = "Better:\n```suggestion\nAnother line.\n```"
    return number, app.reviews.discussion.comment(AUTHOR, number, body, CommentPlace("suggested.md", 3)).id


def commented(app: App, actor: Actor = AUTHOR) -> tuple[int, int]:
    number = proposed(app, "commented")
    return number, app.reviews.discussion.comment(actor, number, "Why?").id


def judged(app: App, name: str, actor: Actor) -> int:
    """A change that somebody blocks."""
    return app.reviews.discussion.request_changes(actor, proposed(app, name), "Shorter.").id


def asked(app: App) -> int:
    return app.reviews.changes.ask(ADMIN, proposed(app, "unask"), ["reviewer"]).id


def closed(app: App) -> int:
    return app.reviews.changes.close(AUTHOR, proposed(app, "closed")).id


def worded(app: App) -> Target:
    """A change with two synonyms."""
    return Target(app.words.rules.add(ADMIN, ["lift = elevator", "flat = apartment"]).id)


def pinned(app: App) -> Target:
    """A change with two pins."""
    first = app.words.rules.pin(ADMIN, Pin("Which floor?", "a/doc0.md"))
    return Target(app.words.rules.pin(ADMIN, Pin("Where to go?", "a/doc0.md"), Target(first.id)).id)


def disagreement(app: App) -> str:
    """The key of two documents that disagree."""
    rule = "# Badges\n\nVisitor badges of the warehouse are returned within {0} hours.\n"
    if not app.knowledge.disagreements.everywhere(ADMIN):
        put(app, {f"badges/{hours}.md": rule.format(hours) for hours in (24, 48)})
    return app.knowledge.disagreements.everywhere(ADMIN)[0].key


def gap(app: App) -> int:
    return app.knowledge.gaps.report(AUTHOR, "where to park").id


def saved_configuration(app: App) -> str:
    return app.playground.notebook.save(AUTHOR, Column(name="Mine")).name


def copied_set(app: App) -> str:
    return app.evaluation.querysets.keep(AUTHOR, replace(questions(), name="copy")).name


def answering(app: App) -> Actor:
    """An admin, of a base in which a document lists a question."""
    put(app, {"hr/why.md": "---\nanswers:\n  - Why?\n---\n# Why\n\nBecause.\n"})
    return ADMIN


def started(app: App) -> int:
    return app.evaluation.jobs.drift(AUTHOR).id


def set_file(app: App) -> Path:
    folder = write(app.settings.home.parent / "sets", {"asked.csv": "id,question\nq1,where is the key\n"})
    return folder / "asked.csv"


def session(app: App) -> int:
    app.people.sessions.start(AUTHOR, "cookie")
    return app.people.sessions.all(AUTHOR, AUTHOR.id)[0].id


def restored(app: App) -> App:
    """Another workspace, filled from a backup of this one."""
    place = app.settings.home.parent / "other"
    place.mkdir()
    app.platform.backups.take(ADMIN, place / "backup")
    other = replace(app.settings, home=place / "restored")
    made = build(other, clock=FixedClock(), models=SmallModels(), processes=NoProcesses())
    made.platform.backups.restore(ADMIN, place / "backup")
    return made


def sample_removed(app: App) -> App:
    """Another workspace, which held the sample."""
    other = small_app(app.settings.home.parent / "sampled", NoProcesses())
    other.platform.settings.set_sample("whole", ADMIN.person)
    other.platform.sample.remove(ADMIN)
    return other


def moved(app: App) -> App:
    """Another workspace, with another database."""
    other = small_app(app.settings.home.parent / "elsewhere" / "home", NoProcesses())
    other.platform.backups.move(ADMIN, f"sqlite:///{other.settings.home.parent}/moved.db")
    made = replace(other.settings, database=f"sqlite:///{other.settings.home.parent}/moved.db")
    return build(made, clock=FixedClock(), models=SmallModels(), processes=NoProcesses())


def upgraded(app: App) -> App:
    """Another workspace whose index this version does not find."""
    other = small_app(app.settings.home.parent / "older", NoProcesses())
    put(other, {"a.md": TEXT})
    other.platform.upgrades.run(ADMIN, app.settings.home.parent / "before")
    return other


def folder(app: App) -> Path:
    return write(app.settings.home.parent / "folder", {"imported.md": TEXT})


def talking(app: App) -> None:
    app.models.checker.probed = lambda name: ScriptedLlm("2")


def checked_model(app: App) -> None:
    talking(app)
    app.models.checker.check(ADMIN, features=["judge"])


def pooled(app: App, query: str = "garden") -> AddedPassage:
    return app.playground.pools.add(ADMIN, query, app.search.searcher.search("garden").hits[0], ())


def graded(app: App) -> Grade:
    hit = app.search.searcher.search("garden").hits[0]
    return app.playground.grades.judge(ADMIN, "garden", hit, 2)


def remote(app: App) -> Remotes:
    """A remote of its own, in place of the last one."""
    if app.remote.remotes.show(ADMIN):
        app.remote.remotes.remove(ADMIN)
    shared = bare(Path(tempfile.mkdtemp(dir=app.settings.home.parent)) / "shared.git")
    app.remote.remotes.add(ADMIN, str(shared))
    return app.remote.remotes


def brought_in(app: App) -> App:
    """The history of a repository, in a workspace of its own."""
    place = Path(tempfile.mkdtemp(dir=app.settings.home.parent))
    outside(bare(place / "shared.git"), place / "clone", {"a.md": TEXT})
    other = build(
        replace(app.settings, home=place / "home"), clock=FixedClock(), models=SmallModels(), processes=NoProcesses()
    )
    other.platform.workspace.create()
    other.remote.remotes.bring_in(ADMIN, str(place / "shared.git"))
    return other


def oldest(app: App) -> int:
    """A generation that may be rolled back to: the first ones go where other use cases have built four."""
    return app.index.generations.all(app.platform.settings.profile())[-1].number


USE_CASES: dict[str, Callable[[App], object]] = {
    "people.accounts.add": lambda app: app.people.accounts.add(
        ADMIN, NewAccount("new", "New", "new@example.org", "reader")
    ),
    "people.accounts.set_active": lambda app: app.people.accounts.set_active(ADMIN, "reader", False),
    "people.accounts.set_role": lambda app: app.people.accounts.set_role(ADMIN, "author2", "reviewer"),
    "people.accounts.set_groups": lambda app: app.people.accounts.set_groups(ADMIN, "author2", ["hr"]),
    "people.accounts.set_password": lambda app: app.people.accounts.set_password(ADMIN, "author2", "a long password"),
    "people.accounts.password_link": lambda app: app.people.accounts.password_link(ADMIN, "author2"),
    "people.accounts.unlock": lambda app: app.people.accounts.unlock(ADMIN, "author2"),
    "people.accounts.unbind": lambda app: app.people.accounts.unbind(ADMIN, "author2"),
    "people.sessions.end": lambda app: app.people.sessions.end(ADMIN, session(app)),
    "people.sessions.end_all": lambda app: (session(app), app.people.sessions.end_all(ADMIN)),
    "people.tokens.make": lambda app: app.people.tokens.make(ADMIN, "Script"),
    "people.tokens.revoke": lambda app: app.people.tokens.revoke(ADMIN, app.people.tokens.make(ADMIN, "Old")[1].id),
    "reviews.merger.importing": lambda app: app.reviews.merger.importing(
        ADMIN, "folder", lambda: app.knowledge.documents.import_folder(ADMIN, folder(app))
    ),
    "knowledge.gaps.report": lambda app: app.knowledge.gaps.report(ADMIN, "lost and found"),
    "knowledge.gaps.assign": lambda app: app.knowledge.gaps.assign(ADMIN, gap(app), "author2"),
    "knowledge.gaps.close": lambda app: app.knowledge.gaps.close(ADMIN, gap(app)),
    "answers.checks.check": lambda app: app.answers.checks.check(ADMIN),
    "search.queries.decide": lambda app: app.search.queries.decide(ADMIN, QuestionSettings(days=30)),
    "search.queries.forget": lambda app: app.search.queries.forget(ADMIN, "where to park"),
    "words.rules.add": lambda app: app.words.rules.add(ADMIN, ["lift = elevator"]),
    "words.rules.remove": lambda app: app.words.rules.remove(ADMIN, "lift = elevator", worded(app)),
    "words.rules.pin": lambda app: app.words.rules.pin(ADMIN, Pin("Where is the lift?", "a/doc0.md")),
    "words.rules.unpin": lambda app: app.words.rules.unpin(ADMIN, "Which floor?", pinned(app)),
    "knowledge.disagreements.settle": lambda app: app.knowledge.disagreements.settle(
        ADMIN, disagreement(app), "Both are right."
    ),
    "knowledge.disagreements.reopen": lambda app: app.knowledge.disagreements.reopen(
        ADMIN, app.knowledge.disagreements.settle(ADMIN, disagreement(app), "Both are right.").key
    ),
    "knowledge.freshness.confirm": lambda app: app.knowledge.freshness.confirm(ADMIN, "a/doc0.md", date(2030, 1, 1)),
    "reviews.changes.propose": lambda app: app.reviews.changes.propose(ADMIN, "p", {"p.md": TEXT.encode()}),
    "reviews.changes.edit": lambda app: app.reviews.changes.edit(
        ADMIN, proposed(app, "e", by=ADMIN), {"e.md": b"# Other\n"}
    ),
    "reviews.changes.describe": lambda app: app.reviews.changes.describe(
        ADMIN, proposed(app, "d", by=ADMIN), "Title", "Why"
    ),
    "reviews.changes.submit": lambda app: app.reviews.changes.submit(
        ADMIN, proposed(app, "sub", submitted=False, by=ADMIN)
    ),
    "reviews.changes.invite": lambda app: app.reviews.changes.invite(ADMIN, proposed(app, "invite"), ["admin"]),
    "reviews.changes.uninvite": lambda app: app.reviews.changes.uninvite(ADMIN, invited(app), ["reviewer"]),
    "knowledge.feedback.give": lambda app: app.knowledge.feedback.give(ADMIN, "a/doc0.md", "comment", "Good."),
    "knowledge.feedback.close": lambda app: app.knowledge.feedback.close(
        ADMIN, app.knowledge.feedback.give(AUTHOR, "a/doc0.md", "wrong", "No.").id
    ),
    "reviews.changes.ask": lambda app: app.reviews.changes.ask(ADMIN, proposed(app, "ask"), ["reviewer"]),
    "reviews.changes.unask": lambda app: app.reviews.changes.unask(ADMIN, asked(app), ["reviewer"]),
    "reviews.changes.withdraw": lambda app: app.reviews.changes.withdraw(ADMIN, proposed(app, "w")),
    "reviews.changes.close": lambda app: app.reviews.changes.close(ADMIN, proposed(app, "c")),
    "reviews.changes.reopen": lambda app: app.reviews.changes.reopen(ADMIN, closed(app)),
    "reviews.discussion.comment": lambda app: app.reviews.discussion.comment(ADMIN, proposed(app, "m"), "Why?"),
    "reviews.discussion.resolve": lambda app: app.reviews.discussion.resolve(ADMIN, *commented(app)),
    "reviews.discussion.apply": lambda app: app.reviews.discussion.apply(ADMIN, *suggested(app)),
    "reviews.discussion.approve": lambda app: app.reviews.discussion.approve(ADMIN, proposed(app, "a")),
    "reviews.discussion.request_changes": lambda app: app.reviews.discussion.request_changes(
        ADMIN, proposed(app, "r"), "Shorter."
    ),
    "reviews.discussion.take_back": lambda app: app.reviews.discussion.take_back(ADMIN, judged(app, "t", ADMIN)),
    "reviews.discussion.lift": lambda app: app.reviews.discussion.lift(
        ADMIN, judged(app, "l", REVIEWER), "It is gone."
    ),
    "reviews.discussion.edit_comment": lambda app: app.reviews.discussion.edit_comment(
        ADMIN, *commented(app, ADMIN), "So?"
    ),
    "reviews.discussion.delete_comment": lambda app: app.reviews.discussion.delete_comment(ADMIN, *commented(app)),
    "reviews.merger.merge": lambda app: app.reviews.merger.merge(ADMIN, approved(app, "merge")),
    "reviews.merger.revert": lambda app: app.reviews.merger.revert(ADMIN, merged(app, "revert")),
    "reviews.merger.solve": lambda app: app.reviews.merger.solve(ADMIN, in_conflict(app), {"conflict.md": ("mine",)}),
    "upload.statuses.decide": lambda app: app.upload.statuses.decide(ADMIN, {"beta": "draft"}),
    "upload.uploads.submit": lambda app: app.upload.uploads.submit(
        ADMIN, app.upload.uploads.paste(ADMIN, "pasted", "# Parking\n\nBehind the house.\n"), "Upload"
    ),
    "index.admin.rebuild": lambda app: app.index.admin.rebuild(ADMIN, full=True),
    "index.admin.verify": lambda app: app.index.admin.verify(ADMIN),
    "index.admin.cancel": lambda app: app.index.admin.cancel(ADMIN, started(app)),
    "index.admin.add_profile": lambda app: app.index.admin.add_profile(ADMIN, Profile(name="mine")),
    "index.admin.delete_profile": lambda app: (
        app.index.admin.add_profile(ADMIN, Profile(name="short-lived")),
        app.index.admin.delete_profile(ADMIN, "short-lived"),
    ),
    "index.jobs.build": lambda app: app.index.jobs.build(ADMIN),
    "models.checker.check": lambda app: checked_model(app),
    "models.checker.start": lambda app: (talking(app), app.models.checker.start(ADMIN)),
    "models.fitness.force": lambda app: (
        checked_model(app),
        app.models.fitness.force(ADMIN, "scripted", "judge", "to compare it"),
    ),
    "index.admin.rollback": lambda app: app.index.admin.rollback(ADMIN, oldest(app)),
    "index.admin.make_default": lambda app: app.index.admin.make_default(ADMIN, "local"),
    "playground.notebook.save": lambda app: app.playground.notebook.save(ADMIN, Column(name="Ours")),
    "playground.notebook.forget": lambda app: app.playground.notebook.forget(ADMIN, saved_configuration(app)),
    "playground.grades.judge": graded,
    "playground.grades.withdraw": lambda app: (
        graded(app),
        app.playground.grades.withdraw(ADMIN, "garden", app.search.searcher.search("garden").hits[0]),
    ),
    "playground.pools.add": pooled,
    "playground.pools.remove": lambda app: (
        pooled(app, "shed"),
        app.playground.pools.remove(ADMIN, "shed", app.search.searcher.search("garden").hits[0]),
    ),
    "playground.pools.rate": lambda app: app.playground.pools.rate(
        ADMIN, "garden", app.playground.pools.answer(ADMIN, "garden"), "yes"
    ),
    "evaluation.editor.rename": lambda app: app.evaluation.editor.rename(ADMIN, copied_set(app), "renamed"),
    "evaluation.editor.add_question": lambda app: app.evaluation.editor.add_question(ADMIN, "small", "why?"),
    "evaluation.editor.edit_question": lambda app: app.evaluation.editor.edit_question(
        ADMIN, "small", "q1first", "how?"
    ),
    "evaluation.editor.remove_question": lambda app: app.evaluation.editor.remove_question(ADMIN, "small", "q2first"),
    "evaluation.editor.put_judgment": lambda app: app.evaluation.editor.put_judgment(
        ADMIN, "small", Judgment("q0first", "a/doc0.md", grade=2.0)
    ),
    "evaluation.editor.remove_judgment": lambda app: app.evaluation.editor.remove_judgment(
        ADMIN,
        "small",
        next(one for one in app.evaluation.querysets.get("small").judgments if one.question == "q3first"),
    ),
    "evaluation.querysets.guard": lambda app: app.evaluation.querysets.guard(ADMIN, copied_set(app)),
    "evaluation.querysets.keep": lambda app: app.evaluation.querysets.keep(ADMIN, replace(questions(), name="kept")),
    "evaluation.querysets.read": lambda app: app.evaluation.querysets.read(ADMIN, set_file(app)),
    "evaluation.querysets.read_upload": lambda app: app.evaluation.querysets.read_upload(
        ADMIN, "up.csv", b"id,question\nq1,where is the key\n"
    ),
    "evaluation.querysets.from_frontmatter": lambda app: app.evaluation.querysets.from_frontmatter(answering(app)),
    "evaluation.querysets.from_playground": lambda app: app.evaluation.querysets.from_playground(ADMIN, [graded(app)]),
    "evaluation.querysets.judge": lambda app: app.evaluation.querysets.judge(
        ADMIN, "small", [Judgment("q0first", "a/doc0.md", grade=1.0)]
    ),
    "evaluation.querysets.judge_by_model": lambda app: app.evaluation.querysets.judge_by_model(
        ADMIN, "small", [Pooled(questions().questions[0], "a/doc0.md", "Document", (), "text")], ScriptedLlm("2")
    ),
    "evaluation.querysets.set_guidelines": lambda app: app.evaluation.querysets.set_guidelines(ADMIN, "small", "Read."),
    "evaluation.querysets.drop": lambda app: app.evaluation.querysets.drop(ADMIN, copied_set(app)),
    "evaluation.runs.measure": lambda app: app.evaluation.runs.measure(ADMIN, "small", [("", "bm25")]),
    "evaluation.runs.start": lambda app: app.evaluation.runs.start(ADMIN, "small", [("", "dense")]),
    "evaluation.generator.known_items": lambda app: app.evaluation.generator.known_items(
        ADMIN, KnownItemSettings(per_category=1, name="made")
    ),
    "evaluation.generator.qa": lambda app: questioned(app),
    "evaluation.jobs.generate": lambda app: app.evaluation.jobs.generate(ADMIN, "known-items"),
    "evaluation.jobs.calibrate": lambda app: app.evaluation.jobs.calibrate(
        ADMIN, "small", "bm25", TauRule(beta=0.9, least=5, measure="nDCG@10")
    ),
    "evaluation.jobs.learn": lambda app: app.evaluation.jobs.learn(ADMIN),
    "evaluation.jobs.keep_result": lambda app: app.evaluation.jobs.keep_result(ADMIN, "learn", {}, queryset="small"),
    "evaluation.jobs.drift": lambda app: app.evaluation.jobs.drift(ADMIN),
    "evaluation.jobs.cancel": lambda app: app.evaluation.jobs.cancel(ADMIN, started(app)),
    "tuning.sweeps.load": lambda app: app.tuning.sweeps.load(ADMIN, "small"),
    "tuning.sweeps.alpha_curves": lambda app: app.tuning.sweeps.alpha_curves(
        ADMIN, "small", configs.parse("convex-0.5")
    ),
    "tuning.sweeps.tau": lambda app: app.tuning.sweeps.tau(ADMIN, "small", config=configs.parse("convex-0.5")),
    "tuning.training.train": lambda app: app.tuning.training.train(ADMIN, "small", config=configs.parse("tm2c2-0.5")),
    "tuning.confidence.measure": lambda app: app.tuning.confidence.measure(ADMIN, "small"),
    "tuning.confidence.choose": lambda app: app.tuning.confidence.choose(ADMIN, threshold=0.4, reason="A try."),
    "tuning.rankers.train": lambda app: ranked(app),
    "tuning.learning.learn": lambda app: taught(app),
    "tuning.embedders.train": lambda app: embedded(app),
    "tuning.production.check": lambda app: app.tuning.production.check(ADMIN),
    "tuning.production.promote": lambda app: app.tuning.production.promote(ADMIN, config="bm25", reason="A try."),
    "tuning.production.rollback": lambda app: rolled_back(app),
    "tuning.recommendation.measure": lambda app: offered(app),
    "tuning.recommendation.decline": lambda app: app.tuning.recommendation.decline(ADMIN, "We like ours."),
    "deliveries.webhooks.add": lambda app: hooked(app),
    "deliveries.webhooks.switch": lambda app: app.deliveries.webhooks.switch(ADMIN, hooked(app), False),
    "deliveries.webhooks.remove": lambda app: app.deliveries.webhooks.remove(ADMIN, hooked(app)),
    "deliveries.webhooks.test": lambda app: app.deliveries.webhooks.test(ADMIN, hooked(app)),
    "deliveries.board.redeliver": lambda app: app.deliveries.board.redeliver(ADMIN, delivered(app)),
    "deliveries.board.test_mail": mailed,
    "platform.backups.take": lambda app: app.platform.backups.take(ADMIN, app.settings.home.parent / "saved"),
    "platform.sample.remove": sample_removed,
    "platform.backups.restore": restored,
    "platform.backups.move": moved,
    "platform.upgrades.run": upgraded,
    "remote.remotes.add": remote,
    "remote.remotes.bring_in": brought_in,
    "remote.remotes.ask": lambda app: remote(app).ask(ADMIN),
    "remote.remotes.push": lambda app: remote(app).push(ADMIN),
    "remote.remotes.fetch": lambda app: remote(app).fetch(ADMIN),
    "remote.remotes.remove": lambda app: remote(app).remove(ADMIN),
}


@pytest.fixture(scope="module")
def audited_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    return evaluated(small_app(tmp_path_factory.mktemp("audit") / "home", NoProcesses()))


@pytest.fixture
def app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", {"a.md": TEXT})


def newest(app: App) -> tuple[AuditEntry, ...]:
    return app.people.audit.entries(demo("admin"), limit=100_000)


def documented() -> set[str]:
    """The actions that the page about the audit lists."""
    rows = re.findall(r"^\| (`.+?`) \|", (ROOT / "docs" / "audit.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {action for row in rows for action in re.findall(r"`([^`]+)`", row)}


OWN_FILE = (
    "platform.backups.restore",
    "platform.backups.move",
    "platform.sample.remove",
)  # they make or need the file of SQLite


def test_every_audited_use_case_is_tried_here() -> None:
    audited = {name for name, record in records().items() if record.needs in NEEDS and record.recorded == AUDITED}
    assert audited == set(USE_CASES), "a use case is new or gone: say in USE_CASES how it is used"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.sqlite if name in OWN_FILE else ()) for name in USE_CASES],
)
def test_a_use_case_leaves_a_line_with_who_and_door(audited_app: App, name: str) -> None:
    before = newest(audited_app)[0].id
    done = USE_CASES[name](audited_app)
    other = done if isinstance(done, App) else audited_app
    before = before if newest(other)[0].id > before else 0  # a workspace that began empty
    mine = [line for line in newest(other) if line.id > before and line.who == ADMIN.id]
    assert mine, "nothing is in the audit"
    assert {(line.name, line.role, line.door) for line in mine} == {(ADMIN.name, "admin", "command line")}
    assert all(line.what for line in mine)
    assert {line.action for line in mine} <= documented()


def test_the_page_lists_every_action_that_the_code_writes() -> None:
    written = re.compile(
        r'(?:audit\.(?:record|note)\(|_judged\(|_move\()[^()]*?\bactor, (?:row, "[a-z ]+", )?"([a-z -]+)"'
    )
    found = {
        action for path in (ROOT / "core").rglob("*.py") for action in written.findall(path.read_text(encoding="utf-8"))
    }
    assert len(found) > 20
    assert found <= documented()


# ---------------------------------------------------------------- jobs


def lines(app: App, kind: str) -> list[tuple[str, str, str, str]]:
    """Who, door, action and detail of what the audit says about jobs of a kind, oldest first."""
    mine = [line for line in newest(app) if line.what.startswith(f"{kind} ")]
    return [(line.who, line.door, line.action, line.detail) for line in reversed(mine)]


def test_a_job_has_a_line_when_it_is_asked_for_and_when_it_ends(app: App) -> None:
    job = app.index.admin.rebuild(ADMIN)
    assert app.index.admin.rebuild(ADMIN).id == job.id, "the same job is not queued twice"
    app.platform.jobs.run(job.id, app.platform.workspace.works)
    assert lines(app, "reindex") == [
        ("admin", "command line", "start a job", "profile local"),
        ("admin", "command line", "job done", ""),
    ]


def test_a_job_that_fails_says_why_and_one_that_is_stopped_says_by_whom(app: App) -> None:
    def fail(*_: object) -> None:
        raise BadInput("It does not work.")

    def until_stopped(arguments: object, progress: Progress) -> None:
        progress(1, 1, "Working")

    failing, stopped = app.platform.jobs.start("drift", {}, AUTHOR), app.platform.jobs.start("verify", {}, AUTHOR)
    app.platform.jobs.run(failing.id, {"drift": fail})
    app.index.admin.cancel(ADMIN, stopped.id)
    app.platform.jobs.run(stopped.id, {"verify": until_stopped})
    assert lines(app, "drift")[1] == ("author", "app", "job failed", "It does not work.")
    assert lines(app, "verify")[1:] == [
        ("admin", "command line", "cancel a job", ""),
        ("author", "app", "job cancelled", ""),
    ]


def test_a_build_after_a_merge_names_who_merged(app: App) -> None:
    merged(app, "built")
    (job,) = [job for job in app.platform.jobs.recent() if job.kind == "reindex"]
    app.platform.jobs.run(job.id, app.platform.workspace.works)
    assert lines(app, "reindex") == [
        ("author", "app", "start a job", "by itself; profile local"),
        ("author", "app", "job done", ""),
    ]


def test_a_build_that_nobody_asked_for_is_the_systems_own(app: App) -> None:
    put(app, {"b.md": TEXT})
    app.platform.workspace.catch_up()
    assert lines(app, "reindex")[0][:3] == (SYSTEM.id, SYSTEM.door, "start a job")


def test_a_short_list_holds_the_newest_lines(app: App) -> None:
    for action in ("first", "second", "third"):
        app.people.audit.note(ADMIN, action, "a bell")
    shown = app.people.audit.entries(ADMIN, limit=2)
    assert [line.action for line in shown] == ["third", "second"]


def test_judging_many_passages_of_a_query_is_one_line_per_person(app: App) -> None:
    hit = app.search.searcher.search("line").hits[0]
    for who, grade in ((AUTHOR, 1), (AUTHOR, 2), (REVIEWER, 3), (AUTHOR, 0)):
        app.playground.grades.judge(who, "line", hit, grade)
    judges = [line.who for line in newest(app) if line.action == "judge passages"]
    assert sorted(judges) == ["author", "reviewer"]
