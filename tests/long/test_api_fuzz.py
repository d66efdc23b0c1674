"""Thousands of requests made from the API's own description: no fault of the server, and no answer that is not
described.

`python -m tests.long.test_api_fuzz N` makes about N requests for each operation and prints what came of them.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from starlette.applications import Starlette

from core.entrypoints.api import application, reference
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from tests.conftest import ScriptedLlm, demo
from tests.support.api_server import ApiServer, served

CALM = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]


def furnished(home: Path) -> ApiServer:
    """A workspace with something to find behind every operation: changes in several states, a gap, a query set and a
    run.
    """
    server = served(home, metrics_token="scrape-me")
    app = server.app
    app.models.registry.llm_used = ScriptedLlm("File Form 112 for cash over $10,000 [1].")  # type: ignore[attr-defined]
    for number in (1, 2, 3):
        text = f"---\nid: NEW-{number}\n---\n# New {number}\n\nSomething new.\n"
        app.reviews.changes.propose(demo("author"), f"New {number}", {f"fin/new-{number}.md": text.encode()})
    app.reviews.changes.submit(demo("author"), 2)
    app.reviews.changes.submit(demo("author"), 3)
    app.reviews.discussion.comment(demo("reviewer"), 2, "Why?")
    app.knowledge.gaps.report(demo("reader"), "Who signs?", "Nobody knows")
    asked = QuerySet("cash", (Question("q1", "Form 112 for cash"),), (Judgment("q1", "fin/ctr.md"),))
    queryset = app.evaluation.querysets.keep(demo("author"), asked)
    app.evaluation.runs.measure(demo("author"), queryset.name, [("", "bm25"), ("", "dense")])
    app.evaluation.runs.start(demo("author"), queryset.name, [("", "bm25")])
    return server


def fuzz(server: ApiServer, examples: int) -> tuple[Counter[int], list[str]]:
    """The statuses of all answers, and what was wrong with any."""
    import schemathesis  # a second and a half that only the long suite needs
    from schemathesis import GenerationMode

    statuses: Counter[int] = Counter()
    wrong: list[str] = []

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        async def noted(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses[message["status"]] += 1
            await send(message)

        await mounted(scope, receive, noted)

    mounted = Starlette(routes=[application.mounted(server.api)])
    schema = schemathesis.openapi.from_asgi(f"{reference.PREFIX}/openapi.json", counted)
    headers = {"Authorization": f"Bearer {server.tokens['reviewer']}"}
    for found in schema.get_all_operations():
        for mode in GenerationMode:
            wrong += _tried(found.ok(), mode, headers, examples // 2)
    return statuses, wrong


def _tried(operation: Any, mode: Any, headers: dict[str, str], examples: int) -> list[str]:
    from schemathesis.core.failures import FailureGroup
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    # The right form may name nothing, and in an address a word is also a list of one word.
    other = [positive_data_acceptance, negative_data_rejection]
    phases = (Phase.explicit, Phase.generate)  # a failure is shown as it came: shrinking asks hundreds of times more

    @settings(max_examples=examples, deadline=None, suppress_health_check=CALM, phases=phases, database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        own = {"Authorization": "Bearer scrape-me"} if operation.path.endswith("/metrics") else headers
        case.call_and_validate(headers=own, excluded_checks=other)

    try:
        ask()
    except (FailureGroup, AssertionError) as error:
        return [f"{operation.label} ({mode.value}): {error} {getattr(error, 'exceptions', '')}"]
    except Exception as error:
        if "Unsatisfiable" in type(error).__name__ or "Unsatisfiable" in str(error):
            return []  # an operation without parameters has nothing that could be wrong
        return [f"{operation.label} ({mode.value}): {type(error).__name__}: {error}"]
    return []


@pytest.mark.slow(minutes=4)
def test_no_request_brings_a_fault_or_an_answer_that_is_not_described(tmp_path: Path) -> None:
    statuses, wrong = fuzz(furnished(tmp_path / "home"), 60)
    assert not wrong, "\n\n".join(wrong)
    assert sum(statuses.values()) > 1000
    assert not [status for status in statuses if status >= 500]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        answers, faults = fuzz(furnished(Path(folder) / "home"), int(sys.argv[1]))
    print(f"{sum(answers.values()):,} requests, {len(faults)} operations with faults; {dict(sorted(answers.items()))}")
    print("\n\n".join(faults))
