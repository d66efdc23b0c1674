"""What a change does to search, before it is merged. The door is `impacts.Impacts`."""
