"""Markdown markup: the inline parser, plain headings and their anchors."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from markdown_it import MarkdownIt

NESTING = 20  # quotes and lists inside each other that are read
TITLE = 500  # characters of a heading that count


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables; raw HTML stays text."""
    return MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING}).enable(["table", "strikethrough"])


def plain_heading(raw: str) -> str:
    """A heading without markup.

    >>> plain_heading("**Steps** for [CTR](ctr.md) `v2` {#steps}")
    'Steps for CTR v2'
    """
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", raw[:TITLE])
    text = re.sub(r"\s*\{#[^}]*\}\s*$", "", text)
    text = re.sub(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])", r"\2", text)
    return " ".join(text.replace("`", "").split())


def slugify(title: str) -> str:
    """The anchor of a heading, as most Markdown tools build it.

    >>> slugify("Step 1: Refer on form BSA-5")
    'step-1-refer-on-form-bsa-5'
    """
    text = unicodedata.normalize("NFC", title).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text)).strip("-") or "section"


def unique_slug(title: str, seen: Counter[str]) -> str:
    """The anchor of a heading after the ones already `seen`; a repeated one gets a number.

    >>> seen: Counter[str] = Counter()
    >>> [unique_slug(title, seen) for title in ("Steps", "Roles", "Steps")]
    ['steps', 'roles', 'steps-1']
    """
    slug = slugify(title)
    seen[slug] += 1
    return slug if seen[slug] == 1 else f"{slug}-{seen[slug] - 1}"
