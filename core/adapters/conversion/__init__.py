"""Office files to Markdown in a separate process. The door is `converter.ConverterProcess`."""
