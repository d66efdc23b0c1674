"""One query under several configurations side by side, and why each passage stands where it stands. The door is
`compare.Comparer`.
"""
