"""The pages in front of the app, as plain HTML. Every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import quote

import streamlit
from starlette.responses import HTMLResponse, Response

from core.services.people.accounts import MIN_PASSWORD
from pages.ui.sign_in.cookies import at
from pages.ui.style import ASSETS

_FONT = "SourceSansVF-Upright"  # the font of the app itself, which Streamlit brings along


def page(title: str, body: str, status: int = 200) -> Response:
    """A card in the middle of the window."""
    return HTMLResponse(
        f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · Concord</title>
<link rel="icon" href="{at("/sign-in/concord.svg")}">
<link rel="stylesheet" href="{at("/sign-in/look.css")}">
</head>
<body>
<main>
<p class="brand"><img src="{at("/sign-in/concord.svg")}" alt="" width="36" height="36">Concord</p>
<h1>{escape(title)}</h1>
{body}
</main>
</body>
</html>
""",
        status,
        headers={"Cache-Control": "no-store"},
    )


FIRST = "No admin can sign in yet. Open the link that the server printed when it started: it makes the first admin."


def form(
    after: str, name: str = "", problem: str = "", note: str = "", status: int = 200, lost: str = "admin"
) -> Response:
    focus = ("", " autofocus") if name else (" autofocus", "")
    lead = f"<p>{FIRST}</p>" if lost == "first" else _note(note)
    return page(
        "Sign in",
        f"""{lead}{_problem(problem)}<form method="post" action="{at("/sign-in")}">
<input type="hidden" name="next" value="{escape(after)}">
<label for="name">Name or email</label>
<input id="name" name="name" value="{escape(name)}" autocomplete="username" autocapitalize="none" spellcheck="false"
 required maxlength="200"{focus[0]}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password"
 required maxlength="1000"{focus[1]}>
<button>Sign in</button>
</form>
<p class="quiet">{_lost(lost)}</p>""",
        status,
    )


def _lost(way: str) -> str:
    """What to do without a password: letters leave, or an admin has to help; said above where there is no admin yet."""
    if way == "first":
        return ""
    if way == "mail":
        return f'No account? Ask an admin. <a href="{at("/sign-in/lost")}">The password is lost?</a>'
    return (
        "No account? Ask an admin. The password is lost? An admin makes a link on Accounts with which you choose a new"
        " one."
    )


def lost_password(note: str = "") -> Response:
    """Whose password is lost; afterwards that a letter may be on its way."""
    ask = f"""<form method="post" action="{at("/sign-in/lost")}">
<label for="name">Name or email</label>
<input id="name" name="name" autocomplete="username" autocapitalize="none" spellcheck="false"
 required maxlength="200" autofocus>
<button>Send a link</button>
</form>"""
    back = f'<p class="quiet"><a href="{at("/sign-in")}">Back to sign in</a></p>'
    return page("A new password", f"{_note(note)}{'' if note else ask}\n{back}")


def new_password(action: str, held: Mapping[str, str], title: str, person: str = "", problem: str = "") -> Response:
    """A password to choose; for the first admin also who it is."""
    hidden = "".join(f'<input type="hidden" name="{escape(n)}" value="{escape(v)}">' for n, v in held.items())
    who = (
        f'<p class="note">{escape(person)}</p>'
        if person
        else """<label for="full_name">Your name</label>
<input id="full_name" name="full_name" autocomplete="name" required maxlength="100" autofocus>
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="200">"""
    )
    return page(
        title,
        f"""{_problem(problem)}<form method="post" action="{at(action)}">
{hidden}
{who}
<label for="password">New password, at least {MIN_PASSWORD} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password"
 required minlength="{MIN_PASSWORD}" maxlength="1000">
<button>Go on</button>
</form>""",
        400 if problem else 200,
    )


def organisation(after: str, note: str = "", leave: str = "") -> Response:
    """The way to the organisation's provider."""
    also = f'<p class="quiet"><a href="{escape(leave)}">Also sign out of your organisation</a></p>' if leave else ""
    way = f"{at('/sign-in/provider')}?next={quote(after, safe='')}"
    return page(
        "Sign in",
        f"""{_note(note)}<a class="button" href="{way}">Sign in with your organisation</a>
{also}""",
    )


def refused(problem: str, after: str, status: int = 403) -> Response:
    """Why somebody did not come in, and the way to try again."""
    way = f"{at('/sign-in')}?next={quote(after, safe='')}"
    return page(
        "You are not signed in",
        f"""{_problem(problem)}<a class="button" href="{way}">Back to sign in</a>""",
        status,
    )


def unconfigured(problem: str) -> Response:
    """What whoever runs the app has to add."""
    return page("Sign in", _problem(problem), 503)


def many_tabs(most: int) -> Response:
    """For whoever has as many tabs open as one may."""
    why = f"You have {most} tabs of Concord open, which is the limit. Close some of them, then load this page again."
    return page("Too many tabs", _problem(why), 429)


def unusable(problem: str) -> Response:
    """What is wrong with the workspace, and the way to bring it back."""
    return page("The knowledge base cannot be opened", _problem(problem), 503)


def _problem(text: str) -> str:
    return f'<p class="problem" role="alert">{escape(text)}</p>\n' if text else ""


def _note(text: str) -> str:
    return f'<p class="note" role="status">{escape(text)}</p>\n' if text else ""


@cache
def stylesheet() -> str:
    """The look, with the font of the app."""
    fonts = sorted((Path(streamlit.__file__).parent / "static" / "static" / "media").glob(f"{_FONT}*.woff2"))
    source = f"""@font-face {{
  font-family: "Source Sans";
  font-weight: 200 900;
  src: url("{at(f"/static/media/{fonts[0].name}")}") format("woff2");
}}
"""
    return (source if fonts else "") + (ASSETS / "sign_in.css").read_text(encoding="utf-8")
