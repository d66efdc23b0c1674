"""What every caller of a language model shares: prompts, bills and writing."""
