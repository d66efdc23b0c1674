"""Long measurements as jobs: questions are generated, tau is calibrated, what questions teach is learned, drift is
checked.

A job stores its result, so that a page can show it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core import strict
from core.access import READS, Actor, use_case
from core.errors import Refused, one_of
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.generators.qa import GeneratedSet, QaSettings
from core.evaluation.tuning.calibration import TauRule
from core.ports import Progress
from core.retrieval import config as configs
from core.services.evaluation.question_generator import QuestionGenerator, check_count
from core.services.jobs.jobs import Job, Jobs, Work
from core.services.models.call_estimates import CallEstimate
from core.services.tuning.learning import JOB as LEARN
from core.services.tuning.sweeps import Sweeps

MEASURING = ("generate", "evaluate", "calibrate", LEARN, "drift")  # jobs that authors may cancel


class EvaluationJobs:
    """Starts, runs, finds and cancels long measurements."""

    def __init__(
        self,
        generator: QuestionGenerator,
        tuning: Sweeps,
        jobs: Jobs,
    ) -> None:
        self.generator, self.tuning, self.jobs = generator, tuning, jobs

    def works(self) -> Mapping[str, Work]:
        return {
            "generate": self._generate,
            "calibrate": self._calibrate,
        }

    # ------------------------------------------------------------ start and cancel

    @use_case("keep a query set")
    def generate(
        self, actor: Actor, kind: str, name: str = "", seed: int = 42, per_category: int = 120, by_rules: bool = False
    ) -> Job:
        """Generate a query set from the knowledge base: known-items, or qa, which needs a language model. Known items
        are reworded by the model where there is one, unless `by_rules`."""
        one_of(kind, GENERATORS, "kind")
        arguments = {"kind": kind, "name": name, "seed": seed, "per_category": check_count(per_category)}
        arguments |= {"by_rules": True} if by_rules else {}
        return self.jobs.start("generate", arguments, actor)

    @use_case("keep a query set", READS)
    def estimate(self, actor: Actor, kind: str, per_category: int = 120) -> tuple[CallEstimate, ...]:
        """What making a query set would ask a language model; nothing is asked for it."""
        return self.generator.estimate(kind, per_category)

    @use_case("run an evaluation")
    def calibrate(self, actor: Actor, queryset: str, config: str, rule: TauRule) -> Job:
        """Calibrate tau for a configuration; every judged question is reranked once."""
        configs.parse(config)
        arguments = {"queryset": queryset, "config": config, "measure": rule.measure, "beta": rule.beta}
        arguments |= {"least": rule.least, "rule": rule.by, "keep": rule.keep}
        return self.jobs.start("calibrate", arguments, actor)

    @use_case("change what is in production")
    def learn(self, actor: Actor, querysets: Sequence[str] = ()) -> Job:
        """Learn what the questions of the knowledge base teach; what wins is promoted."""
        return self.jobs.start(LEARN, {"querysets": list(querysets), "promote": True}, actor)

    @use_case("run an evaluation")
    def drift(self, actor: Actor) -> Job:
        """Run production again on the query sets it was measured on."""
        return self.jobs.start("drift", {}, actor)

    @use_case("run an evaluation")
    def cancel(self, actor: Actor, job: int) -> Job:
        """Cancel a measurement; finished work stays."""
        if self.jobs.get(job).kind not in MEASURING:
            raise Refused(f"Job {job} is no measurement. Admins stop it on the Index page.")
        return self.jobs.cancel(actor, job)

    @use_case("see jobs", READS)
    def last(self, actor: Actor, kind: str, queryset: str = "", state: str = "done") -> Job | None:
        """The newest job of a kind in a state, optionally of one query set."""
        jobs = (job for job in self.jobs.listed(actor, 500) if (job.kind, job.state) == (kind, state))
        return next((job for job in jobs if not queryset or queryset in _sets(job)), None)

    @use_case("run an evaluation")
    def keep_result(self, actor: Actor, kind: str, result: Any, **arguments: Any) -> Job:
        """What was measured at the terminal, so that pages show it, too."""
        return self.jobs.record(actor, kind, arguments, result)

    # ------------------------------------------------------------ work

    def _generate(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        actor = self.jobs.actor(arguments, "keep a query set")
        return GENERATORS[arguments["kind"]](self.generator, actor, arguments, progress)

    def _calibrate(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        calibrated = self.tuning.tau(
            self.jobs.actor(arguments, "run an evaluation"),
            arguments["queryset"],
            TauRule(*(arguments[name] for name in ("rule", "beta", "least", "keep", "measure"))),
            config=configs.parse(arguments["config"]),
            progress=progress,
        )
        return strict.plain(calibrated)


def _sets(job: Job) -> tuple[str, ...]:
    """The query sets that a job is about."""
    return (job.arguments.get("queryset", ""), *job.arguments.get("querysets", ()))


def _known_items(
    generator: QuestionGenerator, actor: Actor, arguments: Mapping[str, Any], progress: Progress
) -> dict[str, Any]:
    failed = Counter[str]()
    settings = KnownItemSettings(arguments["seed"], arguments["per_category"], arguments["name"] or "known-items")
    queryset = generator.known_items(actor, settings, progress, failed, by_rules=bool(arguments.get("by_rules")))
    return made_json(GeneratedSet(queryset, worded_by_rules(failed), generator.left_out(queryset)))


def _qa(generator: QuestionGenerator, actor: Actor, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    settings = QaSettings(arguments["seed"], arguments["per_category"], arguments["name"] or QaSettings().name)
    return made_json(generator.qa(actor, settings, progress))


def worded_by_rules(reasons: Mapping[str, int]) -> dict[str, int]:
    """How many paraphrases are by rules although a model was asked, and why."""
    return {f"paraphrased by rules: {why}": count for why, count in reasons.items()}


def made_json(made: GeneratedSet) -> dict[str, Any]:
    """What was generated, what was refused, and what is missing, with the reasons."""
    return {
        "queryset": made.queryset.name,
        "questions": len(made.queryset.questions),
        "refused": dict(made.refused),
        "left_out": dict(made.left_out),
    }


GENERATORS = {"known-items": _known_items, "qa": _qa}
