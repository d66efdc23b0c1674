"""Parts of the Documents page: the tabs of a document, and the editor."""
