"""Use cases of measuring: query sets, runs, tuning, models."""
