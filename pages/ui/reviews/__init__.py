"""The parts of the Reviews page."""
