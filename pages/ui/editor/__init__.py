"""The parts of the Documents page that write."""
