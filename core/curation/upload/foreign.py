"""Text files that people have, on their way in: MDX as Markdown, embedded pictures beside the text, statuses in our
words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from core.curation.document.frontmatter import MAX_BYTES, decode, read_fields, split
from core.curation.document.frontmatter_edit import scalar, with_fields
from core.curation.document.links import rewrite_links
from core.curation.document.statuses import SOURCE, counts_as, spelled
from core.curation.text.markup import untagged
from core.curation.text.mdx import as_markdown
from core.curation.upload import conversions
from core.curation.upload.conversions import Conversion
from core.errors import BadInput
from core.types import NOTHING, Document

MARKDOWN = (".md", ".markdown", ".mdx")  # which keep their names, since links use them
TEMPLATES = (
    "Contains template tags (Eleventy, Jekyll or Hugo). Concord hides the tags and inserts nothing in their place."
)
MAX_EMBEDDED = 50 * 1024 * 1024  # bytes of a text with the pictures in it


@dataclass(frozen=True, slots=True)
class Brought:
    """A text file as it will be stored, and what was changed in it, in sentences."""

    found: Conversion
    changed: tuple[str, ...] = ()


def stem_path(name: str) -> str:
    """The path of a document after the file it comes from.

    >>> stem_path("it/Intro.mdx"), stem_path("a.MARKDOWN")
    ('it/Intro.md', 'a.md')
    """
    return f"{name.rpartition('.')[0]}.md"


def brought(name: str, raw: bytes, words: Mapping[str, str] = NOTHING) -> Brought:
    """A file as a document: `words` are the team's own for statuses, which other tools use.

    >>> made = brought("a.mdx", b"---\\nstatus: Beta\\n---\\n# A\\n\\n<Chart/>\\n", {"beta": "draft"})
    >>> made.found.text, made.changed[1]
    ('---\\nstatus: draft\\nsource_status: Beta\\n---\\n# A\\n\\n', "The status 'Beta' was written as draft, as your
    team has it.")
    """
    found = _text(raw)
    changed = list[str]()
    if conversions.suffix_of(name) == ".mdx":
        body = split(found.text)[1]
        text, gone = as_markdown(found.text[body:])
        found = replace(found, text=found.text[:body] + text)
        changed += [sentence] if (sentence := gone.sentence()) else []
    changed += [TEMPLATES] if untagged(found.text) != found.text else []
    text, said = _in_our_words(found.text, words)
    return Brought(replace(found, text=text), (*changed, *said))


def _text(raw: bytes) -> Conversion:
    """The text with its pictures taken out; one that is too long only with them is not too long."""
    if len(raw) <= MAX_BYTES or len(raw) > MAX_EMBEDDED or b";base64," not in raw:
        return conversions.unpacked(decode(raw))
    try:
        found = conversions.unpacked(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        decode(raw[:MAX_BYTES])
        raise BadInput("The file is not valid UTF-8. Save it as UTF-8.") from None
    return replace(found, text=decode(found.text.encode()))


def _in_our_words(text: str, words: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The text with a status that the team has a word for; the file's own word is kept beside it."""
    if not words:
        return text, ()
    try:
        word = read_fields(split(text)[0]).values.get("status", "")
        status = words.get(spelled(word), "") if isinstance(word, str) else ""
        if not status:
            return text, ()
        written = with_fields(text, {"status": status})
    except BadInput:
        return text, ()  # which the checks say
    if counts_as(word) == status:
        return text, ()
    end = split(written)[1]
    close = written.rfind("---", 0, end)
    kept = f"{written[:close]}{SOURCE}: {scalar(word)}\n{written[close:]}"
    return kept, (f"The status {word!r} was written as {status}, as your team has it.",)


def relinked(texts: Mapping[str, str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Texts by path whose links follow files that came under another name.

    >>> relinked({"a.md": "[b](b.mdx#top)"}, {"b.mdx": "b.md"})
    {'a.md': '[b](b.md#top)'}
    """
    endings = tuple({name.rpartition(".")[2] for name in renamed})
    return {
        path: rewrite_links(Document("", path, "", text), renamed) if any(end in text for end in endings) else text
        for path, text in texts.items()
    }


def names(files: Iterable[str]) -> dict[str, str]:
    """The path of each Markdown file; of two that would get one, the one in Markdown keeps it.

    >>> names(["a.md", "a.mdx", "b.mdx"])
    {'a.md': 'a.md', 'a.mdx': 'a-mdx.md', 'b.mdx': 'b.md'}
    """
    every = list(files)
    plain = {stem_path(name) for name in every if name.lower().endswith(".md")}
    paths: dict[str, str] = {}
    for name in every:
        stem, _, suffix = name.rpartition(".")
        taken = suffix.lower() != "md" and (stem_path(name) in plain or stem_path(name) in paths.values())
        paths[name] = f"{stem}-{suffix.lower()}.md" if taken else stem_path(name)
    return paths
