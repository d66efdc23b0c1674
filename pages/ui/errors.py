"""What people see when a page fails: a sentence, never a stack trace."""

from __future__ import annotations

import logging
import uuid

import streamlit as st

from core.errors import ConcordError, storage_failure
from pages.ui import flash

LOG = logging.getLogger("concord")


def show(error: Exception) -> bool:
    """A typed error in its own words; any other is logged under a number that people can quote. True: Streamlit shows nothing."""
    failure = error if isinstance(error, ConcordError) else storage_failure(error)
    if failure:
        st.error(flash.plain(flash.refusal(failure)))
        return True
    number = uuid.uuid4().hex[:8]
    LOG.error("error %s", number, exc_info=error)
    st.error(f"Something went wrong here. It was logged under the number {number}; the knowledge base is unharmed.")
    return True
