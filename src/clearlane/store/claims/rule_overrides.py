"""The rules that claims were sent in spite of, and what became of those claims. Knows no rule."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, bindparam, func, select

from clearlane.store.database.database import SystemScope, Tx, list_rows
from clearlane.store.database.schema import claims, rule_overrides
from clearlane.store.database.sql import Statement, scoped_insert, scoped_select, select_as

SCOPE = SystemScope("what became of claims by rule, for the operator: counts only")


class RuleOverride(NamedTuple):
    """A rule that a claim was sent in spite of, who decided it, and when."""

    claim_number: str
    rule: str
    actor: str
    at: int


class OverrideCount(NamedTuple):
    """How many claims that were sent in spite of a rule have a label."""

    rule: str
    label: str
    claims: int


async def add(tx: Tx, overrides: Sequence[RuleOverride]) -> None:
    """Add what a claim was sent in spite of."""
    await tx.many(_ADD, [one._asdict() for one in overrides])


async def list_of_claim(tx: Tx, claim_number: str) -> list[RuleOverride]:
    """Return the rules that a claim was sent in spite of."""
    return await list_rows(tx, RuleOverride, _OF_CLAIM, claim_number=claim_number)


async def count_by_label(tx: Tx, since: int) -> list[OverrideCount]:
    """Count the claims that were sent in spite of each rule since a moment, by the labels that they have now."""
    return await list_rows(tx, OverrideCount, _COUNTS, since=since)


_ADD = scoped_insert(rule_overrides, *RuleOverride._fields)
_OF_CLAIM = scoped_select(
    select_as(rule_overrides, RuleOverride)
    .where(rule_overrides.c.claim_number == bindparam("claim_number"))
    .order_by(rule_overrides.c.rule),
    rule_overrides,
)
_COUNTS = Statement(
    select(rule_overrides.c.rule, claims.c.label, func.count())
    .join(claims, claims.c.claim_number == rule_overrides.c.claim_number)
    .where(rule_overrides.c.at >= bindparam("since", type_=BigInteger))
    .group_by(rule_overrides.c.rule, claims.c.label),
    system=True,
)
