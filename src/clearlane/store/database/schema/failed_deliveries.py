"""The table of failed deliveries: each try that did not succeed, kept for a month for operators."""

from sqlalchemy import BigInteger, Column, Index, Text

from clearlane.store.database.schema.core import id_column, installation_table

__all__ = ["delivery_failures"]

delivery_failures = installation_table(
    "delivery_failures",
    id_column(),
    Column("type", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    Column("route_id", BigInteger, nullable=False),
    Column("batch_id", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    # Why it failed; never anything of a payload.
    Column("fault", Text, nullable=False),
    Index("ix_delivery_failures_destination", "type", "payer_id", "at"),
    sqlite_autoincrement=True,
)
