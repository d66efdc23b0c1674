"""The Production tab: what everybody searches with, drift, and promotion with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core import profiles, strict
from core.access import Actor, allowed, require
from core.errors import ConcordError, Refused
from core.evaluation.runs.comparisons import MEASURE, RunComparison
from core.evaluation.runs.run import Run, latest
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.services.platform.settings import Promotion
from core.services.tuning.production import losses, proven
from pages.ui import actions, charts, dialogs, flash, identity, style, verdicts
from pages.ui.configurations import called
from pages.ui.evaluation.selection import names
from pages.ui.home import empty
from pages.ui.tuning.state import TuningSet
from pages.ui.workspace import app, evidence

ACTION = "change what is in production"


def draw(tuning_set: TuningSet) -> None:
    """The current configuration, a candidate, the history."""
    now = app().platform.settings.production()
    st.markdown(
        f"Everybody searches with **{flash.plain(called(now.config))}** on {flash.plain(now.profile.name)}, depth"
        f" {now.config.depth}."
    )
    _offer()
    _drift()
    st.header("Promote", anchor=False)
    _promote(tuning_set)
    st.header("History", anchor=False)
    _history()


def _offer() -> None:
    """The recommended configuration, where production is another one: measured here before it is promoted below."""
    offer = app().tuning.recommendation.offer(identity.me())
    if offer is None:
        return
    with st.container(border=True, key="offer"):
        st.markdown(
            f":material/lightbulb: **{flash.plain(offer.title)}** is what new knowledge bases start with."
            f" {flash.plain(offer.about)}"
        )
        st.caption(
            "Measured on your questions: choose it under Promote for the evidence."
            if offer.run
            else "Nothing changes until it was measured on your questions and somebody promotes it."
        )
        with st.container(horizontal=True):
            if not offer.run:
                pairs = [(offer.profile, spell(offer.config))]
                st.button(
                    "Measure it",
                    key="offer_measure",
                    icon=":material/straighten:",
                    disabled=not offer.queryset,
                    on_click=actions.do,
                    args=(partial(measure, queryset=offer.queryset, pairs=pairs),),
                )
            if allowed(identity.me(), ACTION) and st.button("Not for us", key="offer_decline"):
                _ask_why()


@dialogs.dialog("Keep what is in production?")
def _ask_why() -> None:
    identity.me()
    reason = st.text_input("Why", key="decline_reason", max_chars=500, placeholder="for the next admin who asks")
    if st.button("Keep it", type="primary", key="decline_go", disabled=not reason.strip()):
        actions.do(partial(decline, reason=reason))
        st.rerun()


def decline(actor: Actor, reason: str) -> str:
    """Do not offer what is recommended again."""
    app().tuning.recommendation.decline(actor, reason)
    return "It is not offered again."


def _drift() -> None:
    job = app().evaluation.jobs.last(identity.me(), "drift")
    lost = job.result["lost"] if job else []
    unknown = job.result.get("unknown", []) if job else []
    with st.container(horizontal=True, vertical_alignment="center"):
        if lost:
            verdicts.box(
                "loss", f"Production lost quality on {flash.plain(', '.join(lost))} since it was last measured."
            )
        elif job and unknown:
            st.caption(
                f":material/help: Checked on {style.moment(job.ended)}. "
                + flash.plain(" ".join(job.result["sentences"])),
                width="stretch",
            )
        elif job:
            st.caption(
                f":material/check_circle: No loss found on {style.moment(job.ended)}. "
                + flash.plain(" ".join(job.result["sentences"])),
                width="stretch",
            )
        else:
            st.caption(
                "After every merge, production is run again on the query sets it was measured on; a loss shows here.",
                width="stretch",
            )
        st.button(
            "Check now",
            key="drift_go",
            icon=":material/monitor_heart:",
            on_click=actions.do,
            args=(check,),
            disabled=not app().tuning.production.watched(identity.me()),
        )


def check(actor: Actor) -> str:
    """Run production again where it was measured."""
    return f"Checking production as job {app().evaluation.jobs.drift(actor).id}."


# ---------------------------------------------------------------- promote


def _promote(tuning_set: TuningSet) -> None:
    runs = _candidates(tuning_set)
    if not runs:
        empty.state(
            "straighten",
            "No run to promote",
            "Measure a position of the sliders, or run configurations on the Evaluation page.",
            "no_candidates",
        )
        return
    labels = {**names(runs)}
    for run in runs:
        labels[run.id] += "" if run.queryset_digest == tuning_set.digest else ", measured on older questions"
    ids = [run.id for run in runs]
    chosen = str(
        st.selectbox(
            "Run",
            ids,
            format_func=labels.__getitem__,
            key="promote_run",
            width=460,
            help="A run on older questions or documents is measured again on those of now.",
        )
    )
    run = runs[ids.index(chosen)]
    now = app().platform.settings.production()
    try:
        sets = _sets(tuning_set)
        for queryset, digest in sets.items():
            if due := _due(queryset, digest, run):
                st.caption(
                    flash.plain(
                        f"{' and '.join(due)} must rerank these questions first, those of {queryset}; that takes a"
                        " while."
                    )
                )
                st.button(
                    "Measure",
                    key="measure_due",
                    icon=":material/straighten:",
                    on_click=actions.do,
                    args=(partial(measure, queryset=queryset, pairs=list(due.values())),),
                )
                return
        newest = app().evaluation.runs.listed(identity.me(), limit=1)[0].id
        comparison, guards = evidence(
            chosen, MEASURE, (strict.digest(now), tuning_set.generation, *sets.values(), newest), identity.me()
        )
    except ConcordError as error:
        _cannot(run, tuning_set.queryset, flash.refusal(error))
        return
    _evidence(comparison)
    _guardrails(guards)
    _act(run, labels[chosen], comparison, guards)


def _cannot(run: Run, queryset: str, why: str) -> None:
    """Why a run cannot be promoted, and the way to one that can: the same configuration, measured as things are now."""
    st.warning(flash.plain(f"This run cannot be promoted. {why}"), icon=":material/warning:")
    known = {profile.name for profile in app().platform.settings.profiles()}
    if run.profile in known:
        pairs = [(run.profile, spell(run.config))]
        st.button(
            "Measure it again",
            key="measure_again",
            icon=":material/straighten:",
            on_click=actions.do,
            args=(partial(measure, queryset=queryset, pairs=pairs),),
        )


def _sets(tuning_set: TuningSet) -> dict[str, str]:
    """Names and digests of the chosen query set and of those that production was measured on."""
    watched = app().tuning.production.watched(identity.me())
    digests = {name: app().evaluation.querysets.show(identity.me(), name).digest for name in watched}
    return {tuning_set.queryset: tuning_set.digest} | digests


def _candidates(tuning_set: TuningSet) -> list[Run]:
    """Runs on the query set, best first and those of its older questions last, without the one in production."""
    now = app().platform.settings.production()
    ours = (profiles.identity(now.profile), configs.identity(now.config))
    runs = [
        run
        for run in latest(app().evaluation.runs.listed(identity.me(), tuning_set.queryset))
        if (run.profile_digest, run.config_digest) != ours
    ]
    return sorted(
        runs, key=lambda run: (run.queryset_digest != tuning_set.digest, -run.figures.get(MEASURE, 0.0), run.id)
    )


def _due(queryset: str, digest: str, run: Run) -> dict[str, tuple[str, str]]:
    """Production or the candidate where it reranks and has no run on the current questions and generation."""
    now = app().platform.settings.production()
    known = {
        (other.profile_digest, other.config_digest, other.queryset_digest, other.commit)
        for other in app().evaluation.runs.listed(identity.me(), queryset)
    }
    due = {}
    for name, profile_name, config in (
        ("Production", now.profile.name, now.config),
        ("This run", run.profile, run.config),
    ):
        profile = app().platform.settings.profile(profile_name)
        serving = app().index.generations.current(profile)
        seen = (
            profiles.identity(profile),
            configs.identity(config),
            digest,
            serving.commit if serving else "",
        )
        if config.rerank != "off" and seen not in known:
            due[name] = (profile_name, spell(config))
    return due


def measure(actor: Actor, queryset: str, pairs: list[tuple[str, str]]) -> str:
    """Run what must be compared on a query set."""
    return f"Measuring as job {app().evaluation.runs.start(actor, queryset, pairs).id}."


def _evidence(comparison: RunComparison) -> None:
    overall = comparison.overall
    verdicts.box(overall.verdict, flash.plain(f"Against production: {overall.sentence}"))
    st.caption(flash.plain(comparison.basis))
    if comparison.note:
        st.warning(flash.plain(comparison.note), icon=":material/warning:")
    charts.tiles(
        {
            f"Difference of {comparison.measure}": f"{overall.difference.mean:+.3f}",
            "Interval": f"{overall.difference.low:+.3f} to {overall.difference.high:+.3f}",
            "Wins · ties · losses": f"{overall.wins} · {overall.ties} · {overall.losses}",
        },
        "promote_tiles",
    )


def _guardrails(guards: Sequence[RunComparison]) -> None:
    """The other query sets that production was measured on; a loss there needs a reason."""
    for guard in guards:
        sentence = flash.plain(f"On {guard.after.queryset}: {guard.overall.sentence}")
        if guard.overall.verdict == "worse":
            verdicts.box(guard.overall.verdict, sentence)
        else:
            st.caption(sentence)


def _act(run: Run, name: str, comparison: RunComparison, guards: Sequence[RunComparison]) -> None:
    me = identity.me()
    lost = losses(guards)
    sure = proven(comparison) and not lost
    if not allowed(me, ACTION):
        st.caption(f":material/lock: {flash.plain(refusal(me))}")
    why = "it loses on another query set" if lost else "the evidence is not enough"
    reason = st.text_input(
        "Reason",
        key=f"promote_reason_{run.id}",  # a reason speaks for one run
        placeholder="optional: the evidence speaks" if sure else f"needed, since {why}",
        max_chars=500,
        disabled=not allowed(me, ACTION),
    )
    ready = allowed(me, ACTION) and (sure or bool(reason.strip()))
    if st.button("Promote", type="primary", key="promote", icon=":material/publish:", disabled=not ready):
        overall = comparison.overall
        actions.confirm(
            f"Search with {name} from now on?",
            [
                f"Run {comparison.after.id} on {run.queryset}, {style.count(overall.queries, 'question')}.",
                (
                    f"{comparison.measure} {overall.difference.mean:+.3f} ({overall.difference.low:+.3f} to"
                    f" {overall.difference.high:+.3f}) against production."
                ),
                *(f"It loses on {guard.after.queryset}." for guard in lost),
                "The Search page and the command line use it at once; rolling back is one click.",
                *([f"Reason: {reason.strip()}"] if reason.strip() else []),
            ],
            "Promote",
            partial(promote, run=run.id, reason=reason),
        )


def refusal(actor: Actor) -> str:
    """Why an account may not promote; "" when it may."""
    try:
        require(actor, ACTION)
    except Refused as error:
        return flash.refusal(error)
    return ""


def promote(actor: Actor, run: str, reason: str) -> str:
    """Put a run's configuration into production."""
    result = app().tuning.production.promote(actor, run, reason=reason)
    return f"{called(result.production.config)} is in production now."


# ---------------------------------------------------------------- the past


def _history() -> None:
    past = app().tuning.production.history(identity.me())
    if not past:
        st.caption("Nothing was promoted yet; the built-in configuration serves.")
        return
    st.dataframe([_row(promotion) for promotion in past], hide_index=True, key="promotions")
    if allowed(identity.me(), ACTION) and st.button("Roll back", icon=":material/history:", key="unpromote"):
        actions.confirm(
            "Search again as before the last promotion?",
            [f"{called(past[0].production.config)} goes out of production.", "The history keeps both steps."],
            "Roll back",
            roll_back,
        )


def _row(promotion: Promotion) -> dict[str, object]:
    facts = promotion.evidence
    gain = f"{facts['difference']:+.3f} ({facts['low']:+.3f} to {facts['high']:+.3f})" if "difference" in facts else ""
    return {
        "When": style.moment(promotion.when),
        "Who": promotion.author,
        "Configuration": called(promotion.production.config),
        "Profile": promotion.production.profile.name,
        "Run": str(facts.get("run", ""))[:8],
        "Query set": facts.get("queryset", ""),
        "Difference": gain,
        "Reason": "rolled back" if "rolled_back" in facts else facts.get("reason", ""),
    }


def roll_back(actor: Actor) -> str:
    result = app().tuning.production.rollback(actor)
    return f"{called(result.production.config)} is in production again."
