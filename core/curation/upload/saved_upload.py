"""An upload that is not submitted yet, as a text that can be kept."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from core import strict
from core.curation.upload.items import MAX_HELD, Batch

MAX_KEPT = 3 * MAX_HELD // 2  # characters, with pictures in base64 and what the checks say; a larger upload is refused


def packed(batch: Batch) -> str:
    """The whole batch as JSON, its pictures in base64.

    >>> restored(packed(Batch(left_out=(("a.exe", "no"),)))).left_out
    (('a.exe', 'no'),)
    """
    return json.dumps(strict.plain(batch), default=lambda raw: b64encode(raw).decode())


def restored(text: str) -> Batch:
    """The batch that was packed."""
    values: dict[str, Any] = json.loads(text)
    for picture in values["pictures"]:
        picture["raw"] = b64decode(picture["raw"])
    return strict.parse(Batch, values, "upload")
