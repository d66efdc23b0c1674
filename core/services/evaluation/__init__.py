"""Query sets, and runs of configurations over them; experiments that write reports. The door is `runs.Runs`."""
