"""Office files to Markdown in a process of their own, so that a hostile file cannot hang or crash the app. The door is `converter.Conversion`."""
