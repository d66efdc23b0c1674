"""Measures, query sets and statistics: pure functions over rankings and judgments."""
