"""Programs of their own, each for one kind of file: what they read cannot reach the app, and ends with them."""
