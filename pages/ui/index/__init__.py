"""The parts of the Index page."""
