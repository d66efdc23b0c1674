"""What a good document and a good change look like: pure rules, no git, no database."""
