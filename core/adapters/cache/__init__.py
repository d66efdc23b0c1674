"""What took a while, by content: vectors, what models wrote, small results. Everything here may be deleted at any time."""
