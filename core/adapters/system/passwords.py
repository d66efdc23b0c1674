"""Password hashes with argon2id. Each takes 64 MiB while it is made, so a process makes only a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from core.errors import Refused

AT_A_TIME = 2  # hashes in one process
_TURNS = BoundedSemaphore(AT_A_TIME)


class Argon2:
    """Passwords as hashes that are slow to guess."""

    def __init__(self, patience: float = 10.0) -> None:
        self.patience = patience  # seconds to wait for a turn

    def hash(self, password: str) -> str:
        from argon2 import PasswordHasher

        with self._turn():
            return PasswordHasher().hash(password)

    def matches(self, hashed: str, password: str) -> bool:
        from argon2 import PasswordHasher
        from argon2.exceptions import InvalidHashError, VerificationError

        with self._turn():
            try:
                return PasswordHasher().verify(hashed, password)
            except (VerificationError, InvalidHashError):
                return False

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not _TURNS.acquire(timeout=self.patience):
            raise Refused("Too many sign-ins at the moment, try again.")
        try:
            yield
        finally:
            _TURNS.release()
