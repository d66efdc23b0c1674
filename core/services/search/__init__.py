"""The one search for every door, and the page that people read. The door is `searcher.Searcher`."""
