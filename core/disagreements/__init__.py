"""Facts that disagree: passages of two documents that say nearly the same with another value, name or negation.

Reading order: `values` (what a number in a text means), `claims` (a document as sentences with their values),
`compare` (two claims), `lookup` (one claim against all others).
"""
