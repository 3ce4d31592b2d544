"""Claims on their way: batches, what came back, documents, and the simulated payers."""

__all__: list[str] = []
