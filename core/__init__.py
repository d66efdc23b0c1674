"""Concord's core: everything that is true without a browser."""
