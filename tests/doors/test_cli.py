"""The command line is a contract: keys, exit codes, sentences on standard error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.entrypoints import record, rooms
from core.entrypoints.cli import main, parser
from tests.conftest import ROOT, NoProcesses, put, small_app, write


@pytest.fixture
def run(kb_home: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command on the starter knowledge base; returns exit code, JSON (or text) and standard error."""

    def call(*arguments: str, home: Path = kb_home, as_json: bool = True) -> tuple[int, Any, str]:
        code = main(["--home", str(home), *arguments, "--quiet", *(["--json"] if as_json else [])])
        out, err = capsys.readouterr()
        return code, json.loads(out) if as_json and out else out, err

    return call


def test_search_prints_the_promised_keys(run: Any) -> None:
    code, value, err = run("search", "how long do we keep SAR records", "-k", "3")
    assert (code, err) == (0, "")
    assert {"query", "profile", "generation", "commit", "config", "hits", "stages", "warnings"} <= set(value)
    assert len(value["hits"]) == 3
    assert {
        "rank",
        "doc",
        "path",
        "title",
        "heading",
        "chunk",
        "start",
        "end",
        "text",
        "score",
        "legs",
        "status",
        "version",
    } <= set(value["hits"][0])
    assert {"name", "ms", "hits"} <= set(value["stages"][0])
    code, document, _ = run("documents", "show", value["hits"][0]["doc"])
    hit = value["hits"][0]
    assert document["text"][hit["start"] : hit["end"]] == hit["text"]


def promised(name: str) -> set[str]:
    """The keys that docs/reference/json.md names for a command, or for each row of its list."""
    page = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    shape = re.search(rf"^\*\*[^\n]*`{name}`[^\n]*\*\*\n\n```text\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert shape, f"{name} is not in docs/reference/json.md"
    depth, found, level = 0, set(), 2 if shape[1].startswith("[") else 1
    for part in re.finditer(r'[\[\]{}]|"([^"]*)"', shape[1]):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(part[0], 0)
        found |= {part[1]} if part[1] and depth == level else set()
    return found


@pytest.mark.parametrize(
    "command",
    ["search cash", "compare cash --config bm25", "ledger summary", "verify"],
)
def test_the_reference_names_the_keys_that_are_printed(run: Any, command: str) -> None:
    _, value, _ = run(*command.split())
    name = command if command == "ledger summary" else command.split()[0]
    assert promised(name) == set(value[0] if isinstance(value, list) else value)


@pytest.mark.parametrize(
    "config",
    [
        "bm25",
        "dense",
        "convex-0.3",
        "tm2c2-0.5",
        "rrf-60",
        "rsf",
        "dbsn",
        "combsum",
        "combmnz",
        "graph",
        "trimodal",
        "trimodal-graph",
        "two-hops",
        '{"base": "rrf-20", "depth": 30}',
    ],
)
def test_every_configuration_answers(run: Any, config: str) -> None:
    code, value, _ = run("search", "currency transaction report deadline", "--config", config)
    assert code == 0
    assert "finance/compliance/ctr-filing.md" in [hit["path"] for hit in value["hits"][:5]]


def test_options_stand_before_or_after_the_command(kb_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "vpn", "--json", "--home", str(kb_home)]) == 0
    assert json.loads(capsys.readouterr().out)["hits"]


def test_people_get_lines_and_an_explanation(run: Any) -> None:
    code, out, _ = run("search", "CU*BASE", "--explain", as_json=False)
    assert code == 0
    assert "bm25" in out
    assert "normalised" in out
    assert "stage" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("search", "x", "--config", "magic"), "There is no configuration 'magic'"),
        (("search", "x", "--profile", "titan"), "There is no profile 'titan'. Profiles: local"),
        (("search", " "), "The query is empty"),
        (("init", "--from", "/does/not/exist"), "There is no folder and no file"),
        (("search", "x", "-k", "5000"), "-k must be between"),
        (("documents", "show", "NOPE-1"), "There is no document 'NOPE-1'"),
        (("documents", "show", "FIN-POL-001", "--at", "HEAD~1"), "is not a commit or a branch"),
        (("generations", "rollback", "99"), "no generation 99"),
        (("import", "/does/not/exist"), "There is no folder"),
        (("profiles", "add", "local"), "There already is a profile 'local'"),
        (("profiles", "add", "Bad Name"), "may hold only a-z"),
        (("profiles", "add", "x", "--chunker", "magic"), "There is no chunker 'magic'"),
        (("profiles", "add", "x", "--param", "max_tokens=many"), "must look like max_tokens=400"),
        (("profiles", "add", "x", "--lexical", "{"), "not valid JSON"),
        (("models", "fetch", "gpt-9"), "There is no bundled model 'gpt-9'"),
        (("jobs", "cancel", "77"), "There is no job 77"),
        (("jobs", "log", "77"), "There is no job 77"),
        (("eval", "beir", "/does/not/exist"), "There is no"),
        (("eval", "beir", "/does/not/exist", "--limit", "-1"), "from 0 up"),
        (("search", "cash", "--status", "aproved"), "No document has the status 'aproved'. Known: approved"),
        (("search", "cash", "--tag", "nope-nope"), "No document has the tag 'nope-nope'"),
        (("search", "cash", "-k", "0"), "-k must be between 1 and 1000"),
        (("token", "add", "t"), "Say whose access token it is: --as YOU"),
        (("search", "cash", "--as-of", "2130-01-01"), "2130-01-01 is in the future"),
        (("audit", "list", "--since", "yesterday"), "'yesterday' is no time"),
        (("database", "move", "mysql://x"), "The address of a database must look like postgresql://"),
        (("tune", "promote"), "Name the run to promote, as eval runs lists it"),
        (("profiles", "default", "windows"), "has no index yet"),
    ],
)
def test_refusals_exit_1_with_a_sentence_on_standard_error(run: Any, arguments: tuple[str, ...], sentence: str) -> None:
    code, out, err = run(*arguments, as_json=False)
    assert (code, out) == (1, "")
    assert sentence in err
    assert "Traceback" not in err


def test_a_query_of_half_characters_is_searched_and_a_stopped_command_says_so(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, value, _ = run("search", "caf\udce9 cash")
    assert (code, value["query"]) == (0, "caf? cash")

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("core.services.search.searcher.Searcher.search", stop)
    code, out, err = run("search", "cash", as_json=False)
    assert (code, out) == (130, "")
    assert "Stopped." in err


def test_types_are_filtered_whatever_their_case(run: Any) -> None:
    hits = run("search", "approval limits", "--type", "Policy")[1]["hits"]
    assert hits
    assert hits == run("search", "approval limits", "--type", "policy")[1]["hits"]


def test_no_command_shows_all_by_group_and_a_misspelled_one_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert [word for word in rooms.by_word() if f"\n  {word} " not in shown] == []
    with pytest.raises(SystemExit) as caught:
        main(["serch", "cash"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("There is no command 'serch'. Did you mean 'search'?\n")


def test_help_reads_the_commands_that_are_imported_and_every_argument_has_its_help() -> None:
    outlined = {each.name: each.about for outlines in rooms.by_word().values() for each in outlines}
    parser()
    assert outlined == {found.name: found.about for found in record.COMMANDS.values()}
    assert len(outlined) <= 95

    def silent(command: Any) -> list[str]:
        below = [action for action in command._actions if action.__class__.__name__ == "_SubParsersAction"]
        own = [
            f"{command.prog} {action.dest}" for action in command._actions if not action.help and action not in below
        ]
        return own + [name for group in below for child in group.choices.values() for name in silent(child)]

    assert silent(parser()) == []


def test_wrong_usage_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["search"])
    assert caught.value.code == 2
    capsys.readouterr()


def test_documents_are_listed_with_their_facts(run: Any) -> None:
    _, listed, _ = run("documents", "list")
    assert len(listed) >= 40
    assert {
        "doc",
        "path",
        "title",
        "doc_type",
        "status",
        "owner",
        "tags",
        "effective_date",
        "review_due",
        "version",
        "answers",
    } <= set(listed[0])


def test_profiles_generations_models_and_verify(run: Any) -> None:
    _, profiles, _ = run("profiles", "list")
    assert [profile["name"] for profile in profiles if profile["production"]] == ["local"]
    lacking = {model["name"] for model in run("models", "list")[1] if not model["present"]}
    assert [one["absent_models"] for one in profiles] == [
        [one["embedder"]] if one["embedder"] in lacking else [] for one in profiles
    ]
    _, generations, _ = run("generations", "list")
    assert generations[0]["current"]
    _, models, _ = run("models", "list")
    assert {model["name"] for model in models if model["present"]} >= {
        "bge-small-en-v1.5-int8",
        "ms-marco-minilm-l12-int8",
    }
    assert run("verify")[:2] == (0, {"ok": True, "problems": [], "damaged": []})


def test_init_import_reindex_and_search_in_a_new_workspace(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_CACHE", str(ROOT / ".cache" / "tests"))
    source = write(tmp_path / "first", {"a.md": "# Alpha\n\nApples and pears.\n"})
    home = tmp_path / "home"
    assert run("search", "x", home=home, as_json=False)[2].startswith("There is no workspace in")
    code, value, _ = run("init", "--from", str(source), home=home)
    assert (code, value["documents"]) == (0, 1)
    (line,) = run("audit", "list", home=home)[1]
    assert (line["action"], line["door"], line["commit_id"]) == ("import", "command line", value["commit"])
    more = write(
        tmp_path / "more",
        {
            "sub/b.md": "# Beta\n\nBananas.\n",
            "bad.md": "---\nreview_due: soon\n---\n",
            "c.MD": "# Gamma\n\nCherries.\n",
            "d.txt": "no",
        },
    )
    (more / "link.md").symlink_to(more / "sub" / "b.md")
    (more / "latin.md").write_bytes("caf\xe9".encode("latin-1"))
    code, value, _ = run("import", str(more), home=home)
    assert code == 0
    assert value["added"] == ["c.md", "sub/b.md"]
    assert {row["path"] for row in value["refused"]} == {"bad.md", "link.md", "latin.md"}
    assert value["skipped"] == [
        {
            "path": "d.txt",
            "why": "Only Markdown (.md, .markdown, .mdx) is read from a folder. Rename it if it is plain Markdown.",
        }
    ]
    code, value, _ = run("import", str(more), "--into", "again", home=home)
    assert value["added"] == ["again/c.md", "again/sub/b.md"]
    assert run("import", str(more), home=home)[1]["unchanged"] == ["c.md", "sub/b.md"]
    assert run("verify", home=home)[0] == 1, "the index is behind"
    code, built, _ = run("reindex", home=home)
    assert (built["documents"], built["built"]) == (5, True)
    assert {"chunks", "seconds", "chunks_per_second", "seconds_per_stage"} <= set(built)
    assert run("reindex", home=home)[1]["built"] is False
    assert run("search", "bananas", home=home)[1]["hits"][0]["path"] in ("sub/b.md", "again/sub/b.md")
    assert run("verify", home=home)[0] == 0
    assert run(
        "profiles", "add", "mine", "--chunker", "fixed", "--param", "max_tokens=100", "--param", "overlap=10", home=home
    )[1]["digest"]
    assert run("reindex", "--profile", "mine", home=home)[1]["generation"]["profile"] == "mine"
    assert run("jobs", "list", home=home)[1] == []


def test_eval_beir_scores_a_small_collection_and_reuses_the_index(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_CACHE", str(ROOT / ".cache" / "tests"))
    folder = tmp_path / "tiny"
    records = [
        {"_id": f"d{n}", "title": f"Topic {n}", "text": text}
        for n, text in enumerate(["apples grow on trees", "ships sail the sea", "bread is baked"])
    ]
    queries = [{"_id": "q1", "text": "what sails"}, {"_id": "q2", "text": "who baked bread"}]
    write(
        folder,
        {
            "corpus.jsonl": "\n".join(map(json.dumps, records)),
            "queries.jsonl": "\n".join(map(json.dumps, queries)),
            "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n",
        },
    )
    code, value, _ = run("eval", "beir", str(folder), "--config", "convex-0.5", home=tmp_path / "home")
    assert code == 0
    assert (value["nDCG@10"], value["Recall@100"], value["MRR@10"], value["queries"]) == (1.0, 1.0, 1.0, 2)
    assert value["seconds"] >= 0
    assert value["index"] is not None
    code, again, _ = run("eval", "beir", str(folder), "--limit", "1", home=tmp_path / "home")
    assert (again["index"], again["queries"], again["config"]) == (None, 1, "documents-0.9"), "what is recommended"
    bad = write(tmp_path / "bad", {"corpus.jsonl": '{"_id": 1}', "queries.jsonl": "", "qrels/test.tsv": ""})
    assert (
        "line 1: a record needs _id and text" in run("eval", "beir", str(bad), home=tmp_path / "home", as_json=False)[2]
    )


def test_every_command_of_the_table_is_added_by_its_module() -> None:
    def added(words: list[str] | None) -> dict[str, Any]:
        group: Any = parser(words)._subparsers
        choices: dict[str, Any] = group._group_actions[0].choices
        return choices

    everything, one = added(None), added(["search"])
    assert list(everything) == list(one) == list(rooms.by_word())
    assert not [name for name, command in everything.items() if not (command.get_default("run") or command._subparsers)]
    assert one["search"].format_help() == everything["search"].format_help()


@pytest.mark.sqlite
def test_a_command_imports_only_what_it_needs(kb_home: Path) -> None:
    code = """if True:
        import sys
        from core.entrypoints.cli import main
        try:
            main(["--help"])
        except SystemExit:
            print("\\f", *sys.modules, "\\f")
        main(["--home", sys.argv[1], "documents", "list"])
        print("\\f", *sys.modules)
    """
    started = [sys.executable, "-c", code, str(kb_home)]
    done = subprocess.run(started, capture_output=True, text=True, cwd=ROOT, check=True)
    _, of_help, listed, of_list = (part.split() for part in done.stdout.split("\f"))
    assert listed
    own = {"core", "core.errors", *(f"core.entrypoints{name}" for name in ("", ".cli", ".rooms"))}
    assert {name for name in of_help if name.startswith("core")} == own
    big = (
        "numpy pyarrow duckdb lancedb onnxruntime scipy numba pandas pydantic torch xgboost networkx rapidfuzz "
        "streamlit"
    )
    assert not {*big.split(), "sqlalchemy", "yaml", "git"}.intersection(of_help)
    assert not {
        *big.split(),
        "sqlalchemy.dialects.postgresql",
        "psycopg",
        "core.entrypoints.laboratory.tuning",
    }.intersection(of_list)


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "core", "--help"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert "search" in done.stdout


def test_a_workspace_begins_with_a_zip_or_a_repository_with_its_history(run: Any, tmp_path: Path) -> None:
    box, source = tmp_path / "ours.zip", write(tmp_path / "ours", {"it/vpn.md": "# VPN\n\nCall the desk.\n"})
    with zipfile.ZipFile(box, "w") as archive:
        archive.write(source / "it" / "vpn.md", "it/vpn.md")
    assert run("init", "--from", str(box), home=tmp_path / "zip")[1]["added"] == ["it/vpn.md"]
    commit = ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "First")
    for words in (("init", "-qb", "main"), ("add", "."), commit):
        subprocess.run(["git", *words], cwd=source, check=True)
    code, value, _ = run("init", "--from", source.as_uri(), home=tmp_path / "git")
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=source, check=True, capture_output=True, text=True)
    assert (code, value["commit"], value["documents"]) == (0, told.stdout.strip(), 1)


def test_mistyped_states_are_named(run: Any, tmp_path: Path) -> None:
    home = small_app(tmp_path / "home", NoProcesses()).settings.home
    put(small_app(home, NoProcesses()), {"d1.md": "# D\n"})
    code, _, err = run("change", "list", "--state", "bogus", home=home, as_json=False)
    assert (code, "There is no state 'bogus'" in err) == (1, True)
