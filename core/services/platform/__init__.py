"""What the other rooms stand on: the workspace, long jobs, and team settings kept in git. The door is `workspace.Workspace`."""
