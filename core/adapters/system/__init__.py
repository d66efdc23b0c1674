"""The machine: clock, files and locks, worker processes, password hashes. Each file is its own door."""
