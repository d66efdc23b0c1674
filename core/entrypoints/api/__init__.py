"""The HTTP API: the same use cases, rules and sentences as pages and command line, for programs with an access
token.
"""
