"""The record of a segment: texts and words in DuckDB, vectors in LanceDB, and what its chunks say."""
