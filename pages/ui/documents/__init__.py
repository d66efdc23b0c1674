"""Parts of the Documents page."""
