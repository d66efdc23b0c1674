"""The house rules, enforced: imports point down, core never sees streamlit, and `import core` stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

from pages.ui.menu import PAGES

ROOT = Path(__file__).resolve().parents[2]
SWITCHES = ("unsafe_allow_html", "allow_pickle")
LOADING = {"load", "load_all", "full_load", "unsafe_load"}
UNPICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
# Statements as they are spelled where each begins a line, which ruff sees to (E701, E702).
IMPORT = re.compile(r"^[ \t]*((?:from\s+[\w.]+\s+)?import\b[^\n(]*(?:\([^)]*\))?)", re.MULTILINE)
CLASS = re.compile(r"^[ \t]*class\s+(\w+)", re.MULTILINE)
LAYERS = {
    "core.cures": -1,
    "core.errors": 0,
    "core.logs": 0,
    "core.strict": 1,
    "core.types": 1,
    "core.settings": 1,
    "core.parameter": 1,
    "core.lru": 1,
    "core.spreadsheet": 1,
    "core.ports": 2,
    "core.access": 2,
    "core.curation": 3,
    "core.analysis": 3,
    "core.llm": 4,
    "core.chunking": 5,
    "core.disagreements": 6,
    "core.graph": 6,
    "core.retrieval": 7,
    "core.evaluation": 8,
    "core.bulk": 9,
    "core.profiles": 9,
    "core.catalogue": 9,
    "core.adapters": 10,
    "core.storage": 11,
    "core.services": 12,
    "core.bootstrap": 13,
    "core.entrypoints": 14,
    "core.__main__": 15,
}


@cache
def modules() -> list[Path]:
    return sorted((ROOT / "core").rglob("*.py"))


@cache
def program() -> list[Path]:
    """Every file of the running program."""
    return [*modules(), *sorted((ROOT / "pages").rglob("*.py")), ROOT / "streamlit_app.py"]


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def import_nodes(path: Path) -> list[ast.stmt]:
    """The imports of a file, without the rest of its tree: that of the whole program takes two CPU seconds."""
    return ast.parse("\n".join(IMPORT.findall(text(path)))).body


def nodes_of(path: Path, *words: str) -> Iterable[ast.AST]:
    """All nodes of a file that says one of these words."""
    return spelled(text(path)) if any(word in text(path) for word in words) else ()


def running(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without what only a type checker sees: a name in an annotation is no dependency of the
    program.
    """
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from running(child)


@cache
def imports(path: Path, *, at_run_time: bool = False) -> set[str]:
    """What a file imports."""
    found = set()
    for node in running(ast.parse(text(path))) if at_run_time else import_nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer(name: str) -> str | None:
    parts = name.split(".")
    return next((key for key in (".".join(parts[:2]), name) if key in LAYERS), None)


def upward(path: Path) -> Iterator[str]:
    """The imports of a file that do not point down."""
    here = layer(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    if here is None:
        if path.name != "__init__.py":
            yield f"{path.relative_to(ROOT)} belongs to no layer"
        return
    for target in {layer(name) for name in imports(path) if name.startswith("core.")} - {None, here}:
        if not (LAYERS[target] < LAYERS[here] or LAYERS[target] == LAYERS[here] == 1):
            yield f"{path.relative_to(ROOT)} in {here} imports {target}"


def test_imports_are_seen_as_in_the_tree_of_a_file() -> None:
    """In functions, over several lines, beside comments; whoever writes one after a colon hears from ruff."""
    for path in (*modules()[::20], Path(__file__)):
        whole = [node for node in spelled(text(path)) if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert sorted(map(ast.unparse, whole)) == sorted(map(ast.unparse, import_nodes(path))), path


def test_imports_point_down() -> None:
    assert len(modules()) > 300
    assert [line for path in modules() for line in upward(path)] == []


def test_core_never_imports_streamlit() -> None:
    for path in modules():
        assert not any(name.split(".")[0] == "streamlit" for name in imports(path)), path


def test_only_storage_and_the_wiring_of_rooms_import_adapters() -> None:
    """Services name the types of the few that they are given, doors not even those."""
    made = re.compile(r"core/(bootstrap|services/\w+/wiring|services/platform/base)\.py|core/(adapters|storage)/.*")
    for path in program():
        name = str(path.relative_to(ROOT))
        if made.fullmatch(name):
            continue
        if any(found.startswith("core.adapters") for found in imports(path)):
            assert name.startswith("core/services/"), path
            names = imports(path, at_run_time=True)
            assert not any(found.startswith("core.adapters") for found in names), path


def test_calls_over_http_leave_by_one_client() -> None:
    others = {"urllib.request", "http.client", "requests", "urllib3", "aiohttp", "httpx"}
    for path in program():
        assert not imports(path) & others, path
        if path.parent != ROOT / "core" / "adapters" / "web":
            assert "httpx2" not in imports(path), path


def door_of(part: str) -> str:
    """The door that a part of the entrypoints belongs to; "" is the command line and the rooms of its records."""
    return part if part in ("api", "mcp") else ""


def test_no_door_calls_the_module_of_another() -> None:
    """What they share are the records and their JSON: the API and the tools know nothing of the command line, and it
    nothing of them.
    """
    doors = ROOT / "core" / "entrypoints"
    shared = {"contracts", "front_desk", "limits", "record", "refusals", "rooms"}
    for path in doors.rglob("*.py"):
        mine = door_of(path.relative_to(doors).parts[0])
        for name in imports(path):
            parts = name.split(".")
            if parts[:2] == ["core", "entrypoints"] and len(parts) > 2 and parts[2] not in shared:
                assert door_of(parts[2]) == mine or path.name == "command.py", (
                    f"{path.relative_to(ROOT)} imports {name}"
                )


def drawn() -> nx.DiGraph:
    """The arrows of the picture in docs/architecture.md."""
    picture = text(ROOT / "docs" / "architecture.md").partition("```mermaid")[2].partition("```")[0]
    chains = (re.sub(r"\[[^]]*\]", "", line).split("-->") for line in picture.splitlines() if "-->" in line)
    return nx.DiGraph(pair for chain in chains for pair in pairwise(name.strip() for name in chain))


def stands_in(name: str) -> str:
    """The box of the picture that a module of core belongs to."""
    part = name.split(".")[1]
    boxes = {
        "entrypoints": "doors",
        "__main__": "doors",
        "access": "ports",
        "analysis": "curation",
        "graph": "graph_",
        "logs": "errors",
        "cures": "errors",
    }
    boxes |= {"disagreements": "graph_", "bulk": "profiles", "catalogue": "profiles"} | dict.fromkeys(
        ("settings", "strict", "parameter", "spreadsheet", "lru"), "types"
    )
    return boxes.get(part, part)


def test_the_picture_shows_the_arrows_that_exist() -> None:
    """Those for types alone included: every import follows arrows of the picture, and every arrow is an import."""
    exist = {
        (stands_in(".".join(path.relative_to(ROOT).with_suffix("").parts)), stands_in(name))
        for path in modules()
        if path.parent != ROOT / "core" or path.name != "__init__.py"
        for name in imports(path)
        if name.startswith("core.") and name != "core.__version__"
    }
    picture = drawn()
    boxes = {name for pair in exist for name in pair}
    assert boxes == set(picture)
    assert {(a, b) for a, b in exist if a != b and not nx.has_path(picture, a, b)} == set()
    assert set(picture.edges) - exist == set()


def test_every_dialog_is_one_that_the_page_knows_to_be_open() -> None:
    made = [path.name for path in program() if "@st.dialog" in text(path)]
    assert made == ["dialogs.py"]


def test_sql_lives_in_the_state_room_alone() -> None:
    """Not a statement and not the toolkit: the index and the caches have files of their own beside it."""
    statement = re.compile(
        r"\b(SELECT\s+.+\s+FROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.S
    )
    for path in program():
        name = str(path.relative_to(ROOT))
        if not name.startswith(("core/adapters/", "core/storage/")):
            assert not statement.search(text(path)), path
        if not name.startswith("core/storage/state/"):
            assert not any(found.split(".")[0] == "sqlalchemy" for found in imports(path)), path


LIGHT = [
    "core",
    "core.types",
    "core.ports",
    "core.retrieval.pipeline",
    "core.services.search.searcher",
    "core.entrypoints.cli",
]


def test_importing_core_loads_nothing_heavy() -> None:
    heavy = {"numpy", "duckdb", "lancedb", "pyarrow", "torch", "streamlit", "onnxruntime", "numba", "pandas", "ray"}
    heavy |= {"git", "sqlalchemy"}
    code = f"import sys\nfor name in {LIGHT}: __import__(name); print(name, sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines() == [f"{name} []" for name in LIGHT]


def test_nothing_is_pickled_and_no_user_html_is_trusted() -> None:
    for path in program():
        found = list(forbidden(nodes_of(path, "yaml", *UNPICKLING, *SWITCHES)))
        assert found == [], f"{path}: {found}"


def test_every_csv_is_written_by_the_one_writer_that_quotes_formulas() -> None:
    """Reading is free; `writer`, `DictWriter`, `to_csv` and a whole `csv` module elsewhere are not."""
    for path in program():
        if path.relative_to(ROOT).as_posix() != "core/spreadsheet.py":
            assert list(csv_writers(nodes_of(path, "csv"))) == [], path


def spelled(code: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(code))


def csv_writers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "csv":
            yield from (name.name for name in node.names if name.name not in ("reader", "DictReader"))
        elif isinstance(node, ast.Import):
            yield from (f"{name.name} as {name.asname}" for name in node.names if name.name == "csv" and name.asname)
        elif isinstance(node, ast.Attribute) and (
            (isinstance(node.value, ast.Name) and node.value.id == "csv" and node.attr not in ("reader", "DictReader"))
            or node.attr in ("to_csv", "write_csv")
        ):
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "code",
    ["import csv; csv.writer(f)", "from csv import DictWriter", "import csv as c", "frame.to_csv()", "f(csv.writer)"],
)
def test_a_second_csv_writer_is_seen_in_any_spelling(code: str) -> None:
    assert list(csv_writers(spelled(code)))
    assert not list(csv_writers(spelled("import csv; from csv import reader; csv.reader(file)")))


def forbidden(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """However it is spelled: modules that unpickle, loaders that build objects, switches that are not written off."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in UNPICKLING)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in UNPICKLING:
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom) and node.module == "yaml":
            yield from (f"yaml.{name.name}" for name in node.names if name.name in LOADING)
        elif isinstance(node, ast.Attribute) and node.attr in LOADING and ast.unparse(node.value) == "yaml":
            yield f"yaml.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg in SWITCHES and ast.unparse(node.value) != "False":
            yield str(node.arg)


@pytest.mark.parametrize(
    "code",
    [
        "from pickle import loads",
        "import dill as d",
        "f(unsafe_allow_html = trusted)",
        "load(x, allow_pickle=1)",
        "import joblib",
        "yaml.load(text)",
        "from yaml import unsafe_load",
    ],
)
def test_forbidden_things_are_seen_in_any_spelling(code: str) -> None:
    assert list(forbidden(spelled(code)))
    assert not list(forbidden(spelled("import json; load(x, allow_pickle=False); yaml.safe_load(x)")))


# ---------------------------------------------------------------- docs/architecture.md


def words_table() -> dict[str, list[str]]:
    """Rows of the table in docs/architecture.md: menu word to cells."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    words = text.partition("## Words")[2].partition("\n## ")[0]
    lines = [line for line in words.splitlines() if line.startswith("| ") and not line.startswith("| Menu")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


def test_every_file_that_the_architecture_page_names_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    example = "core/chunking/paragraphs.py"
    named = set(re.findall(r"(?:core|pages|tests|docs)/[\w/.-]*\w(?:\.\w+|/)", text)) - {example}
    assert len(named) > 60
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", text)) <= tests


def test_every_menu_word_has_a_row_and_its_page_carries_the_word() -> None:
    rows = words_table()
    assert list(rows) == [title for pages in PAGES.values() for _, title, *_ in pages]
    for pages in PAGES.values():
        for script, title, *_ in pages:
            page, _, _, docs, _ = rows[title]
            assert script == title.lower()
            assert f"`pages/{script}.py`" in page
            described = text(ROOT / docs.strip("`"))
            assert re.search(rf"^#+ .*\b{title}\b", described, re.MULTILINE), f"{docs} has no heading {title}"
            parts = ROOT / "pages" / "ui" / script
            assert not parts.is_dir() or f"`pages/ui/{script}/`" in page


def test_rooms_have_a_comfortable_size() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for base in ("services", "storage", "adapters", "curation"):
        folder = ROOT / "core" / base
        assert [path.name for path in folder.glob("*.py")] == ["__init__.py"], "no flat file beside the rooms"
        for room in (path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"):
            files = [path for path in room.glob("*.py") if path.name != "__init__.py"]
            assert len(files) <= 10, f"{room.name} has {len(files)} files"
            assert room.name in text
            assert base == "curation" or "door" in (room / "__init__.py").read_text(encoding="utf-8").lower()


def test_doors_have_rooms_of_a_comfortable_size() -> None:
    doors = ROOT / "core" / "entrypoints"
    for room in (doors, *(path for path in doors.rglob("*") if path.is_dir() and path.name != "__pycache__")):
        assert len([path for path in room.glob("*.py") if path.name != "__init__.py"]) <= 10, room.name


def test_tests_have_rooms_of_a_comfortable_size_and_a_name_each() -> None:
    """One file is found by its name alone: faults, tables and people name it without its room."""
    files = list((ROOT / "tests").rglob("test_*.py"))
    assert len({path.name for path in files}) == len(files)
    rooms = Counter(path.parent.relative_to(ROOT / "tests").as_posix() for path in files)
    assert {room: count for room, count in rooms.items() if count > 20} == {}
    described = text(ROOT / "docs" / "architecture.md").partition("## Tests")[2].partition("\n## ")[0]
    assert [room for room in rooms if f"`{room}/`" not in described] == []


def test_a_class_name_means_one_thing() -> None:
    """A port may share its name with the adapter that fills it."""
    homes: dict[str, list[str]] = {}
    for path in (*program(), *sorted((ROOT / "bench" / "cluster").rglob("*.py"))):
        if path.name != "ports.py":
            for name in CLASS.findall(text(path)):
                homes.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_file_needs_itself_by_a_detour() -> None:
    """Imports form no circle, those for types alone included."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in modules()
    }
    arrows = nx.DiGraph()
    for name, path in files.items():
        for node in import_nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module in files:
                parts = (f"{node.module}.{alias.name}" for alias in node.names)
                arrows.add_edges_from((name, part if part in files else node.module) for part in parts)
    circles = [sorted(circle) for circle in nx.strongly_connected_components(arrows) if len(circle) > 1]
    assert not circles, circles
