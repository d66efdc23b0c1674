"""From a proposed change to a merge: edits on a branch, checks, discussion, verdicts, conflicts. The door is
`changes.Changes`.
"""
