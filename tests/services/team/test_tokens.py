"""Access tokens: what they reach, what ends them, and what is kept of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.access import KINDS, NEEDS, NO_TOKEN, REACH, ROLES, SCOPES, Actor, allowed, require, scopes_for
from core.bootstrap import App, build
from core.entrypoints.cli import main
from core.errors import BadInput, NotFound, Refused, Unauthenticated
from core.services.people.accounts import NewAccount
from core.services.people.tokens import MARK, AccessTokens
from tests.conftest import FixedClock, NoProcesses, SmallModels, demo, put, small_app, sql

ADMIN, AUTHOR, REVIEWER = demo("admin"), demo("author"), demo("reviewer")
DAY = 86_400.0


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    made = small_app(tmp_path_factory.mktemp("tokens") / "home", NoProcesses())
    put(made, {"a.md": "# Note\n\nFirst line.\n"})
    for kind in ("service", "agent"):
        made.people.accounts.add(ADMIN, NewAccount(kind, kind.title(), f"{kind}@example.org", "reviewer", kind=kind))
    return made


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(app: App, clock: Clock) -> AccessTokens:
    """With a clock of their own, and no token of another test."""
    database = app.people.tokens.database
    database.tokens.revoke_everybody("before")
    return AccessTokens(database, app.people.accounts, app.people.audit, clock)


# ---------------------------------------------------------------- the table


def test_every_action_has_a_scope_and_what_is_for_admins_has_none() -> None:
    assert set(REACH) == set(NEEDS)
    for action, scope in REACH.items():
        assert scope in (*SCOPES, NO_TOKEN), action
        assert NEEDS[action] != "admin" or scope == NO_TOKEN, f"no token may {action}"


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("role", ROLES)
def test_a_token_reaches_no_more_than_its_role_and_its_scope(role: str, scope: str) -> None:
    free = Actor("ann", "Ann", "ann@example.org", role)
    for action, needed in REACH.items():
        in_scope = needed != NO_TOKEN and SCOPES.index(needed) <= SCOPES.index(scope)
        assert allowed(replace(free, scope=scope), action) == (in_scope and allowed(free, action)), action


@pytest.mark.parametrize("role", ROLES)
def test_an_agent_proposes_and_never_decides_whatever_its_role(role: str) -> None:
    agent = Actor("bot", "Bot", "bot@example.org", role, kind="agent")
    may = {action for action in NEEDS if allowed(agent, action)}
    assert all(REACH[action] in ("read", "propose") for action in may)
    assert ("propose a change" in may) == (role != "reader")
    for action in ("review a change", "merge a change", "confirm a document", "settle a disagreement"):
        assert action not in may


def test_a_scope_that_nobody_knows_reaches_nothing() -> None:
    assert not any(allowed(replace(ADMIN, scope="everything"), action) for action in NEEDS)


@pytest.mark.parametrize(
    ("actor", "action", "sentence"),
    [
        (
            replace(REVIEWER, kind="agent"),
            "merge a change",
            "Agents may propose and comment; a person approves and merges.",
        ),
        (replace(ADMIN, scope="review", token="T"), "manage accounts", "No access token may manage accounts. Sign in"),
        (
            replace(AUTHOR, scope="read", token="Bot"),
            "propose a change",
            "The access token 'Bot' has the scope read, which may not propose a change. Use a token with the scope "
            "propose.",
        ),
        (replace(demo("reader"), scope="propose"), "propose a change", "Only authors and above may propose a change"),
    ],
)
def test_a_refusal_says_which_rule_it_was(actor: Actor, action: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        require(actor, action)


def test_scopes_are_offered_as_far_as_role_and_kind_can_use_them() -> None:
    assert {role: scopes_for(demo(role)) for role in ("reader", "author", "reviewer")} == {
        "reader": ("read", "propose"),
        "author": SCOPES,
        "reviewer": SCOPES,
    }
    assert scopes_for(replace(REVIEWER, kind="agent")) == ("read", "propose")


# ---------------------------------------------------------------- the life of a token


def test_a_token_names_its_account_with_the_role_of_now(app: App, tokens: AccessTokens) -> None:
    text, made = tokens.make(demo("author2"), "Script", "propose")
    actor = tokens.holder(text, "api", "r-1")
    assert (actor.id, actor.role, actor.door, actor.scope, actor.token, actor.request, actor.kind) == (
        *("author2", "author", "api", "propose", "Script", "r-1", "person"),
    )
    assert (made.state, made.made_by, made.scope, text[:16]) == ("active", "author2", "propose", made.prefix)
    app.people.accounts.set_role(ADMIN, "author2", "reader")
    assert tokens.holder(text, "mcp").role == "reader"
    app.people.accounts.set_role(ADMIN, "author2", "author")


@pytest.mark.sqlite
def test_only_a_digest_is_stored_and_the_text_is_in_no_row_and_no_listing(app: App, tokens: AccessTokens) -> None:
    text, made = tokens.make(AUTHOR, "Secret")
    assert text.startswith(MARK)
    assert len(text) == len(MARK) + 52, "312 random bits"
    assert tokens.make(AUTHOR, "Other")[0] != text
    ((digest,),) = sql(app, f"SELECT digest FROM tokens WHERE id = {made.id}")
    assert digest == hashlib.sha256(text.encode()).hexdigest()
    everything = (app.settings.home / "app.db").read_bytes() + (app.settings.home / "app.db-wal").read_bytes()
    assert text.encode() not in everything
    assert text[20:].encode() not in everything
    assert text not in str(tokens.listed(AUTHOR, AUTHOR.id))


@pytest.mark.parametrize("text", ["", MARK, "concord", f"{MARK}{'A' * 52}", "Bearer x", "ü" * 3000, "\udc80", "\0"])
def test_a_text_that_is_no_token_names_nobody(tokens: AccessTokens, text: str) -> None:
    with pytest.raises(Unauthenticated, match="not known here"):
        tokens.holder(text, "api")


def test_a_token_with_one_letter_changed_names_nobody(tokens: AccessTokens) -> None:
    text, _ = tokens.make(AUTHOR, "Exact")
    for n in (len(MARK), 16, 30, len(text) - 1):
        wrong = text[:n] + ("a" if text[n] != "a" else "b") + text[n + 1 :]
        with pytest.raises(Unauthenticated):
            tokens.holder(wrong, "api")
    with pytest.raises(Unauthenticated):
        tokens.holder(f"{text} ", "api")


def test_a_revoked_token_is_refused_at_once_also_in_another_process(app: App, tokens: AccessTokens) -> None:
    text, made = tokens.make(AUTHOR, "Laptop")
    other = small_app(app.settings.home, NoProcesses()).people.tokens  # with connections of its own
    assert other.holder(text, "api").id == "author"
    assert tokens.revoke(AUTHOR, made.id).state == "revoked"
    for service in (tokens, other):
        with pytest.raises(Unauthenticated, match="'Laptop' was revoked on 2027-01-15. Make another"):
            service.holder(text, "api")
    assert tokens.revoke(AUTHOR, made.id).revoked == made.created, "revoking twice changes nothing"


def test_a_token_ends_on_its_last_day(tokens: AccessTokens, clock: Clock) -> None:
    text, _ = tokens.make(AUTHOR, "Short", days=30)
    clock.time += 30 * DAY - 1
    assert tokens.holder(text, "api").id == "author"
    clock.time += 1
    with pytest.raises(Unauthenticated, match="'Short' expired on"):
        tokens.holder(text, "api")
    assert tokens.listed(AUTHOR, "author")[0].state == "expired"
    assert tokens.make(AUTHOR, "Short")[1].state == "active", "the name is free again"


def test_switching_an_account_off_ends_its_tokens_for_good(app: App, tokens: AccessTokens) -> None:
    text, _ = tokens.make(demo("reviewer2"), "Gone")
    app.people.accounts.set_active(ADMIN, "reviewer2", False)
    with pytest.raises(Unauthenticated, match="'reviewer2' is switched off"):
        tokens.holder(text, "api")
    app.people.accounts.set_active(ADMIN, "reviewer2", True)
    with pytest.raises(Unauthenticated, match="was revoked"):
        tokens.holder(text, "api")


def test_the_last_use_is_written_once_a_minute(tokens: AccessTokens, clock: Clock) -> None:
    text, made = tokens.make(AUTHOR, "Busy")

    def used():
        return next(token.used for token in tokens.listed(AUTHOR, "author") if token.id == made.id)

    assert used() == ""
    tokens.holder(text, "api")
    first = used()
    clock.time += 59
    tokens.holder(text, "api")
    assert used() == first
    clock.time += 1
    tokens.holder(text, "api")
    assert used() > first


def test_reading_goes_on_where_the_last_use_cannot_be_written(
    tokens: AccessTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.errors import StorageFailed

    def full(*_: object) -> None:
        raise StorageFailed("The disk is full.")

    text, _ = tokens.make(AUTHOR, "Full")
    monkeypatch.setattr(tokens.database.tokens, "touch", full)
    assert tokens.holder(text, "api").id == "author"


@pytest.mark.sqlite
def test_restoring_a_backup_revokes_every_token(app: App, tokens: AccessTokens, tmp_path: Path) -> None:
    text, _ = tokens.make(AUTHOR, "Kept")
    app.platform.backups.take(ADMIN, tmp_path / "backup")
    settings = replace(app.settings, home=tmp_path / "restored")
    other = build(settings, clock=FixedClock(), models=SmallModels(), processes=NoProcesses())
    other.platform.backups.restore(ADMIN, tmp_path / "backup")
    with pytest.raises(Unauthenticated, match="was revoked"):
        other.people.tokens.holder(text, "api")


# ---------------------------------------------------------------- who makes them


def test_people_make_their_own_and_admins_those_of_services_and_agents(tokens: AccessTokens) -> None:
    _, made = tokens.make(ADMIN, "Pipeline", "review", 365, "service")
    assert (made.account, made.made_by) == ("service", "admin")
    with pytest.raises(Refused, match="Avery Lindqvist makes their own access tokens"):
        tokens.make(ADMIN, "Spy", account="author")
    with pytest.raises(Refused, match="Only admins may manage accounts"):
        tokens.make(AUTHOR, "Mine", account="service")
    with pytest.raises(NotFound):
        tokens.make(ADMIN, "Nobody's", account="stranger")


def test_people_see_and_revoke_their_own_and_admins_everybodys(tokens: AccessTokens) -> None:
    _, mine = tokens.make(AUTHOR, "Mine")
    assert [token.name for token in tokens.listed(AUTHOR, "author") if token.state == "active"] == ["Mine"]
    for call in (lambda: tokens.listed(REVIEWER, "author"), lambda: tokens.revoke(REVIEWER, mine.id)):
        with pytest.raises(Refused, match="Only admins"):
            call()
    assert mine in tokens.listed(ADMIN)
    assert tokens.revoke(ADMIN, mine.id).state == "revoked"
    with pytest.raises(NotFound, match="no access token 99999"):
        tokens.revoke(ADMIN, 99_999)


def test_no_token_makes_tokens_ends_sessions_or_sets_a_password(app: App, tokens: AccessTokens) -> None:
    text, made = tokens.make(ADMIN, "Root", "review")
    bearer = tokens.holder(text, "api")
    people = app.people
    for call in (
        lambda: tokens.make(bearer, "Child"),
        lambda: tokens.listed(bearer, bearer.id),
        lambda: tokens.revoke(bearer, made.id),
        lambda: people.sessions.all(bearer, bearer.id),
        lambda: people.sessions.end_all(bearer, bearer.id),
        lambda: people.accounts.set_password(bearer, bearer.id, "a long password"),
        lambda: people.accounts.add(bearer, NewAccount("new", "New", "new@example.org", "admin")),
        lambda: people.audit.entries(bearer),
    ):
        with pytest.raises(Refused, match="No access token may"):
            call()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"name": " "}, "a name of 1 to 60"),
        ({"name": "x" * 61}, "a name of 1 to 60"),
        ({"name": "a\u200bb"}, "a name of 1 to 60"),
        ({"name": "A", "scope": "admin"}, "There is no scope 'admin'. Scopes: read, propose, review."),
        ({"name": "A", "days": 0}, "1 to 365 days"),
        ({"name": "A", "days": 366}, "1 to 365 days"),
        ({"name": "A", "scope": "review", "account": "agent"}, "Agents may propose and comment; .* not review"),
    ],
)
def test_what_a_token_cannot_be_is_said(tokens: AccessTokens, values: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        tokens.make(ADMIN, **values)  # type: ignore[arg-type]


def test_two_tokens_that_work_have_different_names(tokens: AccessTokens) -> None:
    _, made = tokens.make(AUTHOR, "Same")
    with pytest.raises(BadInput, match="already has an access token 'Same'"):
        tokens.make(AUTHOR, " Same ")
    tokens.make(REVIEWER, "Same")
    tokens.revoke(AUTHOR, made.id)
    tokens.make(AUTHOR, "Same")


# ---------------------------------------------------------------- services and agents


def test_services_and_agents_have_no_password_and_are_no_admins(app: App) -> None:
    accounts = app.people.accounts
    assert [accounts.get(name).kind for name in ("service", "agent")] == ["service", "agent"]
    with pytest.raises(BadInput, match="There is no kind of account 'robot'"):
        accounts.add(ADMIN, NewAccount("x", "X", "x@example.org", "reader", kind="robot"))
    with pytest.raises(BadInput, match="have no password"):
        accounts.add(ADMIN, NewAccount("x", "X", "x@example.org", "reader", kind="service"), "a long password")
    with pytest.raises(BadInput, match="have no password"):
        accounts.set_password(ADMIN, "agent", "a long password")
    for kind in KINDS[1:]:
        with pytest.raises(BadInput, match="only people are admins"):
            accounts.set_role(ADMIN, kind, "admin")


def test_an_agent_proposes_and_comments_and_a_person_approves_and_merges(app: App, tokens: AccessTokens) -> None:
    reviews = app.reviews
    agent = tokens.holder(tokens.make(ADMIN, "Assistant", "propose", account="agent")[0], "mcp", "r-9")
    number = reviews.changes.propose(agent, "Better", {"a.md": b"# Note\n\nSecond line.\n"}).id
    reviews.discussion.comment(agent, number, "Shorter.")
    reviews.changes.submit(agent, number)
    theirs = reviews.changes.propose(AUTHOR, "Mine", {"b.md": b"# B\n\nText.\n"}).id
    reviews.changes.submit(AUTHOR, theirs)
    for bot in (agent, replace(agent, scope="", token="")):
        for decide in (reviews.discussion.approve, reviews.discussion.take_back, reviews.merger.merge):
            with pytest.raises(Refused, match="a person approves and merges"):
                decide(bot, theirs)
    with pytest.raises(Refused, match="Only Avery Lindqvist may close this change"):
        reviews.changes.close(agent, theirs)
    assert "agent" not in [account.id for account in reviews.changes.reviewers(AUTHOR, theirs)]
    reviews.discussion.approve(REVIEWER, number)
    assert reviews.merger.merge(REVIEWER, number).state == "merged"
    entry = app.people.audit.entries(ADMIN, who="agent", action="propose")[0]
    assert (entry.door, entry.token, entry.request) == ("mcp", "Assistant", "r-9")


def test_an_admins_token_neither_bypasses_rules_nor_approves_new_ones(app: App, tokens: AccessTokens) -> None:
    from core.curation.review.moves import FILE, may_judge

    bearer = tokens.holder(tokens.make(ADMIN, "Power", "review")[0], "api")
    assert allowed(bearer, "merge a change")
    assert not allowed(bearer, "bypass the review rules")
    assert (may_judge(ADMIN, [FILE]), may_judge(bearer, [FILE]), may_judge(bearer, ["a.md"])) == (True, False, True)


def test_the_provider_signs_in_no_service_account(app: App) -> None:
    from core.settings import ProviderSettings

    claims = {"iss": "https://id", "sub": "1", "email": "service@example.org", "email_verified": True}
    settings = ProviderSettings(
        redirect_uri="https://x/oauth2callback", client_id="a", client_secret="b", server_metadata_url="https://id"
    )
    with pytest.raises(Refused, match="belongs to a service account"):
        app.people.provider.sign_in(claims, settings)


# ---------------------------------------------------------------- the command line


def test_a_token_is_made_listed_and_revoked_on_the_command_line(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> tuple[int, Any, str]:
        code = main(["--home", str(app.settings.home), *arguments, "--json", "--quiet"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    _, account, _ = run("accounts", "add", "cron", "--kind", "service", "--role", "author")
    assert (account["kind"], account["email"]) == ("service", "cron@localhost")
    code, made, _ = run("token", "add", "Cron", "--account", "cron", "--scope", "propose", "--days", "30")
    assert code == 0
    actor = app.people.tokens.holder(made["token"], "api")
    assert (actor.id, actor.scope, actor.kind) == ("cron", "propose", "service")
    _, listed, _ = run("token", "list", "--account", "cron")
    assert listed[0].keys() == made.keys() - {"token"}
    assert run("token", "list", "--as", "reader")[1] == []
    assert run("token", "add", "Mine", "--as", "author")[1]["account"] == "author"
    assert run("token", "revoke", str(made["id"]))[1]["state"] == "revoked"
    assert "Say whose access token it is" in run("token", "add", "Nobody")[2]
