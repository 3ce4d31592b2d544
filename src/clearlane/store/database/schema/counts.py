"""The table of what was counted for operators: a row for each count, which a node renews now and then."""

from sqlalchemy import BigInteger, Column, LargeBinary, Text

from clearlane.store.database.schema.core import installation_table

__all__ = ["claim_counts"]

# Claims by state, payer and age and payments of the month over all clients, as JSON: no row of a client, and nothing
# that names a patient.
claim_counts = installation_table(
    "claim_counts",
    Column("name", Text, primary_key=True),
    Column("counted_at", BigInteger, nullable=False),
    # How long the counting took, in microseconds: what is slow is counted less often.
    Column("took", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
