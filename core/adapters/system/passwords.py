"""Password hashes with argon2id."""

from __future__ import annotations


class Argon2:
    """Passwords as hashes that are slow to guess."""

    def hash(self, password: str) -> str:
        from argon2 import PasswordHasher

        return PasswordHasher().hash(password)

    def matches(self, hashed: str, password: str) -> bool:
        from argon2 import PasswordHasher
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return PasswordHasher().verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False
