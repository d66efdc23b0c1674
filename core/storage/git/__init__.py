"""A bare git repository, written with plumbing commands and compare-and-swap. The door is `repository.Repository`."""
