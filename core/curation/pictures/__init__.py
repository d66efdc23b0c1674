"""Pictures beside documents: which are allowed, and what they may carry."""
