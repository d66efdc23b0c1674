"""Office files to Markdown with markitdown, in processes of their own: a hostile file holds up nobody else's."""

from __future__ import annotations

from core.adapters.conversion.workers import Limits, Overrun, WorkerPool
from core.errors import BadInput

SIZE = 4  # files that are converted at the same time
LIMITS = Limits(wall=45.0, cpu=40, memory=2 * 1024**3)


class Converters:
    """A few converters. Files travel through pipes, so that no kill leaves a temporary file."""

    def __init__(self, limits: Limits = LIMITS, size: int = SIZE) -> None:
        self.pool = WorkerPool("core.adapters.conversion.worker", size, limits)

    def convert(self, suffix: str, raw: bytes) -> str:
        """The Markdown of a file."""
        try:
            answer = self.pool.ask({"suffix": suffix}, raw)
        except Overrun as error:
            raise BadInput(f"The {suffix} file {error}. Split it, or copy its text and paste it.") from None
        if "error" in answer:
            raise BadInput(
                f"The {suffix} file cannot be converted ({answer['error']}); it may be damaged or locked by a password. "
                "Save it again, or copy its text and paste it."
            )
        return str(answer["text"])

    def close(self) -> None:
        self.pool.close()
