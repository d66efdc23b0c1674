"""Uploaded files as items with checks and duplicates; only `submit` writes. The door is `uploads.Uploads`."""
