"""The sample: a knowledge base with a past, so that every page shows what it is for. Doors: `init`, the line above
every page.
"""
