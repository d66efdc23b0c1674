"""Parts of the Upload page."""
