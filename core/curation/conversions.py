"""Which uploads are converted to Markdown, and how a converter's output is tidied."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.errors import BadInput

TEXT = (".md", ".markdown", ".txt")
CONVERTED: Mapping[str, str] = {
    ".docx": "Word", ".pdf": "PDF", ".html": "HTML", ".htm": "HTML", ".pptx": "PowerPoint", ".xlsx": "Excel",
}  # fmt: skip
SUFFIXES = (*TEXT, *CONVERTED, ".zip")
_DATA_IMAGE = re.compile(r"!\[([^\]\n]{0,200})\]\(data:[^)\n]*\)")
_COMMENT = re.compile(r"<!--.{0,500}?-->", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HEADING = re.compile(r"^(#{1,5})(?= )", re.MULTILINE)


def tidy(markdown: str, suffix: str, title: str) -> str:
    """Converter output as a document: no embedded images, one main heading, no excess white space.

    >>> tidy("<!-- Slide number: 1 -->\\n# Dock\\n\\n\\n\\nWear a vest.  \\n![](data:image/png;base64,AAAA)", ".pptx", "Safety")
    '# Safety\\n\\n## Dock\\n\\nWear a vest.\\n'
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    text = _CONTROL.sub("", _COMMENT.sub("", _DATA_IMAGE.sub(r"\1", text)))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
    if not text:
        raise BadInput(
            f"The {suffix} file holds no text; it may be a scan or only pictures. Type or paste what it says."
        )
    mains = len(re.findall(r"^# \S", text, re.MULTILINE))
    if mains > 1 or suffix == ".pptx":  # every slide brings a main heading
        text = _HEADING.sub(r"\1#", text)
    if mains != 1 or suffix == ".pptx":
        text = f"# {title}\n\n{text}"
    return text + "\n"


def slug(name: str) -> str:
    """A file name that is easy to type.

    >>> slug("Vendor Onboarding (v2) – final"), slug("§§")
    ('vendor-onboarding-v2-final', 'document')
    """
    return re.sub(r"[^\w]+", "-", name.lower().replace("'", ""))[:80].strip("-_") or "document"


def suffix_of(name: str) -> str:
    """The known suffix of a file name in lower case, else "".

    >>> suffix_of("A.DOCX"), suffix_of("archive.tar.gz"), suffix_of("README")
    ('.docx', '', '')
    """
    ending = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    return ending if ending in SUFFIXES else ""
