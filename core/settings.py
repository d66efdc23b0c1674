"""The environment as one frozen Settings, read once at the edge."""

from __future__ import annotations

import math
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.errors import BadInput
from core.logs import FORMS

SIGN_IN = ("demo", "local", "oidc")
CALLBACK = "/oauth2callback"  # where a sign-in provider sends people back to
ASYMMETRIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
SYMMETRIC = ("HS256", "HS384", "HS512")
PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are and how much of the machine may be used.

    Each field is also an environment variable: `home` is `CONCORD_HOME`, `keep_generations` is
    `CONCORD_KEEP_GENERATIONS`, and so on.
    """

    home: Path = PROJECT / "data"  # the workspace
    database: str = field(
        default="", repr=False
    )  # postgresql://user:password@host/name, for several nodes; `app.db` of the workspace if not set
    models: Path = PROJECT / ".models"  # model weights, shared by all workspaces
    cache: Path | None = None  # vectors and answers that were computed before; `cache/` of the workspace if not set
    store: str = ""  # files that several machines share, s3://bucket/prefix; this machine's own disk if not set
    node: str = ""  # the name of this process among several nodes; host name and process if not set
    keep_generations: int = 3  # how many generations of a profile stay for rollback
    workers: int = (
        -1
    )  # worker processes that this machine starts at most; -1 is one per core, or none where CONCORD_DATABASE is set
    worker_memory: int = (
        0  # megabytes that each worker may take; 0 shares half of the machine's memory, at least 1,024 each
    )
    threads: int = 0  # embedding threads; 0 is one per core
    words_first: float = 5.0  # seconds of embedding beyond which words can be searched first, and meaning follows
    device: str = ""  # where models of a hub or folder compute: cuda, cuda:1, mps or cpu; the best there is if not set
    exact_limit: int = 500_000  # vectors are searched exactly up to here, by an ANN index beyond
    learn_every: int = (
        100  # new judged questions after which what was learned from all is learned again in the background; 0 is never
    )
    sign_in: str = "demo"  # demo (personas, this machine only), local (accounts with passwords) or oidc
    session_idle: float = 12.0  # hours without a click after which a sign-in ends
    session_life: float = 30.0  # days after which a sign-in ends in any case
    hosts: str = ""  # names that the app answers to (kb.example.org, *.corp.example); any if empty, a demo only its own
    metrics_token: str = field(
        default="", repr=False
    )  # opens /api/v1/metrics and /_stcore/metrics to who sends it; closed if not set
    log: str = "text"  # the form of log lines: text, or json with one object a line
    api_rate: int = 600  # requests a minute that one access token may make of the HTTP API; 0 is no limit
    memory: int = (
        0  # megabytes for the server; at 80 % it empties caches and begins nothing large; 0 is all that the machine has
    )
    tabs: int = 40  # open tabs of one account; 0 is no limit
    upload_session: int = 100  # megabytes of uploaded files that may wait in one tab
    upload_account: int = 150  # megabytes of uploaded files that may wait in all tabs of an account
    upload_total: int = 400  # megabytes of uploaded files that may wait in all tabs of everybody
    ocr: bool = False  # read scanned pages of uploads; needs `pip install rapidocr==3.10.0`
    offline: bool = True  # never ask a model hub; endpoints that are configured below are asked all the same
    llm: str = ""  # the language model: openai:MODEL or bedrock:MODEL; none if not set
    openai_url: str = ""  # an OpenAI-compatible endpoint, up to and with its /v1
    openai_key: str = field(default="", repr=False)  # the key of that endpoint; never shown
    bedrock_region: str = ""  # the region of Amazon Bedrock; AWS's own configuration if not set
    bedrock_url: str = ""  # another Bedrock endpoint, such as one in a private network
    llm_timeout: float = 60.0  # seconds that a call may take, waits and retries included
    llm_concurrency: int = 4  # calls to one endpoint at a time
    monthly_budget: float = 10.0  # dollars of paid calls in a calendar month; 0 makes none
    remote_user: str = ""  # who signs in at a git remote over https; "git" if not set
    remote_token: str = field(
        default="", repr=False
    )  # the token or password for a git remote over https; never stored, never shown
    remote_key: Path | None = None  # the private key for a git remote over ssh; ssh's own choice if not set
    remote_ssh: str = "ssh"  # the command that connects to a git remote over ssh
    remote_timeout: float = 60.0  # seconds without a sign of life after which a git remote counts as dead
    remote_minutes: float = (
        5.0  # between two looks for commits made elsewhere; 0 looks only after merges and when asked
    )
    repository: str = ""  # the git repository that nodes share; the workspace's own if not set
    prices: Path | None = None  # a JSON file: dollars for a million tokens, by model
    url: str = ""  # where people open the app (https://concord.example.org): links in mail, webhooks and citations
    smtp_url: str = field(
        default="", repr=False
    )  # the mail server: smtp://user@host:587 (STARTTLS) or smtps://; no mail if not set
    smtp_password: str = field(default="", repr=False)  # the password of the mail server, where it is not in the URL
    smtp_from: str = ""  # whom mail comes from, such as Concord <concord@example.org>
    smtp_ca: Path | None = None  # certificates that vouch for the mail server, beside those of the machine
    digest_hour: int = 7  # the hour of the daily mail
    time_zone: str = "UTC"  # the time zone of that hour, such as Europe/Berlin
    webhooks_private: bool = False  # whether webhooks may lead to this machine and its network, and by plain HTTP

    @property
    def caches(self) -> Path:
        """What can be computed again."""
        return self.cache or self.home / "cache"


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """A sign-in provider that speaks OpenID Connect: the section [auth] of .streamlit/secrets.toml."""

    client_id: str
    redirect_uri: str  # this app's own address, then /oauth2callback
    server_metadata_url: str
    client_secret: str = field(default="", repr=False)
    client_kwargs: Mapping[str, str] = field(default_factory=dict)  # of the request to the provider: scope, prompt, ...
    algorithms: tuple[str, ...] = ASYMMETRIC  # that may sign a token; HS256 means with the client_secret
    trust_unverified_email: bool = False  # for providers that never say whether an address is verified
    role_claim: str = "groups"  # what holds somebody's groups
    roles: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # role to groups; with it, roles follow the provider
    create_accounts: bool = False  # at the first sign-in of somebody who has none
    renew: int = (
        60  # seconds after which the next click asks the provider again for groups and role; 0: only at a sign-in
    )
    cookie_secret: str = field(default="", repr=False)  # Streamlit's own; not used here

    def __post_init__(self) -> None:
        for name in ("redirect_uri", "server_metadata_url"):
            if not getattr(self, name).startswith(("https://", "http://")):
                raise BadInput(f"auth.{name} must be a whole address that starts with https://.")
        if not self.redirect_uri.endswith(CALLBACK):
            raise BadInput(f"auth.redirect_uri must end with {CALLBACK}, and be registered with the provider.")
        if wrong := sorted(set(self.algorithms) - {*ASYMMETRIC, *SYMMETRIC}):
            raise BadInput(
                f"auth.algorithms: {wrong[0]!r} is not accepted. Known: {', '.join(ASYMMETRIC + SYMMETRIC)}."
            )


def load(environment: Mapping[str, str] | None = None, **overrides: object) -> Settings:
    """Defaults, overridden by `CONCORD_*`, overridden by arguments.

    >>> load({"CONCORD_THREADS": "2"}).threads
    2
    """
    environment = os.environ if environment is None else environment
    values: dict[str, object] = {}
    for option in fields(Settings):
        variable = f"CONCORD_{option.name.upper()}"
        if environment.get(variable):
            values[option.name] = _read(variable, environment[variable], getattr(Settings(), option.name))
    values |= {name: value for name, value in overrides.items() if value is not None}
    settings = Settings(**values)  # type: ignore[arg-type]
    if settings.sign_in not in SIGN_IN:
        raise BadInput(f"CONCORD_SIGN_IN must be one of {', '.join(SIGN_IN)}, got {settings.sign_in!r}.")
    if settings.store and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w./-]*)?", settings.store):
        raise BadInput(f"CONCORD_STORE must look like s3://bucket/prefix, got {settings.store!r}.")
    if settings.log not in FORMS:
        raise BadInput(f"CONCORD_LOG must be one of {', '.join(FORMS)}, got {settings.log!r}.")
    _check_messages(settings)
    return settings


def node_name(settings: Settings) -> str:
    """What this process is called where nodes share their work."""
    return settings.node or f"{socket.gethostname()}-{os.getpid()}"


def _check_messages(settings: Settings) -> None:
    """What mail and webhooks need: a link leads somewhere, a letter comes from somebody, a day begins somewhere."""
    if settings.url and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", settings.url):
        raise BadInput(
            "CONCORD_URL must look like https://concord.example.org, without a name, password or query in it."
        )
    if settings.smtp_url and not (settings.smtp_from and settings.url):
        raise BadInput("Mail needs all three: CONCORD_SMTP_URL, CONCORD_SMTP_FROM and CONCORD_URL.")
    if not 0 <= settings.digest_hour <= 23:
        raise BadInput(f"CONCORD_DIGEST_HOUR must be from 0 to 23, got {settings.digest_hour}.")
    try:
        ZoneInfo(settings.time_zone)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise BadInput(f"CONCORD_TIME_ZONE must be a name like Europe/Berlin, got {settings.time_zone!r}.") from None


def _read(variable: str, raw: str, default: object) -> object:
    """A variable converted to the type of its default."""
    if variable in (
        "CONCORD_HOME",
        "CONCORD_MODELS",
        "CONCORD_CACHE",
        "CONCORD_PRICES",
        "CONCORD_SMTP_CA",
        "CONCORD_REMOTE_KEY",
    ):
        return Path(raw).expanduser().resolve()
    if isinstance(default, bool):
        if raw.lower() not in ("0", "1", "true", "false", "yes", "no"):
            raise BadInput(f"{variable} must be yes or no, got {raw!r}.")
        return raw.lower() in ("1", "true", "yes")
    if isinstance(default, str):
        return raw.strip()
    if isinstance(default, float):
        return _amount(variable, raw)
    try:
        return int(raw)
    except ValueError:
        raise BadInput(f"{variable} must be a whole number, got {raw!r}.") from None


def _amount(variable: str, raw: str) -> float:
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise BadInput(f"{variable} must be a number from 0 up, got {raw!r}.")
    return value
