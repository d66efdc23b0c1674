"""Entry points: parse, call the App, reply."""
