"""The parts of the Words page."""
