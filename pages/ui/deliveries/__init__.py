"""The parts of the Deliveries page."""
