"""Eligibility requests and responses."""

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the tables."""
