"""The table of series: bills of one stay belong together by payer, patient, provider and admission day."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, PrimaryKeyConstraint, Text

from clearlane.store.database.schema.core import client_table

__all__ = ["series_members"]

# A bill of a stay that was accepted. Its state and money are those of the claim.
series_members = client_table(
    "series_members",
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    # Keyed hash of payer, patient, provider and admission day, cut to 64 bits.
    Column("series_key", BigInteger, nullable=False),
    Column("frequency", Text, nullable=False),
    # The last day of the statement.
    Column("last_day", Text),
    # Whether the payer's bills replace each other.
    Column("is_cumulative", Integer, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "claim_number"),
    Index("ix_series_members_series_key", "vendor_id", "site_id", "series_key"),
)
