"""Runs: one configuration over one query set. How they compare, how they changed, what is exported, what is judged
next.
"""
