"""Generations on disk: DuckDB, LanceDB and the graph, built aside and published by one rename. The door is
`generations.Generations`.
"""
