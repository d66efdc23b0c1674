"""What the other rooms build on: the workspace, its backups, and team settings in git. The door is `workspace.Workspace`."""
