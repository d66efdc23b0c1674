"""Which addresses and branches of a git remote may be used."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from core.errors import BadInput, Refused

PROTOCOLS = ("https", "http", "ssh", "git", "file")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\]")
_PATH = re.compile(r"[^\x00-\x20\x7f-\x9f]{1,1000}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SCP = re.compile(r"(?:([^@:/]+)@)?([^@:/]+):([^:].*)")  # git@host:team/kb.git
_BRANCH = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]|/(?=[A-Za-z0-9_])){0,99}")
_KNOWN = "Use https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, git://HOST/PATH, or the path of a folder."
_HERE = ("localhost", "127.0.0.1", "[::1]")


def safe_address(url: str, token: str = "") -> str:
    """The address of a remote in the form that git gets, or the reason why it is refused.

    >>> safe_address("git@example.org:team/kb.git"), safe_address("/srv/kb.git")
    ('ssh://git@example.org/team/kb.git', 'file:///srv/kb.git')
    >>> safe_address("ext::sh -c id")
    Traceback (most recent call last):
        ...
    core.errors.BadInput: The address is not one of a git repository. Use https://HOST/PATH, ssh://USER@HOST/PATH, ...
    """
    text = url.strip()
    if not text.isprintable():  # what a parser drops, git reads
        raise BadInput(f"The address is not one of a git repository. {_KNOWN}")
    if text.startswith("/"):
        text = f"file://{text}"
    elif "://" not in text and (match := _SCP.fullmatch(text)):
        user, host, path = match.groups()
        text = f"ssh://{f'{user}@' if user else ''}{host}/{path.lstrip('/')}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadInput(f"The address is not one of a git repository. {_KNOWN}") from None
    if parts.password is not None:
        raise Refused(
            "The address holds a password, which would be stored. Leave it out and give it as CONCORD_REMOTE_TOKEN in "
            "the environment of the server."
        )
    _check_parts(parts.scheme, parts.netloc, parts.path, f"{parts.query}{parts.fragment}")
    if parts.scheme in ("http", "git") and token and _host(parts.netloc) not in _HERE:
        raise Refused(f"{parts.scheme}:// would send CONCORD_REMOTE_TOKEN in the clear. Use https:// or ssh://.")
    del port
    return text


def _check_parts(scheme: str, netloc: str, path: str, rest: str) -> None:
    user, _, host = netloc.rpartition("@")
    place = host.rsplit(":", 1)[0] if not host.endswith("]") and ":" in host else host
    fine = not netloc if scheme == "file" else bool(_HOST.fullmatch(place))
    if scheme not in PROTOCOLS or not fine or rest or (user and not _USER.fullmatch(user)):
        raise BadInput(f"The address is not one of a git repository. {_KNOWN}")
    if not _PATH.fullmatch(path) or not path.startswith("/") or "/-" in path or path == "/":
        raise BadInput(f"The address does not name a repository of its host. {_KNOWN}")


def _host(netloc: str) -> str:
    host = netloc.rpartition("@")[2]
    return host.rsplit(":", 1)[0] if not host.endswith("]") and ":" in host else host


def safe_branch(name: str) -> str:
    """The name of a branch, or BadInput.

    >>> safe_branch("docs/main")
    'docs/main'
    >>> safe_branch("--upload-pack=id")
    Traceback (most recent call last):
        ...
    core.errors.BadInput: '--upload-pack=id' is no name of a branch. Use letters, digits and . _ - / in it.
    """
    if not _BRANCH.fullmatch(name) or ".." in name or name.endswith((".", "/", ".lock")) or ".lock/" in name:
        raise BadInput(f"{name[:100]!r} is no name of a branch. Use letters, digits and . _ - / in it.")
    return name


def origin(url: str) -> str:
    """Scheme and host of an address, to which credentials belong.

    >>> origin("https://ann@example.org:8443/team/kb.git")
    'https://example.org:8443'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
