"""Letters: a message, a lost password or a day's digest as mail, in plain text and HTML that needs no pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, parseaddr
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from core import strict
from core.access import PERSON, SIGN_IN, Actor, folded, use_case
from core.services.deliveries.choices import DAILY, topic_of, topic_title
from core.services.deliveries.outbox import Delivery, Outbox, OutboxItem
from core.services.people.accounts import Accounts, named

if TYPE_CHECKING:
    from core.storage.state.database import Database


DIGEST, TEST = "digest", "test"
MAX_SUBJECT = 150

_STYLE = """
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  body, .page { background: #11171d !important; color: #e4eaf0 !important; }
  .card { background: #19222b !important; border-color: #2f3c48 !important; }
  a { color: #7dbdf0 !important; } .quiet { color: #a5b2be !important; } .rule { border-color: #2f3c48 !important; }
  .button { background: #7dbdf0 !important; color: #0d1217 !important; }
}
"""
_FONT = "font-family:'Source Sans 3','Segoe UI',system-ui,-apple-system,sans-serif"


class LetterPolicy(EmailPolicy):
    """Headers that programs read stay on one line: folded, a long link would become encoded words, which they do not
    decode.
    """

    def fold(self, name: str, value: Any) -> str:
        return f"{name}: {value}{self.linesep}" if name in _WHOLE else super().fold(name, value)

    def fold_binary(self, name: str, value: Any) -> bytes:
        return self.fold(name, value).encode() if name in _WHOLE else super().fold_binary(name, value)


_WHOLE = ("Message-ID", "References", "List-Unsubscribe", "List-Unsubscribe-Post")


@dataclass(frozen=True, slots=True)
class Letterhead:
    """What every letter of a workspace has in common."""

    url: str  # where the app is
    sender: str  # Concord <concord@example.org>

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or "concord.invalid"


def one_line(text: str) -> str:
    r"""A text that is one line of a header, whatever it held.

    >>> one_line("Hello\r\nBcc: eve@example.org\x00")
    'Hello Bcc: eve@example.org'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def letter(head: Letterhead, name: str, address: str, delivery: Delivery, token: str) -> EmailMessage:
    """The whole letter; the same delivery gives the same one at every attempt."""
    content, made = delivery.content, datetime.fromtimestamp(delivery.since, UTC)
    topic = DAILY if delivery.kind == DIGEST else topic_of(delivery.kind)
    mail = EmailMessage(policy=LetterPolicy(linesep="\r\n"))
    mail["From"] = _address(*parseaddr(head.sender))
    mail["To"] = _address(one_line(name), address)
    mail["Subject"] = one_line(content["subject"] if "subject" in content else content["sentence"])[:MAX_SUBJECT]
    mail["Date"] = format_datetime(made)
    mail["Message-ID"] = f"<{delivery.key}@{head.host}>"
    if content.get("ref"):
        thread = quote(f"{content['about']}-{content['ref']}", safe="-")[:200]
        mail["References"] = f"<{thread}@{head.host}>"
    mail["Auto-Submitted"] = "auto-generated"
    end = f"{head.url}/unsubscribe?token={token}" if topic else ""
    if end:
        mail["List-Unsubscribe"] = f"<{end}>"
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    parts = list(_parts(content))
    mail.set_content(_plain(head, parts, topic, end))
    mail.add_alternative(_html(head, parts, topic, end, str(mail["Subject"])), subtype="html")
    return mail


def _address(name: str, address: str) -> Address:
    username, _, domain = address.rpartition("@")
    return Address(name, username, domain)


# ---------------------------------------------------------------- what stands in it


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with its lines: what, a remark, and where it leads."""

    heading: str
    lines: tuple[tuple[str, str, str], ...]


def _parts(content: Mapping[str, Any]) -> Iterable[Part]:
    if "parts" in content:
        for part in content["parts"]:
            yield Part(part["heading"], tuple((line["what"], line["note"], line["address"]) for line in part["lines"]))
    else:
        yield Part("", ((content["sentence"], content["text"], content["address"]),))


def _why(topic: str) -> str:
    if not topic:
        return "You cannot answer this letter."
    about = "the daily digest" if topic == DAILY else f"mail about “{topic_title(topic)}”"
    return f"You get this because you chose {about} in Concord."


def _plain(head: Letterhead, parts: Iterable[Part], topic: str, end: str) -> str:
    lines: list[str] = []
    for part in parts:
        lines += [part.heading, "-" * len(part.heading), ""] if part.heading else []
        for what, note, address in part.lines:
            lines += [one_line(what), *([f"  {one_line(note)}"] if note else []), f"  {head.url}{address}", ""]
    lines += ["--", _why(topic)]
    lines += [f"Stop it: {end}", f"Choose what you get: {head.url}/account?part=Messages"] if end else []
    return "\n".join(lines) + "\n"


def _html(head: Letterhead, parts: list[Part], topic: str, end: str, title: str) -> str:
    alone = len(parts) == 1 and not parts[0].heading
    inner = _single(head, *parts[0].lines[0]) if alone else "".join(_section(head, part) for part in parts)
    foot = escape(_why(topic))
    if end:
        foot += (
            f'<br><a href="{escape(end)}" style="color:#1f5f99">Stop these mails</a> · '
            f'<a href="{escape(head.url)}/account?part=Messages" style="color:#1f5f99">Choose what you get</a>'
        )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body class="page" style="margin:0;padding:24px 12px;background:#f5f7f9;color:#1b2733;{_FONT};\
font-size:16px;line-height:1.5">
<div class="card" style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;\
border:1px solid #d5dce3;border-radius:12px;overflow-wrap:anywhere">
<p style="margin:0 0 16px;font-weight:600" class="quiet">Concord</p>
{inner}
<p class="quiet rule" style="margin:24px 0 0;padding-top:16px;border-top:1px solid #d5dce3;\
color:#5b6875;font-size:14px">{foot}</p>
</div>
</body>
</html>
"""


def _single(head: Letterhead, what: str, note: str, address: str) -> str:
    link = escape(f"{head.url}{address}")
    quoted = (
        f'<p class="rule" style="margin:0 0 20px;padding:0 0 0 12px;border-left:3px solid #d5dce3">{escape(note)}</p>'
        if note
        else ""
    )
    return f"""<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3;font-weight:600">{escape(what)}</h1>
{quoted}<p style="margin:0"><a class="button" href="{link}" \
style="display:inline-block;padding:10px 18px;border-radius:8px;background:#1f5f99;\
color:#ffffff;text-decoration:none;font-weight:600">Open in Concord</a></p>"""


def _section(head: Letterhead, part: Part) -> str:
    rows = "".join(
        f'<li style="margin:0 0 10px"><a href="{escape(head.url + address)}" '
        f'style="color:#1f5f99;font-weight:600">{escape(what)}</a>'
        + (f'<br><span class="quiet" style="color:#5b6875;font-size:15px">{escape(note)}</span>' if note else "")
        + "</li>\n"
        for what, note, address in part.lines
    )
    heading = (
        f'<h2 style="margin:20px 0 10px;font-size:17px;line-height:1.3;font-weight:600">{escape(part.heading)}</h2>'
    )
    return f'{heading}\n<ul style="margin:0;padding:0 0 0 18px">\n{rows}</ul>\n'


KIND = "password"  # of the delivery
PAUSE = 900  # seconds in which an account gets no second letter
TEXT = (
    "Somebody asked for it on the sign-in page. The link works once, for a day. If it was not you, nothing has changed."
)


class LostPasswords:
    """Sends links to the addresses of accounts, and tells nobody which accounts there are."""

    def __init__(self, database: Database, accounts: Accounts, outbox: Outbox) -> None:
        self.database, self.accounts, self.outbox = database, accounts, outbox

    @use_case(SIGN_IN)
    def offered(self) -> bool:
        """Whether letters leave at all."""
        return self.outbox.with_mail

    @use_case(SIGN_IN)
    def mail(self, name: str) -> None:
        """A letter to the account that is meant, if there is one."""
        row = named(self.database, folded(name.strip()[:300]))
        if row is None or not (self.offered() and row.active and row.kind == PERSON) or row.issuer:
            return
        key = f"lost_{strict.digest([row.id, row.hash, int(self.outbox.now() // PAUSE)], 24)}"
        content = {"sentence": "Choose a new password for Concord", "text": TEXT, "address": self.accounts.link(row.id)}
        with self.database.transaction() as state:
            if not state.deliveries.by_key(key):
                self.outbox.put(state, OutboxItem(key, "mail", row.id, KIND, content))
                who = Actor(row.id, row.name, row.email, row.role)
                self.accounts.audit.record(state, who, "mail password link", f"{row.name} ({row.id})")
