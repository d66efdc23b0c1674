"""Parts of the Index page."""
