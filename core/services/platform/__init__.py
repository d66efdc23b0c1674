"""What other rooms build on: workspace, backups, team settings in git. The door is `workspace.Workspace`."""
