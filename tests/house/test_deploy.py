"""What deploy/ says is true of the code: settings, metrics and files that it names, and a backup that keeps what it
promises.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from core.entrypoints.api.metrics import Meters
from core.entrypoints.cli import main, parser
from core.settings import Settings
from tests.conftest import ROOT, demo
from tests.support.api_server import served

DEPLOY = ROOT / "deploy"
KNOWN = {f"CONCORD_{option.name.upper()}" for option in fields(Settings)}


def text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["env.example", "compose.yaml", "concord.service", "concord-backup.service", "concord.sh", "Dockerfile"]
)
def test_every_setting_is_one_of_concord(name: str) -> None:
    assert set(re.findall(r"CONCORD_[A-Z_]+", text(name))) <= KNOWN


def test_every_command_and_file_of_the_guide_is_there() -> None:
    guide = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    typed = "\n".join(re.findall(r"```sh\n(.*?)```", guide, re.DOTALL))
    commands = re.findall(r"(?:^sudo (?:APP=\S+ )?concord|python -m core) (.+)$", typed, re.MULTILINE)
    assert len(commands) == 10
    for words in commands:
        parser(shlex.split(words, comments=True)).parse_args(shlex.split(words, comments=True))
    named = set(re.findall(r"deploy/[\w.-]+", typed)) - {"deploy/.env"}
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_rules_and_dashboard_ask_for_metrics_that_there_are(tmp_path: Path) -> None:
    server = served(tmp_path / "home")
    server.app.people.audit.note(demo("admin"), "back up", "a folder")
    meters = Meters()
    meters.request("GET", "/search", 200, 0.01)
    meters.searches.labels("yes").inc()
    there = set(re.findall(r"^(concord_\w+)", meters.text(server.app).decode(), re.MULTILINE))
    for name in ("alerts.yml", "grafana.json"):
        asked = set(re.findall(r"concord_\w+", text(name)))
        assert asked
        assert asked <= there, name


def test_no_library_reports_to_its_makers() -> None:
    """It must be said before ONNX Runtime is loaded, so it is the first thing that Concord does."""
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_every_rule_says_what_to_do() -> None:
    rules = [rule for group in yaml.safe_load(text("alerts.yml"))["groups"] for rule in group["rules"]]
    assert len(rules) == len({rule["alert"] for rule in rules}) == 11
    assert all(rule["annotations"].keys() == {"summary", "do"} for rule in rules)
    panels = json.loads(text("grafana.json"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_containers_run_without_rights_on_a_read_only_root() -> None:
    composed = yaml.safe_load(text("compose.yaml"))
    for name, service in composed["services"].items():
        if name != "proxy":
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name
    assert "USER concord" in text("Dockerfile")
    named = {composed["services"]["prepare"]["build"]["dockerfile"], "deploy/backup.sh", "deploy/Caddyfile"}
    assert all((ROOT / path).is_file() for path in named)


def test_what_prepares_the_containers_ends_well_and_twice(tmp_path: Path) -> None:
    """The others wait for it: with an index to build where there are no documents it failed, and nothing started."""
    words = yaml.safe_load(text("compose.yaml"))["services"]["prepare"]["command"].removeprefix("python -m core ")
    assert [main(["--home", str(tmp_path / "data"), *words.split()]) for _ in range(2)] == [0, 0]


def test_a_backup_keeps_a_day_of_hours_and_a_month_of_midnights(tmp_path: Path) -> None:
    """With a stand-in for Concord: what is removed is what this asks."""
    tools, kept = tmp_path / "bin", tmp_path / "backups"
    tools.mkdir()
    (tools / "python").write_text('#!/bin/sh\n[ "$4" != "" ] && mkdir "$5"\n')
    (tools / "python").chmod(0o755)
    ages = {"2026-01-02-1307": 26, "2026-01-02-1407": 24, "2026-01-01-0007": 40, "2025-11-01-0007": 24 * 33}
    of_people = {"before-1.1.0": 26, "2025-11-01": 24 * 33, "2025-11-01-0007-kept": 24 * 33}
    for name, hours in {**ages, **of_people}.items():
        (kept / name).mkdir(parents=True)
        os.utime(kept / name, (time.time() - hours * 3600,) * 2)
    asked = ["sh", str(DEPLOY / "backup.sh"), str(kept)]
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    assert subprocess.run(asked, env=path, check=False).returncode == 0
    left = {each.name for each in kept.iterdir()}
    assert {"2026-01-02-1407", "2026-01-01-0007", *of_people} < left
    assert len(left) == 3 + len(of_people)
    (tools / "python").write_text("#!/bin/sh\nexit 3\n")
    assert subprocess.run(asked, env=path, check=False).returncode == 3
