"""Limit statements about claims to those of some payers, or to those of all others.

    Statement(select(...).where(*(CONDITIONS[name] for name in payers.given())))

Knows a claim's kind and payer; knows no route.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import ColumnElement, not_

from clearlane.store.database.schema import claims
from clearlane.store.database.sql import among


class PayerFilter(NamedTuple):
    """Payers by the keys that :func:`payer_key` makes: these alone, or all but these; None filters nothing."""

    payers: tuple[str, ...] | None = None
    other_than: tuple[str, ...] | None = None

    def given(self) -> dict[str, list[str]]:
        """Return what is filtered by, as statements take it."""
        return {name: list(keys) for name, keys in self._asdict().items() if keys is not None}


EVERY_PAYER = PayerFilter()
_KEY = claims.c.kind + "/" + claims.c.payer_id
CONDITIONS: Mapping[str, ColumnElement[bool]] = {
    "payers": among(_KEY, "payers"),
    "other_than": not_(among(_KEY, "other_than")),
}


def payer_key(kind: str, payer_id: str) -> str:
    """Return the key of the payer of a kind of claim."""
    return f"{kind}/{payer_id}"
