"""Parts of the Reviews page."""
