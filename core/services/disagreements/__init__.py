"""Facts that disagree: what other documents say otherwise, and where people have said that both are right. The door is
`finder.Disagreements`.
"""
