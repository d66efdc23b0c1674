"""What helps after a refusal. A cure is a record: each door shows it in its own way.

The terminal shows the command, pages link the page where it is done or name the role to ask, the HTTP API sends its
parts, and assistants get one sentence. Text with a command for a shell belongs here, never into the message of an
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Literal

Action = Literal["reindex", "open", "add_model", "install", "restore", "run"]
PROGRAM = "python -m core"


@dataclass(frozen=True, slots=True)
class Cure:
    """A next step. `does` begins with a verb, so that it also reads after "Ask an admin to".

    >>> print(reindex("local"))
    Build the index with: python -m core reindex --profile local
    >>> reindex("local").sentence
    'Build the index on the Index page.'
    """

    action: Action
    does: str
    command: str = ""  # for a shell on the server; "" where only a page does it
    page: str = ""  # of the menu; "" where only the server does it
    query: tuple[tuple[str, str], ...] = ()  # of the page's address
    right: str = ""  # of `core.access`, that the page asks for; "" is for admins
    otherwise: Cure | None = None

    def __str__(self) -> str:
        """For the terminal."""
        return self._followed(f"{self.does} with: {self.command}" if self.command else self.sentence.rstrip("."))

    @property
    def sentence(self) -> str:
        """Without a command: for assistants, logs and whatever keeps the text of an error."""
        if self.page:
            return f"{self.does} on the {self.page.capitalize()} page."
        return f"{self.does} on the server." if self.command else f"{self.does}."

    def _followed(self, text: str) -> str:
        return f"{text}. Or {_lower(str(self.otherwise))}" if self.otherwise else text

    def or_else(self, other: Cure) -> Cure:
        """Two ways out: this one first.

        >>> print(INIT.or_else(VERIFY))
        Initialize the workspace with: python -m core init. Or check the workspace with: python -m core verify
        """
        return replace(self, otherwise=self.otherwise.or_else(other) if self.otherwise else other)

    def asking(self, who: str) -> str:
        """For those who may not do it themselves.

        >>> reindex().asking("an admin")
        'Ask an admin to build the index.'
        """
        return f"Ask {who} to {_lower(self.does)}."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


# ---------------------------------------------------------------- by what they do


def reindex(profile: str = "", *, full: bool = False) -> Cure:
    """Build the index of a profile, the production profile if none is named."""
    of = f" --profile {quote(profile)}" if profile else ""
    command = f"{PROGRAM} reindex{of}{' --full' * full}"
    return Cure("reindex", "Build the index", command, "index", right="rebuild the index")


def _see(things: str, command: str, page: str, right: str = "read documents", **query: str) -> Cure:
    """Look at what there is."""
    return Cure("open", f"View {things}", command and f"{PROGRAM} {command}", page, tuple(query.items()), right)


def _do(does: str, page: str, right: str, command: str = "", **query: str) -> Cure:
    """Do something that a page and perhaps a command can do."""
    return Cure("open", does, command and f"{PROGRAM} {command}", page, tuple(query.items()), right)


def run(does: str, words: str) -> Cure:
    """Run a command of Concord on the server."""
    return Cure("run", does, f"{PROGRAM} {words}")


def shell(does: str, command: str = "") -> Cure:
    """Do something on the server that Concord does not do by itself."""
    return Cure("run", does, command)


def install(package: str, *words: str) -> Cure:
    """Install what an optional feature needs.

    >>> print(install("boto3", "-r", "requirements.txt"))
    Install boto3 with: pip install -r requirements.txt
    """
    return Cure("install", f"Install {package}", f"pip install {' '.join(map(quote, words or (package,)))}")


def add_model(does: str, command: str) -> Cure:
    """Bring a model to this machine or check one, on the page where models are listed."""
    return Cure("add_model", does, f"{PROGRAM} {command}", "index", (("index_tab", "Models"),), "fetch models")


def fetch_model(model: str = "") -> Cure:
    """Fetch a model whose weights Concord knows."""
    return add_model("Fetch the model", f"models fetch {quote(model)}".rstrip(" '"))


def remove(path: object, then: str = "", *, what: str = "Remove the damaged files") -> Cure:
    """Delete what is written again from what is whole."""
    return shell(what, f"rm -rf {quote(str(path))}{f' && {then}' * bool(then)}")


def restore(folder: object = "DIR") -> Cure:
    """Bring the workspace back from a backup."""
    command = f"{PROGRAM} restore {folder}"
    return Cure("restore", "Move the workspace away and restore a backup", command)


def recreate(command: str) -> Cure:
    """Write a damaged file again."""
    return shell("Recreate it", command)


def finish_restore(folder: str) -> Cure:
    """Go on with a restore that was interrupted."""
    return replace(restore(quote(folder)), does="Finish restoring it")


def initialize(home: object) -> Cure:
    """Make a workspace in a folder."""
    return run("Initialize the workspace", f"--home {quote(str(home))} init")


def measure_impact(change: int) -> Cure:
    """Measure what an open change does to search."""
    query = (("change", str(change)), ("side", "Search"))
    command = f"{PROGRAM} change impact {change}"
    return Cure("open", "Measure what the change does to search", command, "reviews", query, "propose a change")


def train_model(kind: str) -> Cure:
    """Train what is chosen by name."""
    return _do(f"Train a new {kind}", "tuning", "change what is in production", "tune learn", tuning_tab="Learn")


def together(cures: Sequence[Cure]) -> Cure:
    """One step for several repairs.

    >>> print(together([recreate("touch a"), recreate("touch b")]))
    Repair them with: touch a && touch b
    """
    if len(cures) == 1:
        return cures[0]
    if all(cure.action == "run" and cure.command and not cure.otherwise for cure in cures):
        return shell("Repair them", " && ".join(cure.command for cure in cures))
    return VERIFY


# ---------------------------------------------------------------- those that need no more

JOBS = _see("all jobs", "jobs list", "index", "see the index", index_tab="Jobs")
DOCUMENTS = _see("all documents", "documents list", "documents")
CHANGES = _see("all changes", "change list", "reviews", "propose a change")
FEEDBACK = _see("all feedback", "", "home")
GAPS = _see("all gaps", "", "home")
WORDS = _see("all synonyms", "", "words", "propose a change")
PINS = _see("all pins", "", "words", "propose a change")
DISAGREEMENTS = _see("all disagreements", "", "freshness")
ACCOUNTS = _see("all accounts", "accounts list", "accounts", "manage accounts")
SESSIONS = _see("your sessions", "sessions list", "account", "manage their own account")
TOKENS = _see("your access tokens", "token list", "account", "manage their own account")
DELIVERIES = _see("all deliveries", "deliveries list", "deliveries", "see deliveries")
WEBHOOKS = _see("all webhooks", "webhook list", "deliveries", "see deliveries")

BRING_IN = _do("Add documents", "upload", "propose a change", "import DIR")
ADD_PROFILE = _do("Create a profile", "index", "add a profile", "profiles add", index_tab="Profiles")
ADD_GRAPH = _do("Create a graph profile", "index", "add a profile", "profiles add NAME --graph rules")
MAKE_QUERYSET = _do("Create a query set", "evaluation", "run an evaluation", "eval generate")
EVALUATE = _do("Run an evaluation", "evaluation", "run an evaluation", "eval run")
ADD_REMOTE = _do("Add a remote", "remote", "manage the remote", "remote add URL")
IMPORT_QUERYSET = run("Import the query set", "eval import")
IMPORT_HISTORY = run("Import the repository", "--home NEW import --git URL")
ACCEPT_REWRITTEN = _do("Accept the rewritten history", "remote", "manage the remote", "remote fetch --accept-rewritten")
REMOVE_REMOTE = _do("Remove the remote", "remote", "manage the remote", "remote remove")

INIT = run("Initialize the workspace", "init")
NEW_DATABASE = run("Start without the old accounts, reviews and audit", "init --new-database")
UPGRADE = run("Save and upgrade the workspace", "upgrade DIR")
VERIFY = run("Check the workspace", "verify")
RECREATE = run("Recreate it", "init")
WORKER = run("Start a worker", "worker")
BACK_UP = run("Back up every hour", "backup DIR")
RESTORE = restore()
SETUP = shell("Install the missing packages", "make setup")
