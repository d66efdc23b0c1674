"""Use cases of running it: the workspace, the index, jobs."""
