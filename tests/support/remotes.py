"""Repositories elsewhere: bare ones on this machine, and somebody who commits to them with their own git."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git(where: Path, *arguments: str, author: str = "Olga Outside") -> str:
    """What git says, as somebody's own."""
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", author), ("EMAIL", "olga@example.net"))
    }
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, text=True, env=clean, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def bare(path: Path) -> Path:
    """An empty bare repository."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare", "--initial-branch=main")
    return path


def outside(remote: Path | str, clone: Path, files: dict[str, str], author: str = "Olga Outside") -> str:
    """One commit by somebody's own git, pushed to main; its id."""
    if not clone.exists():
        clone.mkdir(parents=True)
        git(clone, "init", "--quiet", "--initial-branch=main")
        git(clone, "remote", "add", "origin", str(remote))
    git(clone, "fetch", "--quiet", "origin")
    if git(clone, "branch", "--remotes"):
        git(clone, "reset", "--quiet", "--hard", "origin/main")
    for name, text in files.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text, encoding="utf-8")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", f"Write {', '.join(files)}", author=author)
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    return git(clone, "rev-parse", "HEAD")
