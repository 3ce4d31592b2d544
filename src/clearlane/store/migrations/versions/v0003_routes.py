"""How payers are reached."""

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema import BIG

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table of routes."""
    op.create_table(
        "routes",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("position", sa.SmallInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("secrets", sa.LargeBinary),
        sa.Column("active", sa.SmallInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_routes_type_payer_id", "routes", ["type", "payer_id"])
