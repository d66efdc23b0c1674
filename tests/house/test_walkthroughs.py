"""The shell blocks of the README and the docs run in bash, as they are printed, on a copy of the sample."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from core.bootstrap import build
from core.entrypoints.cli import main
from core.settings import load
from tests.conftest import AT_ONCE, ROOT, write
from tests.support.api_server import ApiServer, listening

BLOCK = re.compile(r"^```(?:bash|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Pages about other machines and paid models; tests of deploy/, the cluster and providers hold them.
ELSEWHERE = {"install", "cluster", "messages", "models"}
NOT_HERE = re.compile(r"\b(sudo|make|claude|streamlit|pull-request)\b|data-new")  # data-new: of an earlier version
FUNCTIONS = """
source() { :; }
runs() { python -m core eval runs --queryset frontmatter --json | python3 -c 'import json, sys; print(*(run["id"] for run in json.load(sys.stdin)))'; }
"""  # noqa: E501
PYTHON = f"""#!{sys.executable} -IS
import json, os, socket, sys
door = socket.socket(socket.AF_UNIX)
door.connect(os.environ["WALKTHROUGH"])
typed = "" if sys.stdin.isatty() else sys.stdin.read()
door.sendall(json.dumps([sys.argv[3:], dict(os.environ), os.getcwd(), typed]).encode())
door.shutdown(socket.SHUT_WR)
code, out, err = json.loads(b"".join(iter(lambda: door.recv(65536), b"")))
sys.stdout.write(out), sys.stderr.write(err), sys.exit(code)
"""


class Commands(socketserver.StreamRequestHandler):
    """Runs one `python -m core` of a block in this process, which saves a second of imports each time."""

    def handle(self) -> None:
        words, variables, folder, typed = json.load(self.rfile)
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, variables, clear=True),
            patch("sys.stdin", io.StringIO(typed)),
            chdir(folder),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = main(words)
        self.wfile.write(json.dumps([code, out.getvalue(), err.getvalue()]).encode())


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sample") / "home"
    for words in (["init", "--sample"], ["reindex", "--words"]):
        assert main(["--home", str(home), "--quiet", *words]) == 0
    return home


@pytest.fixture
def shell(sample: Path, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Runs a block in bash, in a folder of its own, with a copy of the sample as its workspace."""
    home = tmp_path / "home"
    subprocess.run(["cp", "-r", str(sample), str(home)], check=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text(PYTHON)
    (tmp_path / "bin" / "python").chmod(0o755)
    texts = (path.read_text().split("---\n", 2)[2] for path in sorted((ROOT / "kb" / "it").glob("*.md")))
    folder = write(tmp_path / "handbook", {f"{n}.md": text for n, text in enumerate(texts)})
    shutil.make_archive(str(folder), "zip", folder)
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "handbook.git")], check=True)
    places = {
        "https://git.example.org/team/handbook.git": tmp_path / "handbook.git",
        "RUN RUN": "$(runs)",
        "promote RUN": "promote $(runs | cut -d ' ' -f 1)",
        "/path/to/your/markdown": ROOT / "kb" / "it",
        "./cases": ROOT / "kb" / "people",
        "/backups": tmp_path / "backups",
        "/srv": tmp_path,
        "/tmp": tmp_path,
    }
    variables = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "CONCORD_HOME": str(home),
        "CONCORD_CACHE": str(ROOT / ".cache" / "tests"),
        "WALKTHROUGH": str(tmp_path / "door"),
    }

    def run(script: str, **more: str) -> None:
        for place, here in places.items():
            script = script.replace(place, str(here))
        done = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", f"{FUNCTIONS}\n{script}"],
            cwd=tmp_path,
            env={**variables, **more},
            input="a long passphrase\n",
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    with socketserver.UnixStreamServer(variables["WALKTHROUGH"], Commands) as door:
        threading.Thread(target=door.serve_forever, daemon=True).start()
        yield run
        door.shutdown()


def script(page: Path) -> str:
    """The commands of a page in their order, as one terminal gets them."""
    text = "".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    commands = re.findall(r"(?:[^\n]*\\\n)*[^\n]*\n", text)
    return "".join(command for command in commands if not NOT_HERE.search(command))


PAGES = [page for page in (ROOT / "docs").glob("*.md") if page.stem not in ELSEWHERE and script(page)]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.stem)
def test_the_commands_of_a_page_succeed_on_the_sample(page: Path, shell: Callable[..., None], tmp_path: Path) -> None:
    if "$CONCORD/" not in (commands := script(page)):
        shell(commands)
        return
    app = build(load({}, home=tmp_path / "home", cache=ROOT / ".cache" / "tests", metrics_token="scrape", **AT_ONCE))
    api = ApiServer(app)
    with listening(api) as address:
        shell(commands, CONCORD=address, TOKEN=api.tokens["author"], REVIEWER=api.tokens["reviewer"], METRICS="scrape")
