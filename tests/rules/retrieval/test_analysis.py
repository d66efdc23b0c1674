"""One analyser for documents and queries: identifiers survive, words meet their other forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis import analyser, fold
from core.bootstrap import App
from core.errors import BadInput
from core.retrieval.config import parse
from core.types import LexicalOptions
from tests.conftest import indexed

ANALYSE = analyser(LexicalOptions())

IDENTIFIERS = [
    (
        "31 CFR 1020.320(d)",
        "See 31 CFR 1020.320(d) for retention.",
        ["31 cfr 1020.320(d)", "1020.320(d)", "CFR 1020", "1020.320"],
    ),
    ("CU*BASE", "Open CU*BASE and search the member.", ["CU*BASE", "cu*base", "cu base"]),
    ("FIN-POL-001", "Limits are in FIN-POL-001.", ["FIN-POL-001", "fin-pol-001", "FIN POL 001"]),
    ("v2.13.0", "Fixed in v2.13.0.", ["v2.13.0", "V2.13.0"]),
    ("café", "The café closes at noon.", ["café", "cafe", "CAFÉ", "Cafe\u0301"]),
    ("decomposed", "The re\u0301sume\u0301 from Zu\u0308rich.", ["résumé", "Zürich", "zurich", "Zu\u0308rich"]),
    ("C++", "Written in C++.", ["C++", "c++"]),
    ("D365-F&O", "Post it in D365-F&O.", ["D365-F&O", "d365"]),
    ("TMS-Lane#7", "TMS-Lane#7 plans the route.", ["TMS-Lane#7", "tms lane 7"]),
    ("WMS3-E4012", "The log says WMS3-E4012.", ["WMS3-E4012", "e4012"]),
    ("ERR_LBL_409", "lblsvc returns ERR_LBL_409", ["ERR_LBL_409", "err_lbl_409"]),
    ("rated++", "Restart rated++ now.", ["rated++"]),
    ("$10,000", "Cash over $10,000 is reported.", ["$10,000", "10000", "10,000"]),
    ("e-mail", "Send an e-mail.", ["e-mail", "email", "emails"]),
    ("IT", "Ask IT for access.", ["IT"]),
    ("TempTrak-µ", "Place the TempTrak-µ logger.", ["TempTrak-µ", "temptrak"]),
]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> App:
    """Every text in a document of its own, among plain ones."""
    files = {
        f"other/{n}.md": f"# Other {n}\n\nPlain words about base, lane, post, cash, log and {n} things.\n"
        for n in range(12)
    }
    wanted = {f"wanted/{n}.md": f"# Wanted\n\n{text}\n" for n, (_, text, _) in enumerate(IDENTIFIERS)}
    return indexed(tmp_path_factory.mktemp("identifiers") / "home", {**files, **wanted})


@pytest.mark.parametrize("n", range(len(IDENTIFIERS)), ids=[name for name, _, _ in IDENTIFIERS])
def test_identifiers_find_their_document(searched: App, n: int) -> None:
    for query in IDENTIFIERS[n][2]:
        hits = searched.search.searcher.search(query, config=parse("bm25")).hits
        assert hits, query
        assert hits[0].path == f"wanted/{n}.md", query


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Filing filed files", ["file", "file", "file"]),
        ("the and of", []),
        ("don't", ["dont"]),
        ("the member's account", ["member", "account"]),
        ("C++ C# C", ["c++", "c", "c#", "c", "c"]),
        ("10-4 and 104", ["10-4", "10", "4", "104"]),
        ("state-of-the-art", ["stateoftheart", "state", "art"]),
        ("U.S.C. 14706", ["u.s.c", "u", "s", "c", "14706"]),
        ("", []),
        ("*** --- ...", []),
    ],
)
def test_terms_are_what_one_would_write_down(text: str, terms: list[str]) -> None:
    assert ANALYSE(text) == terms


@given(st.text(max_size=200))
def test_any_text_gives_terms_without_spaces_and_the_same_twice(text: str) -> None:
    terms = ANALYSE(text)
    assert terms == ANALYSE(text)
    assert all(term and not any(c.isspace() for c in term) for term in terms)


@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Nd", "Zs"]), max_size=60))
def test_case_and_accents_do_not_matter_to_folding(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_options_are_settings() -> None:
    plain = analyser(LexicalOptions(stemmer="none", stopwords="none"))
    assert plain("the files") == ["the", "files"]
    with pytest.raises(BadInput, match="no stemmer 'german'"):
        analyser(LexicalOptions(stemmer="german"))
    with pytest.raises(BadInput, match="no stop word list"):
        analyser(LexicalOptions(stopwords="latin"))
