"""What 10 million and 1 billion chunks would take: arithmetic over the figures in docs/research/benchmarks.md, written
to docs/research/scale.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import report
from bench.measure import markdown_table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "research" / "scale.md"
WORDS, CODES = 247, 392  # bytes a chunk: its words, and a byte for each of 384 dimensions with an id
HOT = WORDS + CODES
SIZES = (200_000, 10_000_000, 1_000_000_000)
HOURS = 730  # of a month


@dataclass(frozen=True)
class Input:
    """One figure that everything else follows from: measured (and where), or assumed (and why)."""

    name: str
    value: float
    unit: str
    basis: str


def table(section: str, text: str | None = None, which: int = -1) -> list[dict[str, str]]:
    """The rows of one table of a section of docs/research/benchmarks.md, by their heads.

    >>> table("a", "<!-- a -->\\n| chunks | MB |\\n| --- | --- |\\n| 2,033 | 19 |\\n<!-- /a -->")
    [{'chunks': '2,033', 'MB': '19'}]
    """
    whole = report.PATH.read_text() if text is None else text
    found = re.search(rf"<!-- {section} -->(.*?)<!-- /{section} -->", whole, re.DOTALL)
    tables = re.findall(r"(?:^\|.*\n)+", found[1] if found else "", re.MULTILINE)
    lines = (
        [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[which].splitlines()] if tables else []
    )
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def number(text: str) -> float:
    """A figure of a table.

    >>> number("202,937"), number("95.1 %")
    (202937.0, 95.1)
    """
    return float(text.replace(",", "").removesuffix("%").removesuffix("x").strip())


def inputs() -> dict[str, Input]:
    """Everything that is put in."""
    built, real = table("building")[-1], table("embedding-sampled")[-1]
    chunks = number(built["chunks"])
    dense = [row for row in _legs("dense") if row["way"] == "concord"][-1]
    edited = [row for row in table("edits") if row["one edit CPU s"]][-2]
    own = next(row for row in table("api") if row["way"] == "`/api/v1/search`")
    ray, parts = table("ray", which=0), table("ray")
    at = f"measured at {built['chunks']} chunks"
    given = [
        Input("image", number(built["index MB"]) * 1e6 / chunks, "bytes a chunk of an exact index", f"{at} (Indexing)"),
        Input(
            "build",
            number(built["full CPU s"]) / chunks,
            "CPU s a chunk to chunk, analyse and write",
            f"{at} (Indexing)",
        ),
        Input(
            "edit",
            number(edited["one edit CPU s"]),
            "CPU s of one edit, without embedding",
            f"measured at {edited['chunks']} (One edit of a large index)",
        ),
        Input(
            "exact",
            number(dense["CPU p50 ms"]) / 1e3 / number(dense["chunks"]),
            "CPU s a chunk and query, exact vectors",
            f"measured at {dense['chunks']} chunks, linear (Search beside the peers)",
        ),
        Input(
            "embed",
            number(real["CPU s"]) * number(real["embedder: of CPU"]) / 100 / number(real["embedded"]),
            "CPU s to embed a chunk, default model",
            "measured, Xeon with VNNI (A large index with the default model)",
        ),
        Input(
            "request",
            number(own["CPU ms"]) / 1e3,
            "CPU s of a node for a search over the API, starter base",
            "measured (The HTTP API under load)",
        ),
        Input("characters", 730.0, "characters of Markdown a chunk", "measured on public handbooks"),
        Input("document", 10.0, "chunks a document", "measured on public handbooks, about"),
        Input(
            "gpu",
            1207.0,
            "chunks a second and GPU, bge-small by sentence-transformers",
            "measured: NVIDIA H200, 20,000 texts of 790 characters, float32",
        ),
        Input("load", 50.0, "searches a second", "assumed: the load of `make cluster`"),
        Input("busy", 0.5, "of a core in use at that load", "assumed"),
        Input(
            "node",
            16.0,
            "cores of a node of an engine with shards, with 64 GB of memory, half of it for the index",
            "assumed",
        ),
        Input(
            "smallest",
            20.0,
            "cores of the smallest cluster: three nodes and two databases of 4 cores, 16 GB each",
            "assumed",
        ),
        Input("core_hour", 0.04, "dollars an hour and core", "assumed, list price from memory"),
        Input("gpu_hour", 2.0, "dollars an hour and GPU", "assumed, list price from memory"),
        Input(
            "gb_memory", 4.0, "dollars a month and GB of memory beyond 4 GB a core", "assumed, list price from memory"
        ),
        Input("gb_store", 0.023, "dollars a month and GB in an object store", "assumed, list price from memory"),
        Input("gb_nvme", 0.08, "dollars a month and GB on a local or block disk", "assumed, list price from memory"),
    ]
    if ray:
        share = number(next(row["of all"] for row in parts if row["part"] == "embed")) / 100
        work = share * number(ray[0]["CPU ms a chunk"]) / 1e3
        given.append(
            Input("embed_here", work, "CPU s to embed a chunk, default model", "measured, aarch64 (Bulk work on Ray)")
        )
    return {figure.name: figure for figure in given}


def _legs(leg: str) -> list[dict[str, str]]:
    """The rows of one leg of the section that compares peers."""
    part = report.PATH.read_text().split(f"\n### {leg}\n")[1].split("\n### ")[0]
    return table("leg", f"<!-- leg -->{part}<!-- /leg -->")


Values = Callable[[int], str]


def lines(given: dict[str, Input]) -> Iterator[tuple[str, str, Values]]:
    """Each line: what, from which inputs, and its value for a number of chunks."""
    g = {name: figure.value for name, figure in given.items()}
    yield "documents", "N / document", lambda n: f"{n / g['document']:,.0f}"
    yield "Markdown", "N x characters", lambda n: size(n * g["characters"])
    yield "embedding cache", "N x 384 x 4 bytes", lambda n: size(n * 1536)
    yield "**an exact index**, on every node", "N x image", lambda n: size(n * g["image"])
    yield "its vectors, which must lie in memory", "N x 384 x 4 bytes", lambda n: size(n * 1536)
    yield "CPU of one exact search", "N x exact", lambda n: duration(n * g["exact"])
    yield "words and codes of vectors, one byte a dimension", f"N x ({WORDS} + {CODES}) bytes", lambda n: size(n * HOT)
    yield "**embedding** on processors", "N x embed", lambda n: core_hours(n * g["embed"])
    yield "… in 24 hours", "N x embed / 86,400", lambda n: f"cores: {math.ceil(n * g['embed'] / 86_400):,}"
    yield "… dollars", "x core_hour", lambda n: money(n * g["embed"] / 3600 * g["core_hour"])
    if "embed_here" in g:
        yield "embedding on slower processors", "N x embed_here", lambda n: core_hours(n * g["embed_here"])
    yield "embedding on GPUs", "N / gpu", lambda n: core_hours(n / g["gpu"]).replace("core", "GPU")
    yield "… dollars", "x gpu_hour", lambda n: money(n / g["gpu"] / 3600 * g["gpu_hour"])
    yield "**chunks, terms, exact index**", "N x build", lambda n: core_hours(n * g["build"])
    yield (
        "**cores for searching**, exact",
        "load x (request + N x exact) / busy",
        lambda n: f"{math.ceil(g['load'] * (g['request'] + n * g['exact']) / g['busy']):,}",
    )
    yield (
        "nodes of an engine with shards, two replicas",
        f"2 x N x {HOT} bytes / 32 GB",
        lambda n: f"{_shards(n):,}",
    )
    yield "**a month, exact**, three nodes", "cores, memory, disk", lambda n: money(_month_exact(n, g))
    yield (
        "a month, engine with shards",
        "nodes x node x core_hour, beside the smallest cluster",
        lambda n: money((_shards(n) * g["node"] + g["smallest"]) * g["core_hour"] * HOURS),
    )


def _shards(n: int) -> int:
    """Nodes of an engine that keeps words and vectors of one byte a dimension in memory, each shard twice."""
    return 2 * math.ceil(n * HOT / 32e9)


def _month_exact(n: int, g: dict[str, float]) -> float:
    cores = max(g["smallest"], g["load"] * (g["request"] + n * g["exact"]) / g["busy"])
    memory = max(0.0, n * 1536 / 1e9 - 4 * cores / 3)
    each_node = memory * g["gb_memory"] + 2 * n * g["image"] / 1e9 * g["gb_nvme"]
    return cores * g["core_hour"] * HOURS + 3 * each_node


def size(count: float) -> str:
    """Bytes in words.

    >>> size(1716e6), size(8.5e12)
    ('1.7 GB', '8.5 TB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count / 1e3:,.0f} kB"


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(0.026), duration(90_000), duration(131)
    ('26 ms', '1.0 days', '131 s')
    """
    if seconds < 1:
        return f"{seconds * 1e3:,.0f} ms"
    return f"{seconds / 86_400:,.1f} days" if seconds > 36_000 else f"{seconds:,.{seconds < 10:d}f} s"


def core_hours(seconds: float) -> str:
    """CPU seconds as time of a core.

    >>> core_hours(480.0), core_hours(366e5)
    ('8 core min', '10,167 core h')
    """
    return f"{seconds / 60:,.0f} core min" if seconds < 7200 else f"{seconds / 3600:,.0f} core h"


def money(dollars: float) -> str:
    """Dollars without false precision.

    >>> money(4.07), money(31_234.0)
    ('$4', '$31,000')
    """
    digits = max(0, len(str(int(dollars))) - 2)
    return f"${round(dollars, -digits):,.0f}" if dollars >= 1 else f"${dollars:.2f}"


HEAD = """# Scale

What 10 million and 1 billion chunks would take, as arithmetic. `python -m bench scale` writes this page: figures that \
were measured are read from
[benchmarks.md](benchmarks.md), everything else is named as assumed, and each line says which inputs it follows from. \
The first column of values
is a size that was measured; the others are 50 and 5,000 times larger, so read them as orders of magnitude. Prices are \
from memory: put in your own.
"""

ENGINES = """## Which engine from where on

| chunks | engine behind the port `Index` | what ends it | proved here |
|---|---|---|---|
| up to about 500,000 (`CONCORD_EXACT_LIMIT`) | exact image, the default | a search reads every vector: {exact_500k} \
of CPU at 500,000, {exact_10m} at 10 million; memory for vectors | yes, to 200,000 |
| beyond, while memory lasts | exact words, and vectors by the ANN index of the LanceDB tables | memory for vectors; \
approximate | in tests, with the limit lowered |
| beyond, or thousands of searches a second | an engine that spreads one query over shards: Vespa, Milvus, OpenSearch \
| money and operation | none of these could be had here; the port that it needs was tried with PostgreSQL (below) |

### What the port becomes

`Index` (`core/ports.py`) speaks of chunks by number, 0 to N - 1: masks of what somebody may find, lists of all \
documents and the vocabulary are as long as N. That is right for an
image in memory, and no engine with shards can give it. What an engine behind a server can give:

```python
@dataclass(frozen=True)
class Where:  # instead of a mask as long as N
    audiences: frozenset[str] | None  # whose documents the person may read; None: all, an empty set: nothing
    filters: Filters  # types, statuses, folders, tags, owners, documents, freshness


class Engine(Protocol):
    generation: Generation

    def bm25(self, terms: Sequence[str], where: Where, depth: int) -> Mapping[str, float]: ...  # chunk id to score
    def dense(self, vector: np.ndarray, where: Where, depth: int) -> Mapping[str, float]: ...
    def scores(self, leg: str, query: Query, ids: Sequence[str]) -> list[float]: ...  # of what another leg found
    def passages(self, ids: Sequence[str]) -> Mapping[str, Passage]: ...  # text, heading, facts of the document
    def rarity(self, terms: Sequence[str]) -> Mapping[str, float]: ...  # over all, as today
    def count(self, where: Where) -> int: ...
```

The way there, each step with the exact image as its reference and no change in what people find:

| step | what changes | what it touches today |
|---|---|---|
| 1. opaque ids | a `Ranking` maps ids, not numbers; `passage`, `excerpt`, `context`, `vector` take many ids at once: \
one question to a server, not ten | some 100 calls in 25 files, most of them one line |
| 2. conditions | `allowed` returns a `Where`; only the image makes a mask of it. Each chunk carries its audience, the \
one list of readers that its folder and its document give; a person's view becomes the audiences that hold them | \
`retrieval/reader_index.py`, 8 callers of `allowed`, one column of the index |
| 3. counts | `count` and `rarity` instead of the vocabulary and of all documents | "did you mean", facets, freshness \
read the database or the image |
| 4. a generation | a merge writes rows with its number, and a search names the newest that is whole: what publishes a \
generation today | `storage/index` already does |

Audiences are few: as many as different lists of readers are written in the policy and in documents. A person who \
joins a group changes no chunk.

Legs that need every chunk (tfidf, graph, pagerank) stay with the image. What a query does to its candidates (fusion, \
reranking,
confidence, grouping by document) works on the few that legs return, so pipeline, evaluation and pages stay.

### Tried: PostgreSQL with pgvector

No server of Qdrant, OpenSearch, Elasticsearch, Milvus, Weaviate, Meilisearch, Typesense or Vespa was found in the \
package registries that were at hand (PyPI, npm, Debian); Chroma's was, and not
tried. PostgreSQL with pgvector is there too, so `python -m bench.postgres` fills it from an open generation and asks \
both legs through ids and conditions, `readers`, type and folder included
([all rows](benchmarks.md)). Legs alone, ten hits, CPU of the backend against that of the process with the image:

{tried}

- **The port holds.** With the words that Concord analyses, its weights in a table of postings and the condition in \
SQL, the lists are those of the image ({same}
  of all BM25 lists in the same order); vectors by HNSW find {recall} of the exact ten or more under every condition, \
because pgvector goes on reading until ten fit the condition.
- **A narrow condition makes it cheaper there and not here**: words fall from {bm25_cpu} to {narrow_cpu} ms of CPU and \
exact vectors from {exact_cpu} to {narrow_exact}, because an
  engine that knows the folder reads that folder; the image reads every vector and looks at its mask.
- **PostgreSQL's own ranking is no substitute**: `ts_rank` knows no rarity of words, and finds {rank} of BM25's ten \
without a condition.
- **It is no engine for 10 million chunks**: BM25 in SQL reads every posting of every word of the question ({bm25_cpu} \
ms of CPU against {own_cpu} at {chunks} chunks), on one
  node. What it shows is the port.

The verdict: steps 1 and 2 are worth doing when somebody brings a base of millions; until then the image's words are \
{times} times cheaper, and nothing of this is built into
the product.

What grows with people and not with chunks stays as it is: PostgreSQL for state, nodes behind a proxy, a \
[store](../cluster.md#the-store). What grows with documents
is git: one repository of 1 million documents ({docs_10m} at 10 million chunks) is within what people run, 100 million \
({docs_1b} at 1 billion) are not, so that a base of
that size is many repositories and many workspaces before it is one index. That is assumed, not measured.
"""


SHOWN = ("none", "readers: an eighth", "readers, type and folder")


def tried() -> dict[str, str]:
    """What an engine with a server gave behind the port, from its section of the benchmarks."""
    rows = table("postgres")
    words = [row for row in rows if row["PostgreSQL finds by"].startswith("BM25")]
    near = [row for row in rows if row["PostgreSQL finds by"] == "vectors, HNSW"]
    exact = [row for row in rows if row["PostgreSQL finds by"] == "vectors, exact"]
    rank = next(row for row in rows if row["PostgreSQL finds by"].startswith("ts_rank"))
    shown = [list(row.values()) for row in rows if row["Condition"] in SHOWN]
    text = report.PATH.read_text().partition("<!-- postgres -->")[2]
    return {
        "tried": markdown_table(list(rows[0]), shown),
        "same": f"{sum(number(row['same ten in order']) for row in words) / len(words):.0%}",
        "recall": f"{min(number(row['recall@10']) for row in near):.0%}",
        "rank": f"{number(rank['recall@10']):.0%}",
        "bm25_cpu": words[0]["PostgreSQL CPU ms"],
        "own_cpu": words[0]["image CPU ms"],
        "narrow_cpu": words[-1]["PostgreSQL CPU ms"],
        "exact_cpu": exact[0]["PostgreSQL CPU ms"],
        "narrow_exact": exact[-1]["PostgreSQL CPU ms"],
        "chunks": re.findall(r"([\d,]+) chunks", text)[0],
        "times": f"{number(words[0]['PostgreSQL CPU ms']) / number(words[0]['image CPU ms']):,.0f}",
    }


def page() -> str:
    """docs/research/scale.md."""
    given = inputs()
    g = {name: figure.value for name, figure in given.items()}
    rows = [[what, how, *(value(n) for n in SIZES)] for what, how, value in lines(given)]
    heads = ("what", "from", *(f"{n:,}" for n in SIZES))
    put_in = [[f.name, f"{f.value:.4g}", f.unit, f.basis] for f in given.values()]
    engines = ENGINES.format(
        exact_500k=duration(500_000 * g["exact"]),
        exact_10m=duration(10_000_000 * g["exact"]),
        docs_10m=f"{10_000_000 / g['document']:,.0f}",
        docs_1b=f"{1_000_000_000 / g['document']:,.0f}",
        **tried(),
    )
    return (
        f"{HEAD}\n## What it takes\n\nN is the number of chunks.\n\n{markdown_table(heads, rows)}\n\n{engines}\n"
        f"## What is put in\n\n{markdown_table(('name', 'value', 'unit', 'measured or assumed'), put_in)}\n"
    )


def write() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(page())
