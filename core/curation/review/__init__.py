"""A change on its way to a merge: moves, rules, diffs and conflicts."""
