"""A seeded generator of files that mean harm: bombs, texts that take long to read, odd names, broken and booby-trapped
formats.
"""

from __future__ import annotations

import io
import random
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping

from tests.support import uploads
from tests.support.hostile import PAYLOADS
from tests.support.hostile import document as carrying

Upload = tuple[str, bytes]

# ---------------------------------------------------------------- texts that take long to read

REPEATED = [
    "#",
    "# ",
    "# a\n",
    "# *a*\n",
    "a\n=\n",
    "a\n",
    "<a ",
    "<",
    "<!-- ",
    "<?",
    "<![CDATA[",
    "<http:a",
    "<a@b",
    "&",
    "&#1",
    "&amp;",
    ">",
    "> ",
    "> - ",
    "- ",
    "- a\n",
    "1. a\n",
    "* ",
    "*a ",
    "**a",
    "*a **b ",
    "_a",
    "a_",
    "~~a",
    "`",
    "a``b",
    "```\n",
    "~~~\n",
    "---\n",
    "[",
    "[a](",
    "[a](<",
    "![[",
    "![a",
    "](b)",
    "[a]: /u\n",
    "[a]:\n",
    "[a](b 't' ",
    "[a](b.md#c) ",
    "\\",
    "\\|",
    "|",
    "|\n",
    "|a",
    "-|",
    "a|b\n",
    "| a | b |\n|---|---|\n",
    " ",
    "\t",
    "    a\n\n",
    "a\n\n",
    "a b c d e f g h\n\n",
    "{#",
    "password = ",
    "eyJaaaaaaaaaaaaaaaaaaa.",
    "<div>\n",
    "\u202e",
    "a\u0301",
    "\u0130",
    "\U0001f600",
    "a\u200d",
    "\ufeff",
    "\x0b",
    "$$",
    "{{",
    "<script>",
    "http://a.b ",
    "a@b.c ",
]


def repeated(r: random.Random) -> Upload:
    """One piece over and over; sometimes in lines short enough for every limit, sometimes behind another piece."""
    text = r.choice(REPEATED) * r.choice([300, 3000, 20_000, 400_000])
    text = text[: r.choice([6_000, 40_000, 200_000, 900_000])]
    if r.random() < 0.5:
        width, gap = r.choice([200, 4_000, 45_000]), r.choice(["\n", "\n\n", "|\n"])
        text = gap.join(text[n : n + width] for n in range(0, len(text), width))
    start = r.choice(
        ["", "", "# ", "> " * 19, "- " * 18, ">" * 900 + " ", "| a | b |\n|---|---|\n", "[a]: ", "a\n===\n"]
    )
    return f"repeated-{r.randrange(10**6)}.md", (start + text).encode()


def lazy(r: random.Random) -> Upload:
    """Deep quotes and lists, and lines that belong to them without saying so."""
    head = r.choice([">", "- ", "> - ", "1. "]) * r.randrange(5, 40) + "a\n"
    part = head + r.choice(["a\n", "a|\n", "*a\n", "[a\n"]) * r.choice([40, 400, 4900])
    return f"lazy-{r.randrange(10**6)}.md", "\n".join([part] * r.choice([1, 4, 40])).encode()[:900_000]


def table(r: random.Random) -> Upload:
    columns, rows = r.choice([2, 40, 400, 3000]), r.choice([10, 1000, 15_000])
    head = "|a" * columns + "|\n" + "|-" * columns + "|\n"
    row = r.choice(["|b" * columns + "|\n", "|b\n", "|" + "`" * 30 + "\n", "|[x](y)" * min(columns, 5) + "|\n"])
    return f"table-{r.randrange(10**6)}.md", (head + row * rows).encode()[:1_000_000]


def payload(r: random.Random) -> Upload:
    n = r.randrange(len(PAYLOADS))
    return f"payload-{r.randrange(10**6)}.md", carrying(n, PAYLOADS[n] * r.choice([1, 1, 50])).encode()


# ---------------------------------------------------------------- frontmatter, encodings, names

YAML = [
    "a: &a [x]\nb: [*a, *a]",
    "a: &a [l]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]",
    "<<: {a: b}",
    "a: !!python/object/apply:os.system [ls]",
    "a: !!binary AAAA",
    "a: " + "[" * 500,
    "a: " + "{" * 500,
    "a: " + "[" * 900 + "]" * 900,
    "? [a]\n: b",
    "a: b\na: c",
    "- a",
    "'",
    '"',
    "a: |\n" + "  x\n" * 3000,
    "%TAG ! x\n---\na: b",
    "a: \x00",
    "a: \ud7ff",
    "id: ../../x",
    "id: " + "x" * 300,
    "review_due: soon",
    "review_due: 9999-99-99",
    "title: [a]",
    "tags: {a: b}",
    "a: 0x" + "f" * 9000,
    "a: 1e999999",
    "title: =HYPERLINK(1)",
    "\t- a",
    "a:\n" * 900,
    ": " * 4000,
    "a: >-\n\n\n  b",
    "...",
    "a: *nobody",
    "x: &x\n  y: *x",
    "\n".join(f"k{n}: v" for n in range(1500)),
    "owner: \u202eadmin",
    "a: ${jndi:ldap://x}",
    "a: {{7*7}}",
    "answers: [" + "a, " * 3000 + "a]",
    "a: !!timestamp x",
]


def yaml(r: random.Random) -> Upload:
    lines = r.sample(YAML, r.choice([1, 1, 2, 3]))
    end = r.choice(["---\n", "---\n", "...\n", ""])
    return f"yaml-{r.randrange(10**6)}.md", ("---\n" + "\n".join(lines) + "\n" + end + "# T\n\nText.\n").encode(
        "utf-8", "replace"
    )


def encoded(r: random.Random) -> Upload:
    text = "# Crème\n\nText with \u202e and 💥 and Ω.\n" * r.choice([1, 400])
    raw = text.encode(
        r.choice(["utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig", "shift_jis", "utf-7", "cp037"]), "replace"
    )
    at = r.randrange(len(raw))
    return f"encoded-{r.randrange(10**6)}.{r.choice(['md', 'txt'])}", raw[:at] + r.choice(
        [b"", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90"]
    ) + raw[at:]


NAMES = [
    "../../etc/passwd.md",
    "..\\..\\windows\\win.ini.md",
    "/etc/passwd.md",
    "C:\\x.md",
    "con.md",
    "NUL.md",
    "a\0b.md",
    "a\nb.md",
    "\u202egpj.md",
    ".md",
    "..md",
    ".git/config.md",
    "a/.git/hooks/x.md",
    "-rf.md",
    "$(reboot).md",
    "`id`.md",
    "a;b.md",
    "a|b.md",
    "'\"><img src=x>.md",
    "x" * 300 + ".md",
    "a/" * 60 + "b.md",
    "é" * 120 + ".md",
    "E\u0301.md",
    "ﬀ.md",
    "🤖.md",
    "%2e%2e%2fx.md",
    "a.md.exe",
    "a.exe",
    "a.svg",
    "a.docm",
    "a.js",
    "a.md.",
    "a.md ",
    " a.md",
    "a//b.md",
    "./a.md",
    "~/a.md",
    "*.md",
    "?.md",
    "a\tb.md",
    "\ud800.md",
    "file:///etc/passwd.md",
    "http://x/y.md",
    "a#b.md",
    "review-rules.yaml",
    "LPT1.md",
    "aux.txt",
    "\u200b.md",
]


def named(r: random.Random) -> Upload:
    return r.choice(NAMES), f"# Named {r.randrange(10**6)}\n\nText.\n".encode()


# ---------------------------------------------------------------- zips


def archive(r: random.Random) -> Upload:
    kind = r.choice(["slip", "bomb", "nested", "many", "twice", "link", "locked", "crowded", "texts", "broken", "liar"])
    name = f"{kind}-{r.randrange(10**6)}.zip"
    if kind == "slip":
        return name, uploads.zipped({safe(r.choice(NAMES)): "# A\n\nText.\n" for _ in range(5)})
    if kind == "bomb":
        return name, uploads.zipped({"a.md": b"a" * r.choice([3_000_000, 60_000_000])})
    if kind == "nested":
        return name, uploads.zipped({"a.zip": uploads.zipped({"b.zip": uploads.zipped({"c.md": "# C"})})})
    if kind == "many":
        return name, uploads.zipped({f"{n}.md": f"# {n}\n" for n in range(r.choice([501, 3000]))})
    if kind == "texts":
        return name, uploads.zipped(dict(repeated(r) if n % 2 else lazy(r) for n in range(12)))
    if kind in ("link", "locked"):
        return name, uploads.link_zip() if kind == "link" else uploads.locked_zip()
    if kind == "crowded":
        return name, uploads.crowded_zip(r.randrange(2**31, 2**32))
    if kind == "twice":
        return name, _twice()
    raw = bytearray(uploads.zipped({"a.md": "# A\n\n" + "Text. " * 500, "b.md": "# B\n\nMore.\n"}))
    for _ in range(r.randrange(1, 6)):
        raw[r.randrange(len(raw))] = r.randrange(256)
    return name, bytes(raw)


def safe(name: str) -> str:
    return name.replace("\ud800", "?").replace("\0", "\x01")


def _twice() -> bytes:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as made:
        for text in ("# A\n\nOne.\n", "# A\n\nTwo.\n"):
            with warnings.catch_warnings(action="ignore"):  # Python notices the second one
                made.writestr(zipfile.ZipInfo("it/a.md"), text)
    return box.getvalue()


# ---------------------------------------------------------------- files of other programs

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b SYSTEM "http://127.0.0.1:9/x">]>'


def docx(r: random.Random) -> Upload:
    run, name = "<w:r><w:t>word</w:t></w:r>", f"docx-{r.randrange(10**6)}.docx"
    body = r.choice(
        [
            f"<w:p>{run * r.choice([1000, 150_000])}</w:p>",
            f"<w:p>{run}</w:p>" * r.choice([1000, 30_000]),
            "<w:tbl><w:tr><w:tc>" * 400 + f"<w:p>{run}</w:p>" + "</w:tc></w:tr></w:tbl>" * 400,
            "<w:tbl>" + ("<w:tr>" + "<w:tc><w:p/></w:tc>" * 60 + "</w:tr>") * 300 + "</w:tbl>",
            "<w:p>" * 20_000,
            f"<w:p>{run}&b;&j;</w:p>",
            "<w:p><w:hyperlink>" * 3000,
        ]
    )
    head = r.choice(["", "", BOMB, OUTSIDE])
    more: dict[str, bytes | str] = {"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" * 50} if r.random() < 0.3 else {}
    return name, _office(
        uploads.docx(),
        {"word/document.xml": f'{head}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>', **more},
    )


def _office(raw: bytes, changed: Mapping[str, bytes | str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(raw)) as box:
        parts: dict[str, bytes | str] = {name: box.read(name) for name in box.namelist()}
    return uploads.zipped({**parts, **changed})


def xlsx(r: random.Random) -> Upload:
    cells = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>=cmd|x {n}</t></is></c></row>'
        for n in range(1, r.choice([5, 30_000]))
    )
    far = r.choice(["", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'])
    sheet = (
        f"{r.choice(['', BOMB, OUTSIDE])}<worksheet "
        'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension '
        f'ref="A1:XFD1048576"/><sheetData>{cells}{far}</sheetData></worksheet>'
    )
    return f"xlsx-{r.randrange(10**6)}.xlsx", _office(uploads.xlsx(), {"xl/worksheets/sheet1.xml": sheet})


def html(r: random.Random) -> Upload:
    piece = r.choice(
        [
            "<div>",
            "<table><tr><td>",
            "<ul><li>",
            "<b>",
            "<!--",
            "<p",
            "<a href=javascript:alert(1)>x</a>",
            "<svg onload=alert(1)><script>alert(1)</script></svg>",
            "<td colspan=999999999>x",
            "<img src=http://127.0.0.1:9/x.png onerror=alert(1)>",
            "&nbsp;",
            "<iframe src=file:///etc/passwd>",
            "<style>*{}</style>",
            "<blockquote>",
            "<h1>",
            "<![CDATA[",
            "</p>",
            "<br>",
        ]
    )
    return (
        f"html-{r.randrange(10**6)}.html",
        f"<html><body>{piece * r.choice([10, 900, 30_000])}text {r.random()}".encode(),
    )


def pdf(r: random.Random) -> Upload:
    raw, name = bytearray(uploads.pdf(f"Page {r.randrange(10**6)}")), f"pdf-{r.randrange(10**6)}.pdf"
    kind = r.choice(["broken", "broken", "broken", "cut", "loop", "packed", "kids", "locked"])
    if kind == "cut":
        return name, bytes(raw[: r.randrange(20, len(raw))])
    if kind in ("loop", "kids"):
        raw = raw.replace(
            b"/Kids [3 0 R]",
            b"/Kids [2 0 R]" if kind == "loop" else b"/Kids [3 0 R" + b" 3 0 R" * r.choice([9, 3000]) + b"]",
        )
    if kind == "packed":
        return name, packed_pdf(r.choice([1_000_000, 80_000_000]))
    if kind == "locked":
        raw = raw.replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /O (x) /U (y) /P -4 >>")
    for _ in range(r.randrange(1, 9) if kind == "broken" else 0):
        raw[r.randrange(9, len(raw))] = r.randrange(256)
    return name, bytes(raw)


def packed_pdf(size: int) -> bytes:
    """A page whose drawing was packed twice: some hundred bytes become `size` bytes."""
    packed = zlib.compress(zlib.compress(b"\0" * size, 9), 9)
    head = b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n" % len(packed)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return uploads.written_pdf([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page, head + packed + b"\nendstream"])


def locked_pdf() -> bytes:
    """A PDF that asks for a password which nobody knows."""
    lock = b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32)
    return uploads.pdf().replace(b"trailer << ", b"trailer << /Encrypt %s /ID [<00> <00>] " % lock)


def mutated(r: random.Random) -> Upload:
    suffix, raw = r.choice([(".docx", uploads.docx()), (".html", uploads.HTML), (".pptx", PPTX), (".xlsx", XLSX)])
    bad = bytearray(raw)
    for _ in range(r.randrange(1, 12)):
        bad[r.randrange(len(bad))] = r.randrange(256)
    return f"mutated-{r.randrange(10**6)}{suffix}", bytes(bad)


PPTX, XLSX = uploads.pptx(), uploads.xlsx()
KINDS: Mapping[str, tuple[Callable[[random.Random], Upload], int]] = {  # and how often of 100
    "repeated": (repeated, 24),
    "lazy": (lazy, 6),
    "table": (table, 6),
    "payload": (payload, 6),
    "yaml": (yaml, 10),
    "encoded": (encoded, 6),
    "named": (named, 10),
    "archive": (archive, 8),
    "docx": (docx, 5),
    "xlsx": (xlsx, 3),
    "html": (html, 5),
    "pdf": (pdf, 7),
    "mutated": (mutated, 4),
}


def hostile(count: int, seed: int) -> Iterator[Upload]:
    """So many different uploads, one of a hundred a PDF that spins for days."""
    r, seen = random.Random(seed), set[Upload]()
    for n in range(0, count, 100):
        seen.add((f"spin-{n}.pdf", uploads.spinning_pdf(8 + n // 100)))
    makers, weights = zip(*KINDS.values(), strict=True)
    while len(seen) < count:
        seen.add(r.choices(makers, weights)[0](r))
    yield from sorted(seen)
