"""Synonyms and pins, as reviewed files."""
