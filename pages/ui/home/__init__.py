"""What Home and an empty base show."""
