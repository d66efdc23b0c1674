"""Parts of the page Account."""
