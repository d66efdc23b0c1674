"""What a document is: its fields, links, limits, names and templates."""
