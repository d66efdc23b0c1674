"""What the other rooms build on: the workspace, long jobs, and team settings in git. The door is `workspace.Workspace`."""
