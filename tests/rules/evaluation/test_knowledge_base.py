"""The starter knowledge base: what it must contain, and that its questions are answered from it."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from datetime import date

import pytest

from core.bootstrap import App
from core.chunking.blocks import blocks
from core.curation.document.frontmatter import decode, read_document
from core.evaluation.measures import by_name
from core.retrieval import config as configs
from core.types import Filters
from tests.conftest import ROOT

KB = {
    str(p.relative_to(ROOT / "kb")): read_document(str(p.relative_to(ROOT / "kb")), decode(p.read_bytes()))
    for p in sorted((ROOT / "kb").rglob("*.md"))
}
TODAY = date(2026, 11, 15)


def body(path: str) -> str:
    return KB[path].text[KB[path].body :]


def test_it_has_the_documents_a_demo_needs() -> None:
    kinds = {document.meta.doc_type for document in KB.values()}
    assert len(KB) >= 40
    assert {"sop", "policy", "runbook", "faq", "glossary"} <= kinds
    statuses = [document.meta.status for document in KB.values()]
    assert statuses.count("superseded") == 1
    assert statuses.count("retired") == 1
    assert sum(bool(d.meta.effective_date and d.meta.effective_date > TODAY) for d in KB.values()) == 1
    assert sum(bool(d.meta.review_due and d.meta.review_due < TODAY) for d in KB.values()) >= 3
    assert sum(not d.meta.owner for d in KB.values()) == 1
    assert len({d.meta.id for d in KB.values()}) == len(KB)


@pytest.mark.parametrize("path", KB)
def test_every_document_is_well_made(path: str) -> None:
    document = KB[path]
    assert 300 <= len(body(path).split()) <= 1500
    assert 3 <= len(document.meta.answers) <= 8
    levels = [block.level for block in blocks(document) if block.kind == "heading"]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels)), "no heading level is skipped"
    for target in re.findall(r"\]\(([^)\s#]+\.md)(?:#[^)]*)?\)", document.text):
        parts = [*path.split("/")[:-1], *target.split("/")]
        resolved: list[str] = []
        for part in parts:
            resolved = resolved[:-1] if part == ".." else [*resolved, part]
        assert "/".join(resolved) in KB, f"{path} links to {target}"


def test_two_documents_are_near_duplicates() -> None:
    one, two = (
        set(re.split(r"(?<=[.!?])\s+|\n", body(f"supply-chain/safety/dock-safety-{site}.md")))
        for site in ("rno1", "cmh2")
    )
    assert 0.5 < len(one & two) / len(one | two) < 0.95


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_its_own_questions_are_answered(kb_app: App, every: int) -> None:
    """Each document lists questions it must answer, in other words than its own."""
    index, ranks = kb_app.search.searcher.index(), []
    asked = [(document.id, question) for document in KB.values() for question in document.meta.answers]
    assert len(asked) >= 200
    for document, question in asked[::every]:
        hits = kb_app.search.searcher.search_in(
            index, question, replace(configs.DEFAULT, depth=30, k=30), Filters(history=True)
        ).hits
        found = list(dict.fromkeys(hit.doc for hit in hits))
        ranks.append(found.index(document) + 1 if document in found else 0)
    assert by_name.mean([1 / rank if rank else 0.0 for rank in ranks]) > 0.65
    assert by_name.mean([float(0 < rank <= 5) for rank in ranks]) > 0.8


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("31 CFR 1020.320(d)", "finance/compliance/sar-filing.md"),
        ("WMS3-E4012", "supply-chain/runbooks/wms3-queue-stuck.md"),
        ("ERR_LBL_409", "supply-chain/runbooks/label-service-failures.md"),
        ("rated++ exit code 139", "it/runbooks/rate-engine-crash.md"),
        ("lblsvc v2.13.0", "supply-chain/runbooks/label-service-failures.md"),
        ("TempTrak-µ", "supply-chain/outbound/cold-chain-shipping.md"),
        ("Form WH-380-E", "people/policies/leave-of-absence.md"),
        ("FN-22", "finance/payables/vendor-onboarding.md"),
        ("C++", "it/runbooks/rate-engine-crash.md"),
    ],
)
def test_identifiers_lead_to_their_document(kb_app: App, query: str, path: str) -> None:
    hits = kb_app.search.searcher.search(query).hits
    assert path in [hit.path for hit in hits[:5]]


def test_what_is_out_of_date_is_found_only_when_asked_for(kb_app: App) -> None:
    hidden = {
        "finance/compliance/sar-filing-2022.md",
        "it/access/token-fob-issuance.md",
        "people/policies/fatigue-management.md",
    }
    for query in ("suspicious activity report by fax", "one-time password token fob", "fatigue management hours"):
        assert not hidden & {hit.path for hit in kb_app.search.searcher.search(query, k=30).hits}
        assert hidden & {
            hit.path for hit in kb_app.search.searcher.search(query, k=30, filters=Filters(history=True)).hits
        }
