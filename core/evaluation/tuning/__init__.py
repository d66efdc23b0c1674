"""A whole query set as arrays: fusion and measures at every alpha, and the tau of conditional reranking."""
