"""Query sets, and runs of configurations over them. The door is `runs.Runs`."""
