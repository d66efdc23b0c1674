"""Replays of the four papers on a knowledge base or a collection; `python -m bench.papers --help` lists them."""
