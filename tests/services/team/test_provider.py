"""Sign-in with an organisation's provider: who comes in, who does not, and what they are told."""

from __future__ import annotations

import base64
import hashlib
import html
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from joserfc.jwk import RSAKey
from starlette.testclient import TestClient

from core.access import Actor
from core.bootstrap import App
from core.entrypoints.cli import main
from core.errors import BadInput
from core.services.people.wiring import sign_in_provider
from pages.ui.sign_in import cookies
from pages.ui.sign_in import provider as route
from pages.ui.sign_in.cookies import SESSION
from pages.ui.workspace import current_app
from tests.conftest import demo, forget_app, sql
from tests.services.team.test_sessions import inside, visitor
from tests.support.scripted_provider import CLIENT, ZOE, ScriptedProvider, new_key

ADMIN, CONFIGURED = demo("admin"), route.configured


@pytest.fixture
def provider(sign_in_app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """A provider that the app is configured for; tests change what it says."""
    monkeypatch.setenv("CONCORD_SIGN_IN", "oidc")
    forget_app()
    with ScriptedProvider() as made:
        configure(monkeypatch, made.auth())
        yield made


def configure(monkeypatch: pytest.MonkeyPatch, auth: dict[str, Any] | None) -> None:
    made = sign_in_provider(auth) if auth else None
    monkeypatch.setattr(route, "configured", lambda: made)


def sent(browser: TestClient, provider: ScriptedProvider, after: str = "/") -> dict[str, str]:
    """Go to the provider, which remembers the nonce; what it was asked."""
    away = browser.get("/sign-in/provider", params={"next": after})
    assert away.status_code == 303, away.text
    asked = {name: values[0] for name, values in parse_qs(urlsplit(away.headers["location"]).query).items()}
    provider.nonce = asked["nonce"]
    return asked


def come_back(browser: TestClient, provider: ScriptedProvider, after: str = "/") -> Any:
    state = sent(browser, provider, after)["state"]
    return browser.get("/oauth2callback", params={"code": "code", "state": state})


def told(answer: Any) -> str:
    return html.unescape(answer.text)


def refusals(app: App) -> list[tuple[str, str]]:
    return [(one.who, one.detail) for one in app.people.audit.entries(ADMIN, action="refuse sign-in")]


def test_the_provider_leads_back_to_the_page_that_was_asked_for(sign_in_app: App, provider: ScriptedProvider) -> None:
    browser = visitor()
    page = browser.get(browser.get("/documents?doc=x").headers["location"])
    assert "Sign in with your organisation" in page.text
    asked = sent(browser, provider, "/documents?doc=x")
    assert asked["scope"] == "openid email profile"
    assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == ("code", CLIENT, "S256")
    assert "prompt" not in asked
    back = browser.get("/oauth2callback", params={"code": "code", "state": asked["state"]})
    assert (back.status_code, back.headers["location"]) == (303, "/documents?doc=x")
    assert inside(browser)
    exchange = next(body for path, body, _ in provider.asked if path == "/token")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(exchange["code_verifier"].encode()).digest()).decode()
    assert challenge.rstrip("=") == asked["code_challenge"]
    (session,) = sign_in_app.people.sessions.all(ADMIN)
    assert (session.account, session.issuer) == ("zoe", provider.url)
    entry = sign_in_app.people.audit.entries(ADMIN, action="sign in")[0]
    assert (entry.who, entry.detail, entry.door) == ("zoe", provider.url, "app")


def test_a_code_is_of_use_only_in_the_browser_that_asked_for_it(sign_in_app: App, provider: ScriptedProvider) -> None:
    browser, other = visitor(), visitor()
    state = sent(browser, provider)["state"]
    for victim, given in ((other, state), (browser, state[:-1] + "x"), (browser, ""), (browser, "é")):
        answer = victim.get("/oauth2callback", params={"code": "code", "state": given})
        assert answer.status_code == 403
        assert "This sign-in was begun in another browser" in answer.text
        assert not inside(victim)
    assert len(refusals(sign_in_app)) == 4
    done = browser.get("/oauth2callback", params={"code": "code", "state": state})
    assert done.status_code == 303
    again = browser.get("/oauth2callback", params={"code": "code", "state": state})
    assert "This sign-in was begun" in again.text, "once"


def test_two_tabs_may_sign_in_at_the_same_time(sign_in_app: App, provider: ScriptedProvider) -> None:
    browser = visitor()
    first = sent(browser, provider)
    sent(browser, provider)
    provider.nonce = first["nonce"]
    assert browser.get("/oauth2callback", params={"code": "c", "state": first["state"]}).status_code == 303


@pytest.mark.parametrize(
    ("claims", "way", "reason"),
    [
        ({"aud": "somebody-else"}, {}, "aud"),
        ({"aud": [CLIENT, "x"], "azp": "somebody-else"}, {}, "azp"),
        ({"aud": [CLIENT, "x"]}, {}, "azp"),
        ({"aud": CLIENT, "azp": "somebody-else"}, {}, "azp"),
        ({"exp": int(time.time()) - 3600}, {}, "expired"),
        ({"exp": None}, {}, "exp"),
        ({"iat": int(time.time()) + 86400}, {}, "future"),
        ({"iss": "https://evil.example"}, {}, "iss"),
        ({"nonce": "another"}, {}, "nonce"),
        ({"nonce": None}, {}, "nonce"),
        ({"sub": None}, {}, "sub"),
        ({"sub": ""}, {}, "sub"),
        ({}, {"another_key": True}, "signature"),
        ({}, {"algorithm": "none"}, ""),
        ({}, {"algorithm": "none", "metadata": {"id_token_signing_alg_values_supported": ["none"]}}, ""),
        ({}, {"algorithm": "HS256"}, ""),
        ({}, {"key": RSAKey.generate_key(1024, {"kid": "one", "use": "sig"})}, "No keys"),
    ],
)
def test_a_token_that_is_not_right_lets_nobody_in(
    sign_in_app: App, provider: ScriptedProvider, claims: dict[str, Any], way: dict[str, Any], reason: str
) -> None:
    provider.claims |= claims
    for name, value in way.items():
        setattr(provider, name, value)
    browser = visitor()
    answer = come_back(browser, provider)
    assert answer.status_code == 403
    assert "The provider's token" in told(answer)
    assert reason in told(answer)
    assert not inside(browser)
    assert [who for who, _ in refusals(sign_in_app)] == ["somebody at the provider"]
    assert sign_in_app.people.sessions.all(ADMIN) == ()


@pytest.mark.parametrize("claims", [{"aud": [CLIENT]}, {"aud": [CLIENT, "x"], "azp": CLIENT}])
def test_a_token_for_several_applications_counts_where_it_names_this_one(
    sign_in_app: App, provider: ScriptedProvider, claims: dict[str, Any]
) -> None:
    provider.claims |= claims
    assert come_back(visitor(), provider).status_code == 303


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("error", [{}, {"error": "access_denied"}])
def test_an_answer_that_names_another_issuer_counts_for_nothing(
    sign_in_app: App, provider: ScriptedProvider, announced: bool, error: dict[str, str]
) -> None:
    provider.metadata = {"authorization_response_iss_parameter_supported": announced}
    browser, mixed_up = visitor(), "came from another provider"

    def answer(**iss: str) -> Any:
        state = sent(browser, provider)["state"]
        return browser.get("/oauth2callback", params={"code": "code", "state": state, **error, **iss})

    for iss in ("https://evil.example", "", f"{provider.url}/"):
        refused = answer(iss=iss)
        assert (refused.status_code, mixed_up in told(refused)) == (403, True)
    assert (mixed_up in told(answer())) == announced, "what was announced is missed"
    assert not [path for path, _, _ in provider.asked if path == "/token"] or not (announced or error)
    assert mixed_up not in told(answer(iss=provider.url))
    assert inside(browser) == (not error)


def test_a_token_signed_with_the_secret_counts_where_that_is_configured(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, provider.auth(algorithms=["HS256"]))
    provider.algorithm = "HS256"
    assert come_back(visitor(), provider).status_code == 303
    provider.algorithm = "RS256"
    assert come_back(visitor(), provider).status_code == 403


def test_keys_that_the_provider_exchanged_are_read_again(sign_in_app: App, provider: ScriptedProvider) -> None:
    assert come_back(visitor(), provider).status_code == 303
    provider.key = new_key("two")
    assert come_back(visitor(), provider).status_code == 303


@pytest.mark.parametrize("verified", [None, False, "false", "true", 1])
def test_only_a_verified_address_lets_in(sign_in_app: App, provider: ScriptedProvider, verified: Any) -> None:
    provider.claims["email_verified"] = verified
    provider.userinfo = {"sub": "zoe-1"}
    browser = visitor()
    answer = come_back(browser, provider)
    assert answer.status_code == 403
    assert "has not verified the address zoe@example.org. Verify it there" in told(answer)
    assert not inside(browser)
    assert [who for who, _ in refusals(sign_in_app)] == ["zoe@example.org"]


def test_a_provider_that_never_says_verified_can_be_trusted(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, provider.auth(trust_unverified_email=True))
    provider.userinfo = {"sub": "zoe-1"}
    provider.claims["email_verified"] = False
    assert come_back(visitor(), provider).status_code == 403, "one that says no is believed"
    provider.claims["email_verified"] = None
    assert come_back(visitor(), provider).status_code == 303


def test_what_the_token_lacks_is_asked_of_userinfo(sign_in_app: App, provider: ScriptedProvider) -> None:
    provider.claims, provider.userinfo = {"sub": "zoe-1"}, dict(ZOE)
    assert come_back(visitor(), provider).status_code == 303
    headers = next(headers for path, _, headers in provider.asked if path == "/userinfo")
    assert headers["Authorization"] == "Bearer access"
    provider.userinfo["sub"] = "somebody-else"
    answer = come_back(visitor(), provider)
    assert "userinfo is about another person" in told(answer)
    provider.userinfo = {"sub": "zoe-1"}
    assert "The provider reports no address." in told(come_back(visitor(), provider))


def test_what_userinfo_says_of_another_address_verifies_nothing(sign_in_app: App, provider: ScriptedProvider) -> None:
    provider.claims, provider.userinfo = {**ZOE, "email_verified": None}, {**ZOE, "email": "eve@example.org"}
    assert "has not verified the address zoe@example.org" in told(come_back(visitor(), provider))
    provider.userinfo = dict(ZOE)
    assert come_back(visitor(), provider).status_code == 303


@pytest.mark.parametrize("email", ["\uff5aoe@example.org", ".zoe@example.org"])
def test_an_address_that_looks_like_that_of_an_account_is_bound_to_none(
    sign_in_app: App, provider: ScriptedProvider, email: str
) -> None:
    """Accounts are compared without width, case and dots at the ends; a mailbox of such a name is another one."""
    provider.claims |= {"sub": "eve", "email": email}
    browser = visitor()
    assert "can be mistaken for another one" in told(come_back(browser, provider))
    assert not inside(browser)


def test_an_account_is_bound_to_its_first_subject(
    sign_in_app: App, provider: ScriptedProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    assert come_back(visitor(), provider).status_code == 303
    provider.claims |= {"email": "zoe.zahn@example.org"}
    assert come_back(visitor(), provider).status_code == 303, "a new address is the same person"
    provider.claims = {**ZOE, "sub": "zoe-2"}
    browser = visitor()
    answer = come_back(browser, provider)
    assert "belongs to another person at the provider" in told(answer)
    assert not inside(browser)
    assert main(["--home", str(sign_in_app.settings.home), "accounts", "unbind", "zoe"]) == 0
    assert "zoe@example.org" in capsys.readouterr().out
    assert sign_in_app.people.sessions.all(ADMIN, "zoe") == (), "whoever had it is out"
    assert come_back(visitor(), provider).status_code == 303


def test_whoever_has_no_account_or_one_that_is_off_is_told_so(sign_in_app: App, provider: ScriptedProvider) -> None:
    provider.claims = {"sub": "eve", "email": "eve@example.org", "email_verified": True}
    assert "There is no account for eve@example.org. Ask an admin" in told(come_back(visitor(), provider))
    provider.claims = dict(ZOE)
    sign_in_app.people.accounts.set_active(ADMIN, "zoe", False)
    assert "The account of zoe@example.org is switched off." in told(come_back(visitor(), provider))
    assert [who for who, _ in refusals(sign_in_app)] == ["zoe@example.org", "eve@example.org"]
    sign_in_app.people.accounts.set_active(ADMIN, "zoe", True)
    browser = visitor()
    assert come_back(browser, provider).status_code == 303
    sign_in_app.people.accounts.set_active(ADMIN, "zoe", False)
    assert not inside(browser)


GROUPS = {"roles": {"admin": ["concord-admins"], "author": ["writers", "editors"]}}


def test_roles_follow_the_groups_at_each_sign_in(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, provider.auth(**GROUPS))
    accounts = sign_in_app.people.accounts
    for groups, role in ((["writers"], "author"), (["editors", "concord-admins"], "admin"), ("writers", "author")):
        provider.claims["groups"] = groups
        assert come_back(visitor(), provider).status_code == 303
        assert accounts.get("zoe").role == role
    changes = [one.detail for one in sign_in_app.people.audit.entries(ADMIN, who="zoe", action="change role")]
    assert changes[-1] == "reviewer to author, by the provider"
    provider.claims["groups"] = ["guests"]
    answer = come_back(visitor(), provider)
    assert "None of your groups at the provider gives a role here." in told(answer)
    provider.claims["groups"], provider.userinfo = None, {"sub": "zoe-1", "groups": ["concord-admins"]}
    assert come_back(visitor(), provider).status_code == 303
    accounts.set_role(ADMIN, "root", "reader")
    provider.userinfo["groups"] = ["writers"]
    assert come_back(visitor(), provider).status_code == 303
    assert accounts.get("zoe").role == "admin", "the last admin stays one"


def test_accounts_are_made_at_the_first_sign_in_where_that_is_wanted(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, provider.auth(create_accounts=True))
    for subject, email, name in (("1", "Zoe@other.example", "Zoe Other"), ("2", "ann.o'hara@example.org", "")):
        provider.claims = {"sub": subject, "email": email, "email_verified": True, "name": name}
        assert come_back(visitor(), provider).status_code == 303
        assert come_back(visitor(), provider).status_code == 303, "and only once"
    provider.claims = {"sub": "9", "email": "concord@example.org", "email_verified": True, "name": "Concord"}
    assert come_back(visitor(), provider).status_code == 303
    made = [(one.id, one.name, one.role) for one in sign_in_app.people.accounts.all()][2:]
    assert made[:2] == [("zoe-2", "Zoe Other", "reader"), ("ann.o-hara", "ann.o'hara", "reader")]
    assert made[2:] == [("concord-2", "Concord", "reader")], "the id of the system reads everything"
    configure(monkeypatch, provider.auth(create_accounts=True, **GROUPS))
    provider.claims = {"sub": "3", "email": "ben@example.org", "email_verified": True, "groups": ["writers"]}
    assert come_back(visitor(), provider).status_code == 303
    assert sign_in_app.people.accounts.get("ben").role == "author"


def test_what_the_request_says_can_be_configured(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    kwargs = {"scope": "openid email groups", "prompt": "select_account"}
    configure(monkeypatch, provider.auth(client_kwargs=kwargs))
    asked = sent(visitor(), provider)
    assert (asked["scope"], asked["prompt"]) == ("openid email groups", "select_account")


def test_a_provider_that_says_no_or_nothing_leads_to_a_page_that_says_so(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = visitor()
    state = sent(browser, provider)["state"]
    said = {"error": "access_denied", "error_description": "<script>no</script>", "state": state}
    answer = browser.get("/oauth2callback", params=said)
    assert (answer.status_code, "access_denied <script>no</script>" in told(answer)) == (403, True)
    assert "<script>" not in answer.text
    assert 'href="/sign-in?next=' in answer.text
    provider.refuse = "grant request is invalid"
    assert "grant request is invalid. Start again." in told(come_back(visitor(), provider))
    provider.refuse, provider.status = "", 500
    configure(monkeypatch, provider.auth())
    answer = visitor().get("/sign-in/provider")
    assert (answer.status_code, "The sign-in provider cannot be reached" in answer.text) == (503, True)
    configure(monkeypatch, provider.auth(server_metadata_url="http://127.0.0.1:9/none"))
    assert "The sign-in provider cannot be reached" in visitor().get("/sign-in/provider").text
    assert len(refusals(sign_in_app)) == 2


def test_metadata_that_lack_something_are_named(sign_in_app: App, provider: ScriptedProvider) -> None:
    provider.metadata = {"token_endpoint": None}
    answer = come_back(visitor(), provider)
    assert (answer.status_code, "name no token_endpoint" in answer.text) == (503, True)


def test_signing_out_offers_to_sign_out_of_the_provider_too(sign_in_app: App, provider: ScriptedProvider) -> None:
    browser, thief = visitor(), visitor()
    come_back(browser, provider)
    thief.cookies.set(SESSION, browser.cookies[SESSION])
    page = browser.get(browser.post("/sign-out").headers["location"])
    assert "You are signed out." in page.text
    assert f"{provider.url}/end?client_id=concord&post_logout_redirect_uri=http%3A%2F%2Fconcord.test%2Fsign-in" in told(
        page
    )
    assert not inside(browser)
    assert not inside(thief)
    provider.metadata = {"end_session_endpoint": None}
    route.configured()._read_at = float("-inf")
    assert "Also sign out" not in browser.get("/sign-in?signed_out").text


def test_what_is_missing_or_wrong_in_the_settings_is_said(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "configured", CONFIGURED)
    CONFIGURED.cache_clear()
    try:
        monkeypatch.setattr(st.secrets, "load_if_toml_exists", lambda: False)
        page = visitor().get("/sign-in?signed_out")
        assert (page.status_code, "adds an [auth] section" in page.text, "docs/accounts.md" in page.text) == (
            503,
            True,
            True,
        )
        assert "adds an [auth] section" in visitor().get("/sign-in").text
        assert visitor().get("/sign-in/provider").status_code == 503
    finally:
        CONFIGURED.cache_clear()
    for wrong, sentence in (
        ({"redirect_uri": "https://concord.example.org/"}, "must end with /oauth2callback"),
        ({"server_metadata_url": "login.example.org"}, "must be a whole address"),
        ({"roles": {"boss": ["x"]}}, "There is no role 'boss'"),
        ({"algorithms": ["none"]}, "'none' is not accepted"),
        ({"algoritms": ["RS256"]}, "unknown key 'algoritms'"),
    ):
        with pytest.raises(BadInput, match=sentence):
            sign_in_provider(provider.auth(**wrong))


# ---------------------------------------------------------------- groups that change while somebody is signed in


@pytest.fixture
def at_work(
    sign_in_app: App, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> Callable[[float], Actor | None]:
    """Somebody who signed in with a group: who a click some seconds later is, None for nobody any more."""
    configure(monkeypatch, provider.auth(client_kwargs={"scope": "openid email offline_access"}))
    provider.claims |= {"groups": ["hr"]}
    provider.refresh = "refresh"
    browser = visitor()
    assert come_back(browser, provider).status_code == 303
    sessions, began = current_app().people.sessions, time.time()

    def click(later: float) -> Actor | None:
        sessions.now = lambda: began + later
        secret, (session, _) = next(cookies.matched(sessions, browser.cookies))
        route.renewed(session, secret)
        found = cookies.found(sessions, browser.cookies)
        return found[1] if found else None

    return click


def groups(actor: Actor | None) -> tuple[str, ...]:
    assert actor is not None
    return actor.groups


@pytest.mark.parametrize("by", ["userinfo", "refresh token"])
def test_a_group_that_changes_at_the_provider_counts_at_the_next_click(
    provider: ScriptedProvider, at_work: Callable[[float], Actor | None], by: str
) -> None:
    assert groups(at_work(0)) == ("hr",)
    provider.claims |= {"groups": ["all"], "nonce": None}
    provider.userinfo = {"sub": "zoe-1", "groups": ["all"]} if by == "userinfo" else None
    asked = len(provider.asked)
    assert groups(at_work(30)) == ("hr",), "it is asked once a minute"
    assert len(provider.asked) == asked
    assert groups(at_work(61)) == ("all",)
    assert groups(at_work(90)) == ("all",)
    assert [path for path, _, _ in provider.asked[asked:]].count("/userinfo") >= 1
    assert ("/token" in [path for path, _, _ in provider.asked[asked:]]) == (by != "userinfo")


def test_a_session_ends_once_the_provider_does_not_vouch_for_it(
    sign_in_app: App, provider: ScriptedProvider, at_work: Callable[[float], Actor | None]
) -> None:
    provider.refuse = "the user is disabled"
    assert at_work(61) is None
    entry = sign_in_app.people.audit.entries(ADMIN, action="end session")[0]
    assert (entry.who, "the user is disabled" in entry.detail) == ("zoe", True)


def test_while_the_provider_is_away_or_has_no_word_of_groups_people_stay_as_they_were(
    provider: ScriptedProvider, at_work: Callable[[float], Actor | None]
) -> None:
    provider.status = 503
    assert groups(at_work(61)) == ("hr",)
    provider.status, provider.refresh, provider.userinfo = 200, "", {"sub": "zoe-1"}
    assert groups(at_work(130)) == ("hr",)


def test_the_workspace_keeps_the_tokens_of_the_provider_sealed(
    sign_in_app: App, at_work: Callable[[float], Actor | None]
) -> None:
    (row,) = sql(sign_in_app, "SELECT provider_tokens FROM sessions")
    assert row[0].count(".") == 4
    assert "access" not in row[0]
    assert route.configured().unsealed("another cookie", row[0]) == {}
