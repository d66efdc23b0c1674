"""Playground: one query, several configurations side by side, and why every hit ranks where it does."""

from pages.ui import identity
from pages.ui.playground import query_bar, results, state

me = identity.require("compare configurations")

query_bar.draw(state.setup())
results.draw()
