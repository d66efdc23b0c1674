"""The words of the house: synonyms and pinned answers, both changed by review. The door is `words.SynonymsAndPins`."""
