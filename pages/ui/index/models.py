"""Models: what each language model was found fit for, and the button that finds out."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor
from core.services.models.fitness import FEATURES, ModelCheck
from pages.ui import actions, flash, identity, progress, style
from pages.ui.home import empty
from pages.ui.workspace import app

NEXT = (
    "Everything works without one. With one, it can rerank, judge, write context and suggest questions: "
    "whoever runs Concord names it in the setting CONCORD_LLM, and it is checked here before it is trusted."
)


def draw() -> None:
    """The configured model and every model that was checked, feature by feature."""
    checks, configured = app().models.fitness.listed(identity.me()), app().settings.llm
    progress.draw(("check-model",))
    if not configured and not checks:
        empty.state("smart_toy", "No language model is configured", NEXT, "no_model")
        return
    st.caption(
        "A language model is trusted with a feature only after it got known items right: questions with one right"
        " answer, asked in several orders, some with instructions hidden in a passage."
    )
    for model in dict.fromkeys([*filter(None, [configured]), *(check.model for check in checks)]):
        _model(model, [check for check in checks if check.model == model], model == configured)


def _model(model: str, checks: list[ModelCheck], configured: bool) -> None:
    fit = sum(check.fit for check in checks)
    state = f"fit for {fit} of {len(FEATURES)} features" if checks else "not checked yet"
    st.markdown(f"**{flash.plain(model)}** · {state}" + (" · in use" if configured else ""))
    if checks:
        st.dataframe([_row(feature, checks) for feature in FEATURES], hide_index=True, key=f"fit_{model}")
    if st.button("Check", icon=":material/fact_check:", key=f"check_{model}"):
        actions.confirm(
            f"Check {model} with known items?",
            [
                "It is asked about 70 short questions, a few for each feature.",
                "A model behind a paid endpoint costs what these calls cost; the budget holds.",
                "It runs in the background, and what was found before is replaced.",
            ],
            "Check",
            partial(check, model=model),
        )
    _allow(model, [check for check in checks if not check.allowed])


def _row(feature: str, checks: list[ModelCheck]) -> dict[str, object]:
    found = next((check for check in checks if check.feature == feature), None)
    if found is None:
        return {"Feature": FEATURES[feature], "Found": "Not checked", "Known items right": "", "Why": "", "Checked": ""}
    unfit = "Not fit, used all the same" if found.allowed else "Not fit"
    return {
        "Feature": FEATURES[feature],
        "Found": "Fit" if found.fit else unfit,
        "Known items right": f"{found.passed} of {found.total}",
        "Why": found.reason if found.allowed and not found.fit else found.why,
        "Checked": style.moment(found.at),
    }


def _allow(model: str, unfit: list[ModelCheck]) -> None:
    """An admin may use a model against the result, with a reason that stays beside it."""
    if not unfit:
        return
    with st.expander("Use it all the same", key=f"allow_{model}"):
        names = [found.feature for found in unfit]
        feature = st.selectbox("For", names, format_func=FEATURES.__getitem__, key=f"allow_feature_{model}")
        reason = st.text_input("Why", key=f"allow_reason_{model}", placeholder="for example: to compare it, for a week")
        if st.button("Use it", key=f"allow_go_{model}"):
            actions.do(partial(allow, model=model, feature=feature, reason=reason))
            st.rerun()


def check(actor: Actor, model: str) -> str:
    return f"The check started as job {app().models.checker.start(actor, model).id}."


def allow(actor: Actor, model: str, feature: str, reason: str) -> str:
    return app().models.fitness.force(actor, model, feature, reason).sentence
