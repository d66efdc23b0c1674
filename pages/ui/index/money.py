"""Money: what paid models cost this month, for which purpose, and what is left of the budget."""

from __future__ import annotations

import streamlit as st

from core.llm.asking import dollars_of
from core.storage.state.records import SpendingOnPurpose
from pages.ui import flash, identity
from pages.ui.workspace import app

CALLS = 100  # listed, the last ones


def draw() -> None:
    """The month in three figures, by purpose and model, then call by call."""
    me, ledger = identity.require("see the ledger"), app().models.ledger
    month = ledger.summary(me)
    cells = st.columns(3)
    cells[0].metric("Spent this month", dollars_of(month.spent), border=True)
    cells[1].metric("Left of the budget", dollars_of(month.left), border=True)
    cells[2].metric("Calls", f"{month.calls:,}", border=True)
    if not month.rows:
        st.caption(
            "No paid or recorded call was made this month: the bundled models run on this machine and cost nothing."
        )
        return
    st.dataframe([_row(row) for row in month.rows], hide_index=True, key="money_rows", column_config=_FORMATS)
    with st.expander(f"The last {CALLS} calls"):
        rows = [
            {
                "When": call.at,
                "Purpose": call.purpose,
                "Model": call.model,
                "Tokens in": call.input_tokens,
                "Tokens out": call.output_tokens,
                "Seconds": call.seconds,
                "Dollars": call.dollars,
                "": call.failed or ("known already" if call.cached else ""),
            }
            for call in ledger.recent(me, limit=CALLS)
        ]
        st.dataframe(rows, hide_index=True, key="money_calls", column_config=_FORMATS)
    st.caption(
        flash.plain(
            f"The budget is {dollars_of(month.budget)} a month (CONCORD_MONTHLY_BUDGET); a call that could pass it is"
            " not made."
        )
    )


def _row(row: SpendingOnPurpose) -> dict[str, object]:
    return {
        "Purpose": row.purpose,
        "Model": row.model,
        "Calls": row.calls,
        "Known already": row.cached,
        "Failed": row.failed,
        "Tokens in": row.input_tokens,
        "Tokens out": row.output_tokens,
        "Dollars": row.dollars,
    }


_FORMATS = {
    "Dollars": st.column_config.NumberColumn(format="$%.4f"),
    "Tokens in": st.column_config.NumberColumn(format="localized"),
    "Tokens out": st.column_config.NumberColumn(format="localized"),
}
