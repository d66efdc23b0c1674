"""Query sets, measures, runs and statistics: pure functions over rankings and judgments."""
