"""A passage of an older version in a newer one: found again by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.types import Document


def again(quote: str, near: int, document: Document) -> tuple[int, int] | None:
    """Where quoted words stand in a document, nearest to where they stood; line breaks may differ.

    >>> text = "# Records\\n\\nNew.\\n\\nKeep them\\nfive years.\\n"
    >>> again("Keep them five years.", 11, Document("d", "d.md", "Records", text))
    (17, 38)
    >>> again("Keep them six years.", 11, Document("d", "d.md", "Records", text)) is None
    True
    """
    words = quote.split()
    if not words:
        return None
    flowing = r"\s+".join(map(re.escape, words))
    found = [*_spans(re.escape(quote), document)] or [*_spans(flowing, document)]
    return min(found, key=lambda span: (abs(span[0] - near), span), default=None)


def _spans(pattern: str, document: Document) -> Iterator[tuple[int, int]]:
    return (match.span() for match in re.compile(pattern).finditer(document.text, document.body))
