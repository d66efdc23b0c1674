"""Search over an open index: legs, normalisation, fusion, reranking and hits that explain themselves."""
