"""Two versions of a document, side by side or inline, with the changed words marked."""

from __future__ import annotations

from typing import Any

from core import strict
from core.curation.review.diffs import body_diff, field_changes
from core.types import Document
from pages.ui import style
from pages.ui.components import component


def diff_view(old: Document, new: Document, left: str, right: str, key: str) -> Any:
    lines = body_diff(old, new)
    fields = field_changes(old.meta, new.meta)
    summary = (
        f"{style.count(lines.added, 'line')} added or changed, {style.count(lines.removed, 'line')} removed or changed"
    )
    return component("diff", "difftext")(
        key=key,
        data={
            "rows": strict.plain(lines.rows),
            "fields": strict.plain(fields),
            "left": left,
            "right": right,
            "summary": summary,
        },
    )
