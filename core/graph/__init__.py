"""The entity graph of a generation as pure rules: entities found in chunks, assembled, ranked, grouped into
communities.
"""
