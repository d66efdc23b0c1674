"""The `answers:` of documents as tests of search. The doors are `checks.AnswerChecks` and `writing.AnswerWriting`."""
