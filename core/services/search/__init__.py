"""The one search behind pages, API and CLI, and what the Search page shows. The door is `searcher.Searcher`."""
