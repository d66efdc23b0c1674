"""The room of uploads, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.adapters.conversion import ocr
from core.adapters.conversion.converter import Converters, Originals
from core.adapters.conversion.texts import TextReader
from core.ports import Models
from core.services.platform.base import Base
from core.services.remote.remotes import Remotes
from core.services.reviews.merge import Merger
from core.services.search.searcher import Searcher
from core.services.upload.duplicates import DuplicateFinder
from core.services.upload.importer import Importer
from core.services.upload.status_words import StatusWords
from core.services.upload.uploads import Uploads


@dataclass(frozen=True, slots=True)
class Upload:
    """Uploaded files on their way to a change, documents that come in all at once, and where texts of people are
    parsed.
    """

    uploads: Uploads
    importer: Importer
    reader: TextReader
    statuses: StatusWords


def wire(base: Base, models: Models, searcher: Searcher, merger: Merger, remotes: Remotes) -> Upload:
    duplicates = DuplicateFinder(base.documents, searcher, base.team_settings, models, base.vectors)
    converters = Converters(ocr=ocr.installed() if base.settings.ocr else None)
    uploads = Uploads(base, duplicates, converters, merger.changes, Originals())
    importer = Importer(uploads, base.documents, merger, remotes, base.team_settings)
    return Upload(uploads, importer, base.reader, StatusWords(base.team_settings, base.audit))
