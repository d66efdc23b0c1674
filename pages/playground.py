"""Playground: one query, several configurations side by side, and why every hit ranks where it does."""

from pages.ui import identity
from pages.ui.playground import judging, query_bar, results, state

me = identity.require("compare configurations")

judging.start()
query_bar.draw(state.setup())
results.draw()
