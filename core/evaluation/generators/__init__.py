"""Query sets made from the documents: known items by rules, questions and answers by a language model."""
