"""Query sets: questions with judgments, where a judgment stands in an index, agreement of judges, import and export."""
