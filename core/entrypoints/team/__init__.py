"""Use cases of people with each other: changes, messages, accounts."""
