"""The git remote: merges go out, commits made elsewhere come in as a change. The door calls `remotes`."""
