"""Shared widgets; the only place for session state and caches."""
