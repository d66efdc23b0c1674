"""Documents in a bare git repository, written by plumbing and compare-and-swap. The door is `store.GitStore`."""
