"""Untrusted files in processes of their own, with limits. The doors are `converter.Converters` and
`texts.TextReader`.
"""
