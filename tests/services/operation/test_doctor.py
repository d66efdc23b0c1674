"""The doctor: names twelve planted faults and what to do about each, and finds nothing where nothing is wrong."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core import bootstrap
from core.access import SYSTEM
from core.adapters.models.weights import BUNDLED
from core.bootstrap import App
from core.cures import BACK_UP
from core.entrypoints.cli import main
from core.errors import Refused
from core.services.platform import doctor
from core.settings import load
from tests.conftest import NoProcesses, SmallModels, demo, put, small_app
from tests.support.small_kb import FILES

DEAD = "127.0.0.1:9"


class Past:
    """A clock that stands years behind."""

    def today(self) -> date:
        return date(2020, 1, 1)

    def stamp(self) -> str:
        return datetime(2020, 1, 1, tzinfo=UTC).isoformat()


def states(app: App) -> dict[str, str]:
    return {each.part: each.state for each in app.platform.doctor.examine(demo("admin"))}


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.delenv("CONCORD_SHARED", raising=False)  # of the tests, and no setting
    first = small_app(tmp_path / "home", NoProcesses())
    put(first, FILES)
    app = bootstrap.build(first.settings, models=SmallModels(), processes=NoProcesses())  # with the time of day
    app.index.builder.build(app.platform.settings.profile())
    app.platform.backups.take(SYSTEM, tmp_path / "backup")
    return app


def test_where_nothing_is_wrong_everything_is_fine(whole: App, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(states(whole).values()) == {"fine"}
    main(["--home", str(whole.settings.home), "--json", "doctor"])
    parts = [each["part"] for each in json.loads(capsys.readouterr().out)["checkups"]]
    assert parts == list(whole.platform.doctor.looks)


def test_only_admins_ask_the_doctor(whole: App) -> None:
    with pytest.raises(Refused, match="Only admins"):
        whole.platform.doctor.examine(demo("author"))


@pytest.mark.sqlite
def test_twelve_planted_faults_are_named_each_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, weights = tmp_path / "home", BUNDLED[0]
    (tmp_path / ".streamlit").mkdir()
    metadata = f"http://{DEAD}/.well-known/openid-configuration"
    redirect = "https://concord.example.org/oauth2callback"
    (tmp_path / ".streamlit" / "secrets.toml").write_text(
        f'[auth]\nclient_id = "c"\nredirect_uri = "{redirect}"\nserver_metadata_url = "{metadata}"\n'
    )
    monkeypatch.setattr("core.services.platform.wiring.PROJECT", tmp_path)
    for name, _ in weights.files:
        (tmp_path / "models" / weights.name / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "models" / weights.name / name).write_bytes(b"damaged")
    app = small_app(home, NoProcesses())
    put(app, FILES)
    planted = replace(
        app.settings,
        models=tmp_path / "models",
        sign_in="oidc",
        smtp_url=f"smtp://{DEAD}?tls=none",
        smtp_from="concord@example.org",
        url="https://concord.example.org",
        hosts="other.example.org",
    )
    sick = bootstrap.build(planted, clock=Past(), processes=NoProcesses())
    looks: dict[str, Any] = {**sick.platform.doctor.looks}
    looks["disk"] = partial(doctor.disk, home, lambda place: (100, 99, 200_000_000))
    looks["store"] = partial(
        doctor.answering, "store", True, lambda: "the bucket does not answer", "Check CONCORD_STORE."
    )
    sick.platform.doctor.looks = looks
    app.platform.jobs.start("drift", {}, demo("admin"))
    with closing(sqlite3.connect(home / "app.db")) as rows, rows:
        rows.execute("UPDATE accounts SET role = 'admin'")
    (home / "app.db").chmod(0o644)
    found = {each.part: each for each in sick.platform.doctor.examine(demo("admin")) if each.state == "fault"}
    wanted = {
        "configuration": "CONCORD_HOSTS does not name concord.example.org",
        "permissions": "is open to other users",
        "disk": "0.2 GB are free.",
        "clock": "the newest commit is of 20",
        "database": "app.db",
        "index": "Nothing can be searched.",
        "models": "is damaged or missing",
        "jobs": "1 wait, and no worker is alive.",
        "backup": "None was ever taken.",
        "mail": "It cannot be used: ",
        "provider": "It cannot be used: ",
        "store": "the bucket does not answer",
    }
    assert {part: words for part, words in wanted.items() if part not in found or words not in found[part].says} == {}
    assert [part for part, each in found.items() if not each.cure] == []


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"CONCORD_HOST": "concord.example.org"}, "CONCORD_HOST is no setting. Write CONCORD_HOSTS."),
        ({"CONCORD_METRICS_TOKEN": "CHANGE-ME"}, "CONCORD_METRICS_TOKEN still says CHANGE-ME. Put a value"),
        ({"CONCORD_URL": "https://a.example", "CONCORD_HOSTS": "b.example"}, "CONCORD_HOSTS does not name a.example"),
        ({"CONCORD_URL": "http://a.example", "CONCORD_SIGN_IN": "local"}, "People sign in without HTTPS."),
        ({"CONCORD_URL": "https://a.corp.example", "CONCORD_HOSTS": "x, *.corp.example"}, "The settings agree"),
    ],
)
def test_settings_that_do_not_agree_are_named(environment: dict[str, str], says: str) -> None:
    (found,) = doctor.configuration(load(environment), environment)
    assert f"{found.says} {found.cure}".startswith(says)


def test_a_look_that_fails_is_a_fault_and_the_others_go_on(whole: App) -> None:
    def broken() -> Any:
        raise OSError("input/output error")

    whole.platform.doctor.looks = {"disk": broken, "jobs": whole.platform.doctor.looks["jobs"]}
    assert states(whole) == {"disk": "fault", "jobs": "fine"}


def test_a_backup_of_three_days_ago_is_old(whole: App) -> None:
    class Later:
        def stamp(self) -> str:
            return datetime(2999, 1, 1, tzinfo=UTC).isoformat()

    (old,) = doctor.backup(whole.platform.backups.database, Later())  # type: ignore[arg-type]
    assert (old.state, old.cure) == ("fault", str(BACK_UP))
