"""The machine: clock, files and locks, worker processes, password hashes, Word files. Each file is its own door."""
