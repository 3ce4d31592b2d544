"""Console users, their sessions, and the instances of proxy login."""

__all__: list[str] = []
