"""The parts of the Tuning page."""
