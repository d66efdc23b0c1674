"""Whether every file is what was written, whether repository, database and index agree, and whether all engines rank
alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from core.curation.document.frontmatter import read_document
from core.cures import reindex, shell
from core.errors import ConcordError, Outdated, Unavailable, in_one_line
from core.ports import Index, Leg, Progress, Ranking, no_progress
from core.retrieval.engines import ENGINES, IMAGE, first_difference
from core.services.people.audit import Audit
from core.services.platform.settings import TeamSettings
from core.types import Damage, Profile

if TYPE_CHECKING:
    import numpy as np

    from core.storage.git.repository import Repository
    from core.storage.index.generations import Generations


DEPTH = 10
MOST, LEAST = 20, 3  # documents whose words become queries
EFFORT = 200_000  # chunks that DuckDB may score, per question of a document: some seconds
DENSE_LIMIT = 10_000  # chunks; beyond, engines rank every n-th: under a narrow filter the image never approximates

Ask = Callable[[str], Leg]
"""One query, to be asked of the engine of this name."""


def disagreements(open_index: Callable[[], Index], skipped: Callable[[str], None]) -> Iterator[str]:
    """One sentence per engine that ranks otherwise, or fails. Why an engine was not asked goes to `skipped`."""
    try:
        index = open_index()
        sample = documents(index)
    except Exception as error:  # whatever a reader makes of damaged bytes
        yield f"the image cannot be opened: {in_one_line(error)}"
        return
    yield from _compared(index, "bm25", _lexical(index, sample), None, skipped)
    if index.generation.pending:
        skipped("Skipped vectors: they are still being computed")
        return
    yield from _compared(index, "dense", _vectors(index, sample), _spread(index.size), skipped)


def documents(index: Index) -> list[int]:
    """Documents spread evenly over the generation: 20 of a small one, 3 of a very large one.

    `match_bm25` takes 270 ms per query at 20,000 chunks.
    """
    count = min(len(index.documents), max(LEAST, min(MOST, EFFORT // max(1, index.size))))
    return [place * len(index.documents) // count for place in range(count)]


def _lexical(index: Index, sample: Sequence[int]) -> Iterator[tuple[str, Ask]]:
    """The title of each document, and the first question that its author says it answers."""
    for document in sample:
        facts = index.documents[document]
        for query in (facts.title, *read_document(facts.path, index.text(document)).meta.answers[:1]):
            yield f"{query!r}", partial(index.bm25, query)


def _vectors(index: Index, sample: Sequence[int]) -> Iterator[tuple[str, Ask]]:
    """The first chunk of each document asks with its own vector: no model is needed."""
    for document in sample:
        for chunk in index.chunks_of(document)[:1]:
            yield f"the vector of {index.passage(chunk).id}", partial(index.dense, index.vector(chunk))


def _spread(size: int) -> np.ndarray | None:
    """Every n-th chunk of an index that is too large to search exactly."""
    if size <= DENSE_LIMIT:
        return None
    import numpy as np

    return np.asarray(np.arange(size) % -(-size // DENSE_LIMIT) == 0)


def _compared(
    index: Index,
    leg: str,
    queries: Iterable[tuple[str, Ask]],
    allowed: np.ndarray | None,
    skipped: Callable[[str], None],
) -> Iterator[str]:
    try:
        asked = [(query, ask, ask(IMAGE).search(DEPTH, allowed)) for query, ask in queries]
    except Exception as error:
        yield f"the image cannot be asked: {in_one_line(error)}"
        return
    for engine in ENGINES[leg][1:]:
        try:
            yield from _differences(index, engine, asked, allowed)
        except Unavailable as error:
            skipped(f"Skipped {engine}: {error}")
        except Exception as error:
            yield f"{engine} cannot be asked: {in_one_line(error)}"


def _differences(
    index: Index, engine: str, asked: Sequence[tuple[str, Ask, Ranking]], allowed: np.ndarray | None
) -> Iterator[str]:
    """One sentence, if there is a difference: how many queries, and the first of them."""
    different = [
        (query, difference)
        for query, ask, ranking in asked
        if (difference := first_difference(ranking, ask(engine), DEPTH, allowed))
    ]
    if different:
        query, first = different[0]
        yield (
            f"{engine} and the image rank {len(different)} of {len(asked)} queries differently, first {query}: "
            f"at rank {first.rank} {engine} has {_chunk(index, first.actual)}, the image "
            f"{_chunk(index, first.expected)}"
        )


def _chunk(index: Index, number: int | None) -> str:
    return "nothing" if number is None else f"chunk {index.passage(number).id}"


Look = Callable[[], Iterable[Damage]]


@dataclass(frozen=True, slots=True)
class Verification:
    """Files that are damaged, and what contradicts each other although every file is whole."""

    damaged: tuple[Damage, ...]
    disagreements: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        return (*map(str, self.damaged), *self.disagreements)


class Verifier:
    """Checks the whole workspace. It never fails itself: what cannot be read is a problem with a name."""

    def __init__(
        self,
        repository: Repository,
        generations: Generations,
        team_settings: TeamSettings,
        audit: Audit,
        looks: Sequence[tuple[str, Look]],
    ) -> None:
        self.repository, self.generations, self.team_settings = repository, generations, team_settings
        self.audit = audit
        self.looks = looks  # whoever keeps files, and can say which of them are damaged

    def problems(self, progress: Progress = no_progress) -> tuple[str, ...]:
        return self.verify(progress).problems

    def verify(self, progress: Progress = no_progress, prepare: Callable[[], object] | None = None) -> Verification:
        """Look at every file, then at what they say. `prepare` opens the workspace once its sources are known to be
        whole.
        """
        damaged: list[Damage] = []
        for n, (what, look) in enumerate(self.looks):
            progress(n, len(self.looks) + 2, f"Checking {what}")
            damaged += _seen(what, look)
        if any(damage.file.startswith(("kb.git", "app.db", "database")) for damage in damaged):
            return Verification(tuple(damaged), ())
        disagreements = tuple(self._disagreements(prepare, partial(progress, len(self.looks), len(self.looks) + 2)))
        progress(1, 1, "Checked")
        return Verification(tuple(damaged), disagreements)

    def _disagreements(self, prepare: Callable[[], object] | None, step: Callable[[str], None]) -> Iterator[str]:
        try:
            if prepare:
                prepare()
            yield from (f"audit: {line}" for line in self.audit.problems())
            for profile in self.team_settings.profiles():
                yield from (f"index {profile.name}: {line}" for line in self._profile(profile, step))
        except Outdated:
            raise
        except ConcordError as error:
            yield str(error)
        except Exception as error:  # whatever a reader makes of what no look noticed
            yield f"{type(error).__name__}: {in_one_line(error, 300)}"

    def _profile(self, profile: Profile, step: Callable[[str], None]) -> Iterator[str]:
        step("Checking the index")
        serving, production = self.generations.current(profile), self.team_settings.production().profile
        head = self.repository.head()
        if serving is None:
            if profile == production and head:
                yield f"the production profile has no index. {reindex()}"
            return
        if serving.commit != head and not self.generations.pinned(profile) and profile == production:
            yield (
                f"generation {serving.number} is at {serving.commit[:12]}, the knowledge base at {head[:12]}. "
                f"{reindex()}"
            )
        yield from self._documents(profile, serving.commit)
        yield from self.generations.check(profile)
        step("Asking every engine")
        yield from disagreements(partial(self.generations.open, profile, words=True), step)

    def _documents(self, profile: Profile, commit: str) -> Iterator[str]:
        manifest = self.generations.manifest(profile)
        indexed = {path: row[0] for path, row in manifest["documents"].items()}
        stored = {
            entry.path: entry.blob for entry in self.repository.entries(commit) if entry.path not in manifest["skipped"]
        }
        for path in sorted(set(indexed) ^ set(stored)):
            yield f"{path} is only in the {'index' if path in indexed else 'repository'}"
        for path in sorted(set(indexed) & set(stored)):
            if indexed[path] != stored[path]:
                yield f"{path} is indexed at another version than the repository holds"


def _seen(what: str, look: Look) -> list[Damage]:
    """What a look finds; a look that fails is a problem too."""
    damaged: list[Damage] = []
    try:
        for damage in look():
            damaged.append(damage)
    except Exception as error:
        why = in_one_line(error)
        damaged.append(Damage(what, f"cannot be checked ({why})", shell("Check whether the disk is readable")))
    return damaged
