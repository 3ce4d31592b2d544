"""Claims and what is stored about them: facts, documents, work on them, lists and look-ups."""
