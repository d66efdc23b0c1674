"""The parts of the graph page."""
