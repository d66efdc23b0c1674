"""One reader per format: the bytes of a file in, its Markdown, pictures and what to compare out. They run inside a
worker.
"""
