"""Files that browsers brought and no page has read yet. Streamlit keeps them in memory; here is how many, whose, and
until when.

A file leaves memory when its page has read it or is left, when somebody else goes on in the tab, and when the tab is
closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import Refused
from core.settings import Settings

MB = 1_000_000
OVER_SESSION = (
    "This tab has {held} MB of files that were not read in yet, and {most} MB is the limit. Bring fewer at once."
)
OVER_ACCOUNT = (
    "Your tabs have {held} MB of files that were not read in yet, and {most} MB is the limit. Close some of them."
)
OVER_TOTAL = "Files of {held} MB are on their way from everybody, and {most} MB is the limit. Try again in a minute."


class OverQuota(Refused):
    """A file that does not fit, with the status that says whose limit it is."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def leave() -> None:
    """Drop the files of this tab: its page has read them, or is left."""
    if context := get_script_run_ctx():
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def sweep() -> None:
    """Drop the files of tabs that are closed. A tab that comes back after a moment brings them again."""
    if Runtime.exists():
        runtime = Runtime.instance()
        for tab in _sizes():
            if runtime.get_client(tab) is None:
                runtime.uploaded_file_mgr.remove_session_files(tab)


def _sizes() -> dict[str, int]:
    """Bytes by tab."""
    manager = Runtime.instance().uploaded_file_mgr
    storage = manager.file_storage if isinstance(manager, MemoryUploadedFileManager) else {}
    return {tab: sum(len(file.data) for file in list(files.values())) for tab, files in list(storage.items())}


class UploadQuota:
    """Refuses a file before its first byte is read; one on its way counts like one that is here."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._owners: dict[str, str] = {}  # a tab to its account
        self._coming: list[tuple[str, int]] = []  # a tab, and the bytes that it sends

    @contextmanager
    def taking(self, tab: str, account: str, size: int) -> Iterator[None]:
        """Keep a place for so many bytes during the block, or say why there is none."""
        self._owners[tab] = account
        self._check(tab, account, size)
        coming = (tab, size)
        self._coming.append(coming)
        try:
            yield
        finally:
            self._coming.remove(coming)

    def _check(self, tab: str, account: str, size: int) -> None:
        held = _sizes()
        for other, more in self._coming:
            held[other] = held.get(other, 0) + more
        self._owners = {other: owner for other, owner in self._owners.items() if other in held or other == tab}
        own = sum(more for other, more in held.items() if self._owners.get(other) == account)
        settings = self.settings
        for status, before, most, sentence in (
            (413, held.get(tab, 0), settings.upload_session, OVER_SESSION),
            (413, own, settings.upload_account, OVER_ACCOUNT),
            (503, sum(held.values()), settings.upload_total, OVER_TOTAL),
        ):
            if before + size > most * MB:
                raise OverQuota(status, sentence.format(held=round((before + size) / MB), most=most))
