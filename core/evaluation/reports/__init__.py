"""Reports and their charts, as HTML and Markdown."""
