"""Brings documents in all at once, without a review: files of any known kind, or a repository with its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.access import IMPORT, READS, Actor, use_case
from core.curation.upload.items import unzipped
from core.errors import BadInput
from core.ports import Progress, no_progress
from core.services.knowledge.documents import Documents, Imported
from core.services.platform.settings import TeamSettings
from core.services.remote.remotes import Remotes
from core.services.reviews.merge import Merger
from core.services.upload.uploads import Uploads


@dataclass(frozen=True, slots=True)
class Importer:
    """For a first folder, and for whoever may import."""

    uploads: Uploads
    documents: Documents
    merger: Merger
    remotes: Remotes
    team_settings: TeamSettings

    @use_case("import documents", READS)
    def check(self, actor: Actor, files: Sequence[tuple[str, bytes]] = (), url: str = "", branch: str = "main") -> None:
        """Refuse what could not be brought in: files that are damaged, a repository that does not answer."""
        contents = list(unzipped(files))
        if files and all(file.refused for file in contents):
            raise BadInput(f"{files[0][0]}: {contents[0].refused if contents else 'It is empty.'}")
        if url:
            self.remotes.reach(actor, url, branch)

    @use_case("import documents", IMPORT)
    def files(
        self,
        actor: Actor,
        files: Sequence[tuple[str, bytes]],
        into: str = "",
        message: str = "",
        progress: Progress = no_progress,
    ) -> Imported:
        """Files by name, zips unpacked, as one commit."""
        name = files[0][0] if len(files) == 1 else f"{len(files)} files"
        batch = self.uploads.decided(self.uploads.read(actor, files, into, progress))
        texts = {path: raw for path, raw in self.uploads.files(batch).items() if raw is not None}
        texts |= {item.path: item.text.encode() for item in batch.items if item.choice == "drop"}
        refused = [(item.path, item.findings[0].message) for item in batch.items if item.state == "refused"]
        save = partial(self.documents.save, actor, texts, refused, message or f"Import {name}")
        imported = self.merger.importing(actor, name, save)
        notes = [
            (item.path, note.message)
            for item in batch.items
            for note in item.findings
            if note.rule in ("file", "status")
        ]
        return replace(imported, warnings=(*notes, *imported.warnings), skipped=batch.left_out)

    @use_case("import documents", IMPORT)
    def repository(
        self, actor: Actor, url: str, branch: str = "main", folder: str = "", progress: Progress = no_progress
    ) -> Imported:
        """A repository with its history, into an empty knowledge base."""
        self.remotes.bring_in(actor, url, branch, folder)
        self.team_settings.start(actor.person)
        return self.documents.inventory(progress)
