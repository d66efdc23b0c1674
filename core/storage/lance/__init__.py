"""Vectors in LanceDB tables, one for each segment. The door is `ann`."""
