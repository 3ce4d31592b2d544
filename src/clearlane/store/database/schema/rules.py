"""The table of claim rules: what operators set."""

from sqlalchemy import BigInteger, Column, Text

from clearlane.store.database.schema.core import installation_table

__all__ = ["rule_settings"]

# The severity of a rule for a payer, a site, both or everywhere: an empty payer or site stands for all.
rule_settings = installation_table(
    "rule_settings",
    Column("rule", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    # The vendorSiteId.
    Column("site", Text, primary_key=True),
    Column("severity", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)
