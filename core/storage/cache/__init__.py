"""What took a while to compute, by content: vectors, what models wrote, small results. All of it may be deleted at any
time; the doors are `vectors`, `texts` and `memo`.
"""
