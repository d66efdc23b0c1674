"""What may go into a change: files, title, texts, and the trailers (`Name: value`) at the end of a message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.curation.document import size_limits
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.links import picture_paths
from core.curation.document.names import safe_path
from core.curation.document.size_limits import check_limits
from core.curation.pictures import picture_files
from core.curation.review import policy
from core.curation.words import pins, synonyms
from core.errors import BadInput
from core.types import Document, Person

SETTINGS: Mapping[str, Callable[[bytes], object]] = {
    policy.FILE: policy.read,
    synonyms.FILE: synonyms.read,
    pins.FILE: pins.read,
}
"""Files beside the documents that are changed by review, too, and what reads each."""

MAX_TITLE, MAX_TEXT, MAX_FILES = 200, 20_000, 2000


def check_file(path: str, raw: bytes) -> bytes:
    """The bytes to store, if they are a valid document, a picture, or a valid file of settings."""
    if path in SETTINGS:
        SETTINGS[path](raw)
        return raw
    if picture_files.is_picture(path):
        return picture_files.checked(safe_path(path, picture_files.SUFFIXES), raw)
    text = decode(raw)
    check_limits(text)
    if not text.strip():
        raise BadInput("The file is empty.")
    read_document(safe_path(path), text)
    return text.encode()


def checked_files(files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Files that may go into a change; errors name the path. Frontmatter is checked later, before review."""
    if not files:
        raise BadInput("There is nothing to save. Name at least one document and its text.")
    if len(files) > MAX_FILES:
        raise BadInput(f"{len(files):,} documents are too many for one change; the limit is {MAX_FILES:,}.")
    checked: dict[str, bytes | None] = {}
    for path, raw in files.items():
        name = path if path in SETTINGS else safe_path(path, _suffixes(path))
        if name in checked:  # in another spelling
            raise BadInput(named_twice(name))
        checked[name] = raw if raw is None or name in SETTINGS else _draft(name, raw)
    return checked


def named_twice(path: str) -> str:
    return f"{path} stands twice in this change. Name each document once, with its whole text."


def _suffixes(path: str) -> tuple[str, ...]:
    return picture_files.SUFFIXES if picture_files.is_picture(path) else (".md",)


def _draft(path: str, raw: bytes) -> bytes:
    try:
        if picture_files.is_picture(path):
            return picture_files.checked(path, raw)
        text = decode(raw)
        check_limits(text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if not text.strip():
        raise BadInput(f"{path}: The file is empty.")
    return text.encode()


def check_title(title: str) -> str:
    """A title in one line."""
    text = " ".join("".join(c if c.isprintable() else " " for c in title).split())
    if not text:
        raise BadInput("A change needs a title that says what it does.")
    if len(text) > MAX_TITLE:
        raise BadInput(f"The title has {len(text)} characters; the limit is {MAX_TITLE}.")
    return text


def check_text(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise BadInput(f"The text has {len(text):,} characters; the limit is {MAX_TEXT:,}.")
    return "".join(c for c in text if c.isprintable() or c in "\n\t").strip()


def shown_pictures(path: str, raw: bytes) -> frozenset[str]:
    """The paths of the pictures that a text shows."""
    return picture_paths(Document("", path, "", raw.decode("utf-8", "replace")))


def check_pictures(files: Mapping[str, bytes | None], sizes: Mapping[str, int]) -> None:
    """Refuse documents that show too many pictures, and pictures that would be too many; `sizes` has all that there
    will be.
    """
    for path, raw in files.items():
        if raw is not None and path.endswith(".md"):
            own = [sizes[picture] for picture in shown_pictures(path, raw) if picture in sizes]
            if len(own) > size_limits.PICTURES_OF_DOCUMENT or sum(own) > size_limits.PICTURE_BYTES_OF_DOCUMENT:
                raise BadInput(
                    f"{path} shows {len(own)} pictures of {sum(own) / 1024**2:.0f} MB; the limit is "
                    f"{size_limits.PICTURES_OF_DOCUMENT} "
                    f"and {size_limits.PICTURE_BYTES_OF_DOCUMENT // 1024**2} MB. Make them smaller, or split the "
                    "document."
                )
    if sum(sizes.values()) > size_limits.PICTURE_BYTES_OF_ALL:
        raise BadInput(
            f"The pictures of the knowledge base would come to {sum(sizes.values()) / 1024**3:.1f} GB; the limit is "
            f"{size_limits.PICTURE_BYTES_OF_ALL // 1024**3} GB. Make them smaller, or remove some."
        )


ONLY = "Only"  # names the fields of a change that touched nothing else: it approves no text
_PERSON = re.compile(r"([^<>]*)<([^<>]+)>\s*")


def trailers(message: str) -> tuple[tuple[str, str], ...]:
    """Names and values, from the last paragraph alone: the others are people's own text.

    >>> trailers("Title\\n\\nChange: 3\\nBypass: No time"), trailers("Title\\n\\nChange: 3\\n\\nlast")
    ((('Change', '3'), ('Bypass', 'No time')), ())
    """
    lines = (line.partition(": ") for line in message.rstrip().split("\n\n")[-1].splitlines())
    return tuple((name, value) for name, colon, value in lines if colon)


CO_AUTHOR, SUGGESTER = "Co-authored-by", "Suggested-by"  # who typed words; whose words another person took over


def credit(role: str, person: Person) -> str:
    """The trailer that names a person whose words a commit holds beside its author's.

    >>> credit(CO_AUTHOR, Person("Bob", "bob@example.org"))
    'Co-authored-by: Bob <bob@example.org>'
    """
    return f"{role}: {' '.join(person.name.split())} <{person.email}>"


def credited(role: str, message: str) -> tuple[Person, ...]:
    """The people whom a message names in this role.

    >>> credited(CO_AUTHOR, "Apply it\\n\\nco-authored-by: Bob <bob@example.org>")
    (Person(name='Bob', email='bob@example.org'),)
    """
    values = (value for name, value in trailers(message) if name.casefold() == role.casefold())
    return tuple(Person(match[1].strip(), match[2]) for value in values if (match := _PERSON.fullmatch(value)))
