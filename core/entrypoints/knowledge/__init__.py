"""Use cases of the knowledge base: find, read, bring in, ask."""
