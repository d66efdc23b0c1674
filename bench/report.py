"""docs/research/benchmarks.md: every section is written by the command that measured it."""

from __future__ import annotations

import platform
import re
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "docs" / "research" / "benchmarks.md"
HEAD = """# Benchmarks

Sections are written by `make bench` (or `python -m bench PART`), but for those that name another command. Times are \
of the machine on which a section was
measured and say little; ratios were measured in one run, with the peers beside us, and travel. The public collections \
are
not part of Concord: `data/beir`, `data/markdown`, `data/multihop`, `data/chunking_evaluation` and `data/files` are \
looked for in the folder that `CONCORD_SHARED` names,
and parts that need one are left out without it.
"""


def write(name: str, title: str, text: str) -> None:
    """Replace one section, or add it."""
    whole = PATH.read_text() if PATH.exists() else HEAD
    section = f"<!-- {name} -->\n## {title}\n\n{text.strip()}\n<!-- /{name} -->\n"
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->\n", re.DOTALL)
    whole = pattern.sub(lambda _: section, whole) if pattern.search(whole) else f"{whole.rstrip()}\n\n{section}"
    PATH.write_text(whole)
    print(f"\n## {title}\n\n{text.strip()}\n")


def machine() -> str:
    """The machine, without its name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    cores = sum(line.startswith("processor") for line in lines)
    return f"{cores} cores, {model}, Python {platform.python_version()}"
