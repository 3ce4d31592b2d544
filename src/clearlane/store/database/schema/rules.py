"""Tables of claim rules: what operators set, and the claims that people sent in spite of a rule."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, PrimaryKeyConstraint, Text

from clearlane.store.database.schema.core import client_table, installation_table

__all__ = ["rule_overrides", "rule_settings"]

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

# The rules that a claim broke and was sent anyway. Why is a sealed note of the claim.
rule_overrides = client_table(
    "rule_overrides",
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    Column("rule", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "claim_number", "rule"),
    Index("ix_rule_overrides_rule", "rule", "at"),
)
