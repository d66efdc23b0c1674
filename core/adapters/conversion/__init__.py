"""Untrusted files in processes of their own, with limits. The door for office files is `converter.Converters`."""
