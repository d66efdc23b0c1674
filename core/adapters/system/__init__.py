"""The machine: clock, files and locks, worker processes, password hashes."""
