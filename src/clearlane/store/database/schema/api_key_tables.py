"""Tables of API keys: what each is for, and the keyed hashes of its secrets.

They belong to the installation, as vendors and their passwords do: a call is authenticated before its vendor is known.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    LargeBinary,
    Text,
    UniqueConstraint,
)

from clearlane.store.database.schema.core import installation_table

__all__ = ["api_key_secrets", "api_keys"]

api_keys = installation_table(
    "api_keys",
    # The part of the key that is no secret.
    Column("key_id", Text, primary_key=True),
    Column("vendor_id", BigInteger, ForeignKey("vendors.id"), nullable=False),
    Column("name", Text, nullable=False),
    # A JSON array of scopes.
    Column("scopes", Text, nullable=False),
    # A JSON array of ids of sites; null for all sites of the vendor.
    Column("sites", Text),
    Column("state", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    # Written once a minute at most, beside the calls.
    Column("used_at", BigInteger),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    UniqueConstraint("vendor_id", "name"),
)

api_key_secrets = installation_table(
    "api_key_secrets",
    Column("secret_hash", LargeBinary, primary_key=True),
    Column("key_id", Text, ForeignKey("api_keys.key_id"), nullable=False, index=True),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
)
