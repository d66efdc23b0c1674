"""The reference pages in docs/reference, made from the code: commands, settings, rights, methods and the HTTP API.

Write them with: python -m tests.reference
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import textwrap
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from core import catalogue, settings
from core.access import ANYONE, NEEDS, NO_TOKEN, REACH
from core.entrypoints import record, rooms
from core.entrypoints.cli import parser

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
MADE = "<!-- made from the code by: make reference -->\n"
SHARED = ("help", "home", "json", "quiet", "user", "version")  # options of every command


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {
        "commands.md": commands(),
        "settings.md": variables(),
        "rights.md": rights(),
        "methods.md": methods(),
        "operations.md": operations(),
    }


# ---------------------------------------------------------------- commands


def commands() -> str:
    everything: Any = parser()
    known = _below(everything)
    lines = [
        "# Commands",
        MADE,
        "Every command of `python -m core`, as its `--help` says it. Options that all of them take, exit codes and "
        "examples:",
        "[cli.md](../cli.md). What `--json` prints: [json.md](json.md).",
    ]
    for title, modules in rooms.ROOMS.items():
        lines += ["", f"## {title}"]
        here = {each.name.partition(" ")[0] for module in modules for each in rooms.outlines(module)}
        for name in (word for word in rooms.by_word() if word in here):
            lines += ["", f"### {name}"]
            for path, command in _leaves(name, known[name]):
                lines += ["", *_command(path, command)]
    return "\n".join(lines) + "\n"


def _below(command: Any) -> Mapping[str, Any]:
    found = [action.choices for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    return found[0] if found else {}


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = _below(command)
    if not below:
        yield path, command
    for name, child in below.items():
        yield from _leaves(f"{path} {name}", child)


def _command(path: str, command: Any) -> Iterator[str]:
    own = [action for action in command._actions if action.dest not in SHARED and action.help != argparse.SUPPRESS]
    example = record.COMMANDS[path].example
    needed = [_name(action) for action in own if not action.option_strings]
    yield f"**`{' '.join([path, *needed])}`**: {command.description}."
    if own:
        yield ""
    for action in own:
        yield f"- `{_name(action)}`: {_about(action)}"
    if example != path:
        yield from ("", f"`python -m core {example}`")


def _name(action: argparse.Action) -> str:
    value = str(action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper()))
    if action.option_strings:
        flags = action.option_strings
        return next((flag for flag in flags if flag.startswith("--")), flags[0]) + (
            "" if action.nargs == 0 else f" {value}"
        )
    return {"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} ..."}.get(str(action.nargs), value)


def _about(action: argparse.Action) -> str:
    about = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    shown = isinstance(action.default, (int, float, str)) and bool(action.default) and action.default is not True
    return f"{about} (default: {action.default})" if shown and "default" not in about else about


# ---------------------------------------------------------------- settings


def variables() -> str:
    said = _comments()
    lines = [
        "# Settings",
        MADE,
        "Every setting is an environment variable, read when a process starts. A variable that is empty counts as "
        "not set.",
        "",
        "| Variable | Default | Meaning |",
        "|---|---|---|",
    ]
    defaults = settings.Settings()
    for option in fields(settings.Settings):
        default = _default(getattr(defaults, option.name))
        lines.append(f"| `CONCORD_{option.name.upper()}` | {default} | {said[option.name]} |")
    return "\n".join(lines) + "\n"


def _default(value: object) -> str:
    if isinstance(value, Path):
        return f"`{value.relative_to(ROOT)}/`"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return f"`{value}`" if isinstance(value, str) and value else str(value) if value not in ("", None) else "-"


def _comments() -> dict[str, str]:
    """What the source says behind each setting."""
    said: dict[str, str] = {}
    name, names = "", {option.name for option in fields(settings.Settings)}
    source = Path(settings.__file__).read_text(encoding="utf-8").partition("class ProviderSettings")[0]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string in names and token.line.startswith(f"    {token.string}:"):
            name = token.string
        elif token.type == tokenize.COMMENT and name and name not in said:
            said[name] = token.string.lstrip("# ").replace("|", "\\|")
    return said


# ---------------------------------------------------------------- rights, methods, API


def rights() -> str:
    from pages.ui.menu import PAGES

    lines = [
        "# Rights",
        MADE,
        "Who may do what. Each role may do what the roles before it may: reader, author, reviewer, admin. Services "
        "ask before they do",
        "anything, so a page, a command, an API call and a tool of assistants refuse the same people. *Token* is the "
        "scope that an",
        "access token needs.",
        "",
        "| Action | Role | Token | Pages | Commands | API | Tools |",
        "|---|---|---|---|---|---|---|",
    ]
    doors = _by_action()
    for action, role in NEEDS.items():
        shown = ", ".join(title for section in PAGES.values() for _, title, _, needed in section if needed == action)
        scope = "no token" if REACH[action] == NO_TOKEN else f"`{REACH[action]}`"
        commands, operations, tools = (door.get(action, []) for door in doors)
        cells = (action, role, scope, shown, _named(commands), _code(operations), _code(tools))
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"Commands that every account may use: {_named(doors[0][ANYONE])}."]
    return "\n".join(lines) + "\n"


def _by_action() -> tuple[dict[str, list[str]], ...]:
    """The commands, operations and tools of each action."""
    from core.entrypoints.api.operations import operations
    from core.entrypoints.mcp.tools import TOOLS
    from tests.doors import test_doors as doors

    every = (
        [(doors.needs(name), name) for name in doors.commands()],
        [(doors.needed(each), each.name) for _, each in operations()],
        [(tool.needs, tool.name) for tool in TOOLS],
    )
    found: tuple[dict[str, list[str]], ...] = ({}, {}, {})
    for door, rows in zip(found, every, strict=True):
        for action, name in rows:
            door.setdefault(action, []).append(name)
    return found


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _named(commands: list[str]) -> str:
    """Commands in a cell; one with several parts is named once.

    >>> _named(["change new", "change edit", "check"])
    '`change` new, edit; `check`'
    """
    parts: dict[str, list[str]] = {}
    for command in commands:
        first, _, rest = command.partition(" ")
        parts.setdefault(first, []).append(rest)
    return "; ".join(f"`{first}` {', '.join(rest)}".rstrip() for first, rest in parts.items())


def methods() -> str:
    return "\n".join(
        [
            "# Methods",
            MADE,
            "Every method that a profile or a search configuration can name; `python -m core methods` prints the "
            "same. Formulas and",
            "where each comes from: [research/methods.md](../research/methods.md). The keys of a configuration:",
            "[configuration.md](configuration.md). How to add one: "
            "[architecture.md](../architecture.md#adding-a-method).",
            "",
            catalogue.markdown(),
        ]
    )


def operations() -> str:
    from core.entrypoints.api import reference
    from core.entrypoints.api.application import create

    described = reference.document(create(lambda: None, settings.Settings()))  # type: ignore[arg-type, return-value]
    lines = [
        "# Operations of the HTTP API",
        MADE,
        "Below `/api/v1`. A running app shows the same with forms under `/api/v1/docs`, and as OpenAPI under "
        "`/api/v1/openapi.json`.",
        "How to call it: [api.md](../api.md). Required keys of a body are bold.",
    ]
    tag = ""
    for path, ways in described["paths"].items():
        for way, operation in ways.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                lines += [
                    "",
                    f"## {tag.capitalize()}",
                    "",
                    "| Operation | What it does | Parameters, body |",
                    "|---|---|---|",
                ]
            asked = [f"`{one['name']}`" for one in operation.get("parameters", []) if one["in"] == "query"]
            asked += _body_keys(operation, described["components"]["schemas"])
            about = operation.get("description", operation["summary"]).partition("\n\n")[0].replace("\n", " ")
            lines.append(f"| `{way.upper()} {path}` | {sentence(about)} | {', '.join(asked)} |")
    return "\n".join(lines) + "\n"


def _body_keys(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[str]:
    """The keys of the body of an operation, required ones in bold."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return []
    form = schemas[content["application/json"]["schema"]["$ref"].rpartition("/")[2]]
    return [f"**`{key}`**" if key in form.get("required", ()) else f"`{key}`" for key in form.get("properties", {})]


def sentence(about: str) -> str:
    """A line of help as a sentence.

    >>> sentence("search the knowledge base")
    'Search the knowledge base.'
    """
    return about[:1].upper() + about[1:].rstrip(".") + "."


# ---------------------------------------------------------------- the client

CLIENT = ROOT / "clients" / "concord_client.py"
OPENS, ENDS = "    # ---- made from the code by: make reference\n", "    # ---- how it asks\n"


def client() -> str:
    """The client with a method for each operation."""
    from core.entrypoints.api.operations import operations as every

    before, _, rest = CLIENT.read_text(encoding="utf-8").partition(OPENS)
    after = rest.partition(ENDS)[2]
    methods = [line for _, operation in every() for line in (*_method(operation), "")]
    text = "\n".join([before + OPENS, *methods, ENDS + after])
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(CLIENT), "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout


def _method(operation: Any) -> Iterator[str]:
    from core.entrypoints.api.operations import header_of, key_of, kinds, needed

    in_path, in_query, in_headers, in_body = kinds(operation)
    given = [*in_path, *in_query, *in_body]
    always = [each for each in given if each in in_path or needed(each) or "None" in _type(each)]
    first = [f"{key_of(each)}: {_type(each)}" for each in always]
    rest = [f"{key_of(each)}: {_type(each)} = {_start(each)}" for each in given if each not in always]
    rest += [f'{each.name}: str = ""' for each in in_headers]
    taken = ", ".join(["self", *first, *(["*", *rest] if rest else [])])
    listed = operation.paged
    returned = "Iterator[Json]" if listed else "list[Json]" if operation.reply.startswith("[") else "Json"
    yield f"    def {operation.name}({taken}) -> {returned}:"
    yield _docstring(operation.about)
    path = operation.path.replace(":path", "")
    for each in in_path:
        safe = "" if "{" + each.name + ":path}" in operation.path else ", safe=''"
        spelled = each.name if each.kind is int else f"quote({each.name}{safe})"
        path = path.replace("{" + each.name + "}", "{" + spelled + "}")
    address = f'f"{path}"' if in_path else f'"{path}"'
    query = "{" + ", ".join(f'"{key_of(each)}": {key_of(each)}' for each in in_query) + "}"
    body = "{" + ", ".join(f'"{key_of(each)}": {_sent(each)}' for each in in_body) + "}"
    if listed:
        yield f"        return self._list({address}{f', {query}' if in_query else ''})"
        return
    sent = [f'"{operation.verb}"', address, *([query] if in_query else [])]
    sent += [f"body={body}"] if in_body else []
    sent += [f"head={each.name}" for each in in_headers if header_of(each) == "If-Match"]
    yield f"        return self._{'objects' if returned.startswith('list') else 'object'}({', '.join(sent)})"


def _docstring(about: str) -> str:
    """A sentence on the first line, the others below it."""
    first, _, rest = about.partition(". ")
    if not rest:
        return f'        """{about}"""'
    below = textwrap.fill(rest, 120, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return f'        """{first}.\n\n{below}\n        """'


def _type(each: Any) -> str:
    from dataclasses import is_dataclass
    from typing import get_args, get_origin

    if get_origin(each.kind) is tuple:
        return "Mapping[str, str | None]" if is_dataclass(get_args(each.kind)[0]) else "Sequence[str]"
    if isinstance(get_origin(each.kind), type) and issubclass(get_origin(each.kind), Mapping):
        return "Mapping[str, str]"
    return next((one.__name__ for one in get_args(each.kind) if one is not type(None)), "") or each.kind.__name__


def _start(each: Any) -> str:
    """The default of a parameter: what counts as not given."""
    kind = _type(each)
    empty = {"str": '""', "int": "0", "bool": "False"}.get(kind, "()" if kind.startswith("Sequence") else "{}")
    return repr(each.default).replace("'", '"') if each.default and isinstance(each.default, str) else empty


def _sent(each: Any) -> str:
    from core.entrypoints.api.operations import key_of

    kind, name = _type(each), key_of(each)
    if "None" in kind:
        return f"_files({name})"
    return f"list({name})" if kind.startswith("Sequence") else f"dict({name})" if kind.startswith("Mapping") else name


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    CLIENT.write_text(client(), encoding="utf-8")
