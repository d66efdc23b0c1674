"""Markdown as text: markup, rendering, excerpts and what is left out."""
