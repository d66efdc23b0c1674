"""Training of the models that predict alpha for a query."""
