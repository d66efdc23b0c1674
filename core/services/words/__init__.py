"""Synonyms and pinned answers, both changed by review. The door is `words.SynonymsAndPins`."""
