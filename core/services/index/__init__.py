"""From a commit to a generation: build, verify, roll back, estimate. The door is `builder.IndexBuilder`."""
