"""What doors answer, as JSON, said once: the command line, the API and the tools import from here, never from each
other.
"""
