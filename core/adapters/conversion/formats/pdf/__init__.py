"""PDF files to Markdown."""
