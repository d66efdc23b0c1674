"""What people see when a page fails: a sentence, never a stack trace."""

from __future__ import annotations

import logging
import time
import uuid

import streamlit as st

from core.errors import ConcordError, storage_failure
from pages.ui import flash

LOG = logging.getLogger("concord")
WEBSOCKET = "web.server.starlette.starlette_websocket"
UNCAUGHT = "Uncaught app execution"  # what Streamlit says before it asks `show`
AGAIN = 600.0  # seconds in which the same fault is one line: whoever can make a page fail can make it fail often
_LOGGED: dict[tuple[str, str, int], tuple[str, float]] = {}  # a fault, and the number and time of its last traceback


def show(error: Exception) -> bool:
    """A typed error in its own words; any other is logged under a number that people can quote.

    True: Streamlit shows nothing.
    """
    failure = error if isinstance(error, ConcordError) else storage_failure(error)
    if failure:
        st.error(flash.refused(failure))
        return True
    number = uuid.uuid4().hex[:8]
    _log(number, error)
    st.error(f"Something went wrong here. It was logged under the number {number}; the knowledge base is unharmed.")
    return True


def _log(number: str, error: Exception) -> None:
    """The whole of a fault once, and one line when the same comes again soon."""
    now, place = time.monotonic(), error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    code = place.tb_frame.f_code if place else None
    fault = (type(error).__name__, code.co_filename if code else "", place.tb_lineno if place else 0)
    first, when = _LOGGED.get(fault, ("", -AGAIN))
    if now - when < AGAIN:
        LOG.error("error %s: %s, as in error %s", number, fault[0], first)
        return
    _LOGGED[fault] = (number, now)
    LOG.error("error %s", number, exc_info=error)


def keep_log_short() -> None:
    """Streamlit logs what `show` has logged, and a traceback for a tab that was closed while its page was drawn."""
    logging.getLogger("streamlit.error_util").addFilter(lambda record: record.getMessage() != UNCAUGHT)
    logging.getLogger(f"streamlit.{WEBSOCKET}").addFilter(_one_line)


def _one_line(record: logging.LogRecord) -> bool:
    if record.exc_info and record.exc_info[1]:
        error = record.exc_info[1]
        record.msg, record.args, record.exc_info = f"{record.getMessage()}: {type(error).__name__}: {error}", (), None
    return True
