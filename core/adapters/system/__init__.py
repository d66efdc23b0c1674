"""The machine itself: clock, files and locks, worker processes, password hashes. Each file is one small door."""
