"""Prompts, bills and writing by language models: what every caller of one shares."""
