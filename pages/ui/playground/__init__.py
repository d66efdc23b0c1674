"""The parts of the playground."""
