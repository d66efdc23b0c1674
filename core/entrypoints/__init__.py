"""Doors: parse, call the App, reply."""
