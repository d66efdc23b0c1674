"""A whole cluster on one machine, for real: store, database, git remote, nodes, workers and a proxy.

The door is `python -m bench.cluster`.
"""
