"""Files that people drop in, read into upload items with checks and duplicates; nothing is written here. The door is `uploads.Uploads`."""
