"""Concord's core: everything that is true without a browser."""

__version__ = "0.3.0"
