"""What a file must pass before it may become a document."""
