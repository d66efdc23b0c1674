"""A profile in LanceDB beside the exact image: the same chunks, words and vectors, searched by the same pipeline.

Texts are spliced from sentences of public collections. Vectors are mixed from those of real passages by the default model, so
that they lie as real ones do; without the collections they are made up.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import SHARED, sentences, vectors
from bench.measure import cpu
from core.analysis import analyser
from core.services.index.embedding import embed_texts
from core.storage.cache.vectors import EmbeddingCache
from core.storage.index.generations import Generations, IndexLimits
from core.storage.index.opening import BuildBatch
from core.types import Chunk, Document, Meta, Profile

PER_DOCUMENT = 10
PARTS = 5  # sentences of a chunk
POOL = 600  # real passages whose vectors are mixed
QUERIES = 100
K = 10
IMAGE = Profile("image", graph="none")
LANCE = replace(IMAGE, name="lance", engine="lance")
Corpus = tuple[list[Document], list[Chunk], list[str], np.ndarray]


ABOUT = (
    "{machine}. Words of public sentences spliced into chunks, and vectors mixed from those of real passages by the default model; 95 questions "
    "in the words of those passages. Both indexes hold the same chunks and are searched by processes of their own. Recall@10 is the share of the exact "
    "index's first ten that the other finds; recommended is the whole pipeline with its fields, documents and copies. Own memory is what the process "
    "does not share with the page cache. CPU without chunking and embedding, and without that of a store. 20 partitions of vectors are searched: all "
    "there are at 20,000 chunks.\n\n"
)


def places() -> list[tuple[str, str]]:
    """Where a table may lie: on the disk, and on the store that `CONCORD_STORE` names."""
    store = os.environ.get("CONCORD_STORE", "")
    return [("disk", ""), *([("store", f"{store}/bench")] if store else [])]


def pool(home: Path) -> tuple[np.ndarray, list[str]]:
    """Vectors of real passages by the default model, and further passages to ask with."""
    path = SHARED / "beir" / "scifact" / "corpus.jsonl"
    if not path.exists():
        return vectors(POOL), [" ".join(text.split()[:12]) for text in sentences()[:QUERIES]]
    from core.bootstrap import build
    from core.settings import load

    texts = [json.loads(line)["text"][:600] for line in path.open()][:POOL]
    asked = [json.loads(line)["text"] for line in (SHARED / "beir" / "scifact" / "queries.jsonl").open()][:QUERIES]
    embedder = build(load()).models.registry.of(IMAGE)
    rows, _ = embed_texts(embedder, EmbeddingCache(home / "embeddings.db"), texts)
    return rows, asked


def corpus(chunks: int, rows: np.ndarray) -> Corpus:
    """Documents of ten chunks, with their analysed words and vectors."""
    rng, numbers = random.Random(chunks), np.random.default_rng(chunks)
    source = [" ".join(part.split())[:240] for part in sentences()[:20_000]]
    analyse = analyser(IMAGE.lexical)
    words = [" ".join(analyse(part)) for part in source]
    documents, cut, terms = [], [], []
    for n in range(chunks // PER_DOCUMENT):
        chosen = [[rng.randrange(len(source)) for _ in range(PARTS)] for _ in range(PER_DOCUMENT)]
        texts = [". ".join(source[at] for at in own) for own in chosen]
        head = " ".join(source[chosen[0][0]].split()[:6])
        document = Document(
            f"D-{n:07d}", f"f{n % 50:02d}/{n:07d}.md", head, "\n\n".join(texts), meta=Meta(id=f"D-{n:07d}")
        )
        start = 0
        for own, text in zip(chosen, texts, strict=True):
            cut.append(Chunk(f"{rng.getrandbits(64):016x}", document.id, start, start + len(text), text, (head,), head))
            terms.append(" ".join([*analyse(head), *(words[at] for at in own)]))
            start += len(text) + 2
        documents.append(document)
    first, second = (numbers.integers(0, len(rows), len(cut)) for _ in range(2))
    mixed = rows[first] + 0.5 * rows[second] + numbers.normal(scale=0.02, size=(len(cut), rows.shape[1]))
    return documents, cut, terms, (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def measure(home: Path, chunks: int, tables: str = "") -> dict[str, Any]:
    """Build both, search both in processes of their own, and compare what they find."""
    home.mkdir(parents=True, exist_ok=True)
    rows, asked = pool(home)
    made = corpus(chunks, rows)
    question = home / "questions.json"
    embedder = _embedder()
    question.write_text(json.dumps([[query, [float(x) for x in embedder(query)]] for query in asked]))
    found: dict[str, Any] = {"chunks": len(made[1])}
    for profile in (IMAGE, LANCE):
        place = tables if profile.engine == "lance" else ""
        root = home / f"index-{chunks}{'-store' if tables else ''}"
        generations = Generations(root, IndexLimits(1, 10**9), lambda one: analyser(one.lexical), tables=place)
        found[profile.name] = {**_build(generations, profile, made), **_search(root, profile, place, question)}
    return found


def _embedder() -> Any:
    if not (SHARED / "beir" / "scifact").exists():
        rows = iter(vectors(QUERIES, seed=9))
        return lambda _: next(rows)
    from core.bootstrap import build
    from core.settings import load

    return build(load()).models.registry.of(IMAGE).query


def _build(generations: Generations, profile: Profile, made: Corpus) -> dict[str, Any]:
    """CPU of a full build, and of one edited document after it, without chunking and embedding."""
    documents, cut, terms, rows = made
    facts = {"commit": "0" * 40, "documents": {}, "skipped": {}, "built": "", "seconds": 0.0}
    before, started = cpu(), time.perf_counter()
    with generations.building(profile):
        whole = BuildBatch((), documents, cut, terms, rows, position=1)
        full = generations.write(profile, None, whole, facts, lambda _: nullcontext())
    spent, wall = cpu() - before, time.perf_counter() - started
    edits = []
    for n in range(3):
        own = slice(n * PER_DOCUMENT, (n + 1) * PER_DOCUMENT)
        changed = [replace(chunk, id=f"{int(chunk.id, 16) ^ 1:016x}") for chunk in cut[own]]
        before, began = cpu(), time.perf_counter()
        with generations.building(profile) as parent:
            later = {**facts, "commit": f"{n + 1:040x}"}
            edit = BuildBatch([documents[n].id], [documents[n]], changed, terms[own], rows[own], position=n + 2)
            generations.write(profile, parent, edit, later, lambda _: nullcontext())
        edits.append((cpu() - before, time.perf_counter() - began))
    edit_cpu, edit_wall = sorted(edits)[1]
    return {
        "build_cpu_s": spent,
        "build_wall_s": wall,
        "edit_cpu_s": edit_cpu,
        "edit_wall_s": edit_wall,
        "folder_mb": full.bytes / 1e6,
        "notes": full.notes,
    }


_SEARCH = """
import json, sys, time
import numpy as np
from pathlib import Path
from bench import lance
from bench.measure import cpu, memory
from core.storage.index.generations import Generations, IndexLimits
from core.analysis import analyser
from core.retrieval import config, pipeline
root, name, tables, questions = sys.argv[1:]
profile = {"image": lance.IMAGE, "lance": lance.LANCE}[name]
asked = [(query, np.array(vector, dtype=np.float32)) for query, vector in json.loads(Path(questions).read_text())]
before = memory()
index = Generations(Path(root), IndexLimits(1, 10**9), lambda one: analyser(one.lexical), tables=tables).open(profile)
legs = {"bm25": lambda q, v: index.bm25(q).search(lance.K, None), "dense": lambda q, v: index.dense(v).search(lance.K, None)}
def hybrid(query, vector):
    found = pipeline.search(query, config.RECOMMENDED, index, pipeline.SearchContext(embed=lambda _: vector))
    return {index.number(hit.chunk): hit.score for hit in found.hits}
legs["recommended"] = hybrid
out = {}
for leg, call in legs.items():
    for query, vector in asked[:5]:
        call(query, vector)
    spent, walls, found, used = cpu(), [], [], 0.0
    for query, vector in asked[5:]:
        started = time.perf_counter()
        ranking = call(query, vector)
        walls.append((time.perf_counter() - started) * 1000)
        found.append([index.passage(chunk).id for chunk in ranking])
    out[leg] = {"cpu_ms": (cpu() - spent) * 1000 / len(walls), "p50": sorted(walls)[len(walls) // 2],
                "p95": sorted(walls)[int(0.95 * len(walls))], "found": found}
status = Path("/proc/self/status").read_text()
out["private_mb"] = int(status.split("RssAnon:")[1].split()[0]) / 1e3
out["resident_mb"] = memory()
out["before_mb"] = before
print(json.dumps(out))
"""


def _search(root: Path, profile: Profile, tables: str, questions: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(root), profile.name, tables, str(questions)],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def agreement(exact: list[list[str]], other: list[list[str]]) -> dict[str, float]:
    """The share of the first ten that are found, of first places that are the same, and of rankings that are.

    >>> agreement([["a", "b"]], [["b", "a"]])
    {'recall': 1.0, 'first': 0.0, 'same': 0.0}
    """
    wanted = sum(map(len, exact))
    hits = sum(len(set(one) & set(two)) for one, two in zip(exact, other, strict=True))
    first = [one[:1] == two[:1] for one, two in zip(exact, other, strict=True)]
    same = [one == two for one, two in zip(exact, other, strict=True)]
    return {"recall": hits / max(1, wanted), "first": sum(first) / len(first), "same": sum(same) / len(same)}


HEADS = (
    "chunks",
    "table on",
    "search",
    "recall@10",
    "same first",
    "same ten in order",
    "image CPU ms",
    "LanceDB CPU ms",
    "image p50 / p95 ms",
    "LanceDB p50 / p95 ms",
)
COSTS = ("chunks", "table on", "index", "build CPU s", "edit CPU s", "edit wall s", "own memory MB", "resident MB")


def rows_of(found: dict[str, Any], where: str) -> Iterator[list[str]]:
    """One line for each leg, and one for the recommended configuration."""
    image, lance = found["image"], found["lance"]
    for leg in ("bm25", "dense", "recommended"):
        agreed = agreement(image[leg]["found"], lance[leg]["found"])
        yield [
            f"{found['chunks']:,}",
            where,
            leg,
            *(f"{agreed[name]:.3f}" for name in ("recall", "first", "same")),
            *(f"{one[leg]['cpu_ms']:.1f}" for one in (image, lance)),
            *(f"{one[leg]['p50']:.1f} / {one[leg]['p95']:.1f}" for one in (image, lance)),
        ]


def costs(found: dict[str, Any], where: str) -> Iterator[list[str]]:
    for name in ("image", "lance"):
        one = found[name]
        yield [
            f"{found['chunks']:,}",
            where,
            name,
            f"{one['build_cpu_s']:.1f}",
            f"{one['edit_cpu_s']:.2f}",
            f"{one['edit_wall_s']:.2f}",
            f"{one['private_mb']:.0f}",
            f"{one['resident_mb']:.0f}",
        ]
