"""Claims on their way: batches, what came back, documents, the sandbox."""

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables."""
