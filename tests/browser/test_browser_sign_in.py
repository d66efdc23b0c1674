"""Signing in and out in a real browser: with a password, and with a certified OpenID provider."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from core.bootstrap import App, build
from core.services.people.accounts import NewAccount
from pages.ui.sign_in.cookies import SESSION
from tests.conftest import PASSWORD, demo, kb_settings, put
from tests.pages.test_pages_readers import ASKED, DOCUMENT, FILES, FOLDER, TITLE
from tests.support.browser import PATIENCE, ROOT, Journey, Screen, screen, server

pytestmark = pytest.mark.browser
OIDC = ROOT / "tests" / "data" / "oidc"
PEOPLE = {
    "ann": {"email": "ann@example.org", "email_verified": True, "groups": ["concord-admins"]},
    "zoe": {"email": "zoe@example.org", "email_verified": True, "groups": ["staff"]},
    "impostor": {"email": "ann@example.org", "email_verified": True, "groups": ["concord-admins"]},
    "unverified": {"email": "ben@example.org", "email_verified": False, "groups": ["staff"]},
    "eve": {"email": "eve@example.org", "email_verified": True, "groups": ["staff"]},
    "guest": {"email": "guest@example.org", "email_verified": True, "groups": ["guests"]},
}


@pytest.fixture(scope="module")
def team(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> App:
    """The starter knowledge base, with four people who have a password."""
    app = build(kb_settings(Path(shutil.copytree(kb_template, tmp_path_factory.mktemp("team") / "home"))))
    app.platform.workspace.create()
    for name, full, role in (("ann", "Ann Author", "reader"), ("zoe", "Zoe Zahn", "reader"), ("ben", "Ben", "reader")):
        app.people.accounts.add(demo("admin"), NewAccount(name, full, f"{name}@example.org", role), PASSWORD)
    app.people.accounts.add(demo("admin"), NewAccount("root", "Rita Root", "rita@example.org", "admin"), PASSWORD)
    return app


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def enter(page: Page, name: str) -> None:
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def foot(shown: Screen) -> Any:
    return shown.key("persona_box")


def cookie_of(page: Page) -> dict[str, Any]:
    return next(one for one in page.context.cookies() if one["name"] == SESSION)


def test_a_sign_in_holds_in_every_tab_and_ends_in_all_of_them(chromium: Any, team: App, tmp_path: Path) -> None:
    with server(team.settings.home, tmp_path / "log", CONCORD_SIGN_IN="local") as base, screen(chromium, base) as first:
        first.page.goto(f"{base}/documents?doc=FIN-POL-001&tab=History")
        expect(first.page.get_by_role("heading", name="Sign in")).to_be_visible()
        first.picture("sign-in")
        first.page.fill("#name", "root")
        first.page.fill("#password", "wrong")
        first.page.get_by_role("button", name="Sign in").click()
        expect(first.page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
        enter(first.page, "root")
        first.settle()
        assert first.page.url == f"{base}/documents?doc=FIN-POL-001&tab=History"
        assert (cookie_of(first.page)["httpOnly"], cookie_of(first.page)["sameSite"]) == (True, "Lax")
        first.page.reload()
        expect(foot(first.settle())).to_contain_text("Rita Root · admin")
        with screen(chromium, base) as elsewhere:  # another browser, to be ended from the first
            elsewhere.page.goto(base)
            enter(elsewhere.page, "root")
            elsewhere.settle()
            first.page.get_by_role("link", name="Account", exact=True).click()
            first.page.get_by_role("radio", name="Sign-in").click()
            mine = first.page.get_by_role("main")
            expect(mine.get_by_text("Chromium on Linux")).to_have_count(2)
            expect(mine.get_by_text("This one")).to_have_count(1)
            first.settle().shot("sessions")
            mine.get_by_role("button", name="End all others").click()
            expect(mine.get_by_text("Chromium on Linux")).to_have_count(1)
            mine.get_by_text("Change your password").click()
            mine.get_by_label("Current password").fill(PASSWORD)
            mine.get_by_label("New password").fill("a new long password")
            mine.get_by_role("button", name="Change it").click()
            expect(first.page.get_by_text("Your password is changed.")).to_be_visible()
            elsewhere.page.get_by_role("link", name="Search").first.click()
            expect(elsewhere.page.get_by_role("heading", name="You are signed out")).to_be_visible()
        first.page.reload()
        first.settle()
        second = Screen(first.page.context.new_page(), base).open("/search?q=leave")
        expect(foot(second)).to_contain_text("Rita Root · admin")
        stolen = cookie_of(second.page)
        second.page.get_by_role("button", name="Sign out").click()
        expect(second.page.get_by_role("status")).to_have_text("You are signed out.")
        first.page.get_by_role("link", name="Search").first.click()
        expect(first.page.get_by_role("heading", name="You are signed out")).to_be_visible()
        expect(first.page.get_by_role("link", name="Freshness")).not_to_be_visible()
        first.settle().shots("signed-out")
        first.page.get_by_role("link", name="Sign in").click()
        first.page.wait_for_url(f"{base}/sign-in?next=%2Fsearch")
        assert lands_on_sign_in(chromium, base, stolen)


def lands_on_sign_in(chromium: Any, base: str, cookie: dict[str, Any]) -> bool:
    """What a cookie is worth in another browser."""
    with screen(chromium, base) as thief:
        thief.page.context.add_cookies([cookie])
        thief.page.goto(f"{base}/accounts")
        return thief.page.url == f"{base}/sign-in?next=%2Faccounts"


# ---------------------------------------------------------------- a certified provider


@contextmanager
def certified_provider(app: str, people: Path, log: Path) -> Iterator[str]:
    """npm's oidc-provider on loopback, installed once into the cache."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("NO NODE ON THIS MACHINE: install node and npm to sign in with a certified provider")
    modules = ROOT / ".cache" / "oidc"
    modules.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(OIDC / name, modules / name)
    if not (modules / "node_modules" / "oidc-provider").exists():
        done = subprocess.run(["npm", "ci", "--silent"], cwd=modules, capture_output=True, text=True, timeout=300)
        if done.returncode:
            pytest.skip(f"npm cannot install oidc-provider here: {done.stderr[-200:]}")
    port = free_port()
    command = ["node", str(OIDC / "provider.mjs"), str(modules), str(port), app, str(people)]
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n", log.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Whom the provider knows."""
    path = tmp_path_factory.mktemp("provider") / "people.json"
    path.write_text(json.dumps(PEOPLE))
    return path


@pytest.fixture(scope="module")
def organisation(team: App, people: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The app, and the provider that it is configured for as docs/accounts.md says."""
    port, tmp_path = free_port(), tmp_path_factory.mktemp("organisation")
    with certified_provider(f"http://127.0.0.1:{port}", people, tmp_path / "provider.log") as issuer:
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(
            f"""[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
client_id = "concord"
client_secret = "a secret of thirty-two characters"
server_metadata_url = "{issuer}/.well-known/openid-configuration"
client_kwargs = {{ scope = "openid email groups" }}
role_claim = "groups"
renew = 1

[auth.roles]
admin = ["concord-admins"]
author = ["staff"]
"""
        )
        flags = ("--secrets.files", str(secrets))
        with server(team.settings.home, tmp_path / "log", *flags, port=port, CONCORD_SIGN_IN="oidc") as base:
            yield base, issuer


def sign_in_as(page: Page, who: str) -> None:
    """Through the provider's own pages: any password, then consent."""
    page.get_by_role("link", name="Sign in with your organisation").click()
    page.fill("input[name=login]", who)
    page.fill("input[name=password]", "anything")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


@contextmanager
def visitor(chromium: Any, base: str) -> Iterator[Screen]:
    """A fresh browser; the provider's own pages name a font elsewhere, which is not fetched."""
    with screen(chromium, base) as made:
        made.page.context.route("https://fonts.googleapis.com/**", lambda route: route.abort())
        yield made
        made.outside[:] = [url for url in made.outside if not url.startswith("https://fonts.googleapis.com/")]


@pytest.mark.slow
def test_people_sign_in_with_a_certified_provider(chromium: Any, team: App, organisation: tuple[str, str]) -> None:
    base, issuer = organisation
    with visitor(chromium, base) as first:
        first.page.goto(f"{base}/documents?doc=FIN-POL-001&tab=History")
        first.picture("sign-in-organisation")
        sign_in_as(first.page, "ann")
        first.settle()
        assert first.page.url == f"{base}/documents?doc=FIN-POL-001&tab=History"
        expect(foot(first)).to_contain_text("Ann Author · admin")  # a reader before: the role follows the groups
        first.page.reload()
        expect(foot(first.settle())).to_contain_text("Ann Author · admin")
        second = Screen(first.page.context.new_page(), base).open("/accounts")
        expect(second.page.get_by_role("heading", name="Accounts", exact=True)).to_be_visible()
        assert {one.issuer for one in team.people.sessions.all(demo("admin"), "ann")} == {issuer}
        stolen = cookie_of(first.page)
        second.page.get_by_role("button", name="Sign out").click()
        expect(second.page.get_by_role("status")).to_have_text("You are signed out.")
        first.page.get_by_role("link", name="Search").first.click()
        expect(first.page.get_by_role("heading", name="You are signed out")).to_be_visible()
        assert lands_on_sign_in(chromium, base, stolen)
        second.page.get_by_role("link", name="Also sign out of your organisation").click()
        second.page.get_by_role("button", name="Yes, sign me out").click()
        second.page.wait_for_url(f"{base}/sign-in?signed_out")


@pytest.mark.slow
def test_whom_a_certified_provider_does_not_vouch_for_is_told_why(
    chromium: Any, team: App, organisation: tuple[str, str]
) -> None:
    base, _ = organisation
    for who, why in (
        ("zoe", ""),
        ("ann", ""),
        ("impostor", "belongs to another person at the provider"),
        ("unverified", "has not verified the address ben@example.org"),
        ("eve", "There is no account for eve@example.org"),
        ("guest", "None of your groups at the provider gives a role here"),
    ):
        with visitor(chromium, base) as somebody:
            somebody.page.goto(base)
            sign_in_as(somebody.page, who)
            if why:
                expect(somebody.page.get_by_role("alert")).to_contain_text(why)
                assert SESSION not in {one["name"] for one in somebody.page.context.cookies()}
            else:
                expect(foot(somebody.settle())).to_contain_text("author" if who == "zoe" else "admin")
            if who == "eve":
                somebody.picture("sign-in-refused")
    with visitor(chromium, base) as somebody:
        somebody.page.goto(base)
        somebody.page.get_by_role("link", name="Sign in with your organisation").click()
        somebody.page.get_by_text("[ Cancel ]").click()
        expect(somebody.page.get_by_role("alert")).to_contain_text("The provider did not let you in: access_denied")


@pytest.mark.slow
def test_a_group_that_changes_at_the_provider_is_known_at_the_next_click(
    chromium: Any, team: App, people: Path, organisation: tuple[str, str]
) -> None:
    put(team, {**FILES, "review-rules.yaml": f"readers:\n  {FOLDER}/: [group:investigations]\n"})
    team.index.builder.build(team.platform.settings.profile())
    zoe = PEOPLE["zoe"]
    people.write_text(json.dumps({**PEOPLE, "zoe": {**zoe, "groups": ["staff", "investigations"]}}))
    base, _ = organisation
    with visitor(chromium, base) as member:
        page, journey = member.page, Journey(member, "provider")
        page.goto(f"{base}/search?q={ASKED.replace(' ', '+')}")
        sign_in_as(page, "zoe")
        expect(page.locator("article", has_text=TITLE).first).to_contain_text("seven years")
        journey.step("member")
        people.write_text(json.dumps({**PEOPLE, "zoe": zoe}))
        page.wait_for_timeout(1_500)  # a second is how long the provider is believed here
        journey.click(page.get_by_role("link", name="Documents"))
        expect(page.get_by_text("Fatigue management").first).to_be_visible()
        expect(page.get_by_text(TITLE)).to_have_count(0)
        journey.step("left-the-group")
        member.open(f"/documents?doc={DOCUMENT}")
        expect(page.get_by_text(re.compile("There is no document"))).to_be_visible()
        journey.step("no-such-document")
