"""Coordination of benefits in an 837: which payer adjudicated what, and whether it balances.

Line charge = paid + adjustments of the line; total charge = paid + all adjustments of that payer.
Knows claim loops; knows no other file and no clock.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.x12.rules import RuleContext, RuleFinding, parse_cents, rule, zero_adjustments
from clearlane.x12.rules.claims_parts import CLAIM_KINDS, ClaimParts, claim_parts, value_at
from clearlane.x12.tree import Loop

WARNING, INFO = Severity.WARNING, Severity.INFO
ELEMENTS_OF_A_FULL_CAS = 17  # CAS17 begins the sixth adjustment.


@rule(
    "X837-COB-PAYER",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2400/2430",),
    places=("2430/SVD/01",),
)
def decisions_name_a_payer(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The payer of a line decision (SVD01) is one of the claim's other payers."""
    parts = claim_parts(loop, ctx)
    known = {payer for _, payer in parts.other_payers}
    if "" in known:
        return  # A payer without an id is reported already.
    for _, row, payer in parts.decisions:
        if payer not in known:
            yield RuleFinding(
                "SVD01 must equal the NM109 of an other payer (2330B) of the claim", row, 1
            )


@rule(
    "X837-COB-BUNDLED",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2400/2430",),
    places=("2430/SVD/06",),
)
def bundled_line_exists(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A line decision that was bundled names a line of the claim (SVD06)."""
    parts = claim_parts(loop, ctx)
    numbers = {line.loop.value("LX", 1) for line in parts.lines}
    for _, row, _ in parts.decisions:
        if value_at(row, 6) and value_at(row, 6) not in numbers:
            message = "SVD06 (bundled into line) must be the LX01 of a line of the claim"
            yield RuleFinding(message, row, 6)


@rule(
    "X837-COB-LINE",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=3,
    needs=("2400/2430",),
    places=(
        "2430/SVD/02",
        "2430/CAS/03",
    ),
)
def lines_balance(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """For each payer that decided a line, the charge is what it paid plus what it adjusted."""
    for line in claim_parts(loop, ctx).lines:
        sums: dict[str, tuple[int | None, list[str]]] = {}
        for decision in line.by_id.get("2430", ()):
            row = decision.items[0]
            before, first = sums.get(value_at(row, 1), (0, row))
            sums[value_at(row, 1)] = (
                _plus(before, parse_cents(value_at(row, 2)), adjusted(decision)),
                first,
            )
        for total, row in sums.values():
            if total is not None and line.charge is not None and total != line.charge:
                yield RuleFinding(
                    "SVD02 (paid) plus the CAS amounts must equal the line charge", row, 2
                )


@rule(
    "X837-COB-CLAIM",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=3,
    needs=("2320",),
    places=(
        "2320/AMT:D/02",
        "2320/CAS/03",
    ),
)
def claim_balances(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """For each payer that decided the claim, the total is what it paid plus all it adjusted."""
    parts = claim_parts(loop, ctx)
    total = parts.total
    for other, payer in parts.other_payers:
        row = other.segment("AMT", "D")
        if row is None or total is None or not payer:
            continue
        lines = [adjusted(decision) for decision, _, by in parts.decisions if by == payer]
        found = _plus(parse_cents(value_at(row, 2)), adjusted(other), *lines)
        if found is not None and found != total:
            yield RuleFinding("AMT*D (paid) plus all CAS of this payer must equal CLM02", row, 2)


@rule(
    "X837-COB-PAID",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2320",),
    places=("2320/AMT:D/02",),
)
def decided_claim_has_an_amount(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A payer that decided the claim has a paid amount, even 0; one that did not has no amounts.

    A report of an encounter (BHT06 RP) asks for no money, and may leave what was paid out.
    """
    parts = claim_parts(loop, ctx)
    is_encounter = bool(ctx.open) and ctx.open[0].value("BHT", 6) == "RP"
    for other, payer in parts.other_payers:
        if other.segment("AMT", "D") is not None or is_encounter:
            continue
        if _decided_lines(parts, payer) or other.segment("CAS") is not None:
            message = "AMT*D (paid by the other payer) is required once it has decided; send 0"
            yield RuleFinding(message, other.segment("SBR"))
        elif (rest := other.segment("AMT", "EAF")) is not None:
            message = "AMT*EAF should be sent only with AMT*D, once the payer has decided"
            yield RuleFinding(message, rest, 1, severity=WARNING)


@rule(
    "X837-COB-REST",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2320",),
    places=(
        "2320/AMT:EAF/02",
        "2430/AMT:EAF/02",
    ),
)
def rest_is_at_one_level(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """What the patient still owes after a payer is given for the claim or for its lines, not for both."""
    # X12's interpretations 1391 and 1517.
    parts = claim_parts(loop, ctx)
    for other, payer in parts.other_payers:
        row = other.segment("AMT", "EAF")
        if row is not None and any(
            decision.segment("AMT", "EAF") for decision, _, by in parts.decisions if by == payer
        ):
            yield RuleFinding("AMT*EAF must be in 2320 or in 2430, not in both", row, 1)


@rule(
    "X837-COB-DATE",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2320",),
    places=(
        "2330B/DTP:573/03",
        "2430/DTP:573/03",
    ),
)
def decision_has_one_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The adjudication date of a payer is given for the claim or for its lines, not for both."""
    parts = claim_parts(loop, ctx)
    for other, payer in parts.other_payers:
        named = other.loop("2330B")
        row = named.segment("DTP", "573") if named is not None else None
        if row is not None and _decided_lines(parts, payer):
            yield RuleFinding("DTP*573 must be in 2330B or in 2430, not in both", row, 1)
        elif row is None and not _decided_lines(parts, payer):
            paid = other.segment("AMT", "D")
            if paid is not None:
                message = "DTP*573 in 2330B should give the day the payer decided"
                yield RuleFinding(message, paid, 1, severity=WARNING)


@rule("X837-COB-LEVELS", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=INFO, needs=("2320",))
def adjustments_are_at_one_level(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A payer's adjustments are given for the claim or for its lines, as it reported them."""
    parts = claim_parts(loop, ctx)
    for other, payer in parts.other_payers:
        row = other.segment("CAS")
        if row is not None and any(
            decision.segment("CAS") for decision, _, by in parts.decisions if by == payer
        ):
            yield RuleFinding(
                "CAS is given for the claim and for its lines; one of them is usual", row
            )


@rule(
    "X837-COB-GROUP",
    loop=("2320", "2430"),
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    needs=("CAS",),
)
def group_occurs_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """All adjustments of a group are in one CAS, until its six places are full."""
    sizes: dict[str, int] = {}
    for row in loop.segments("CAS"):
        group = value_at(row, 1)
        if sizes.get(group, ELEMENTS_OF_A_FULL_CAS + 1) <= ELEMENTS_OF_A_FULL_CAS:
            yield RuleFinding(
                "CAS01: the adjustments of one group should be in one segment", row, 1
            )
        sizes[group] = len(row)


@rule(
    "X837-COB-ZERO",
    loop=("2320", "2430"),
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    needs=("CAS",),
)
def adjustments_change_something(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An adjustment of another payer is not zero."""
    yield from zero_adjustments(loop)


@rule(
    "X837-COB-UNCOVERED",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    needs=("2320",),
    places=("2320/AMT:A8/02",),
)
def uncovered_is_the_whole_charge(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The amount that another payer would not cover at all is the whole charge."""
    parts = claim_parts(loop, ctx)
    for other, _ in parts.other_payers:
        row = other.segment("AMT", "A8")
        if row is not None and parse_cents(value_at(row, 2)) != parts.total:
            yield RuleFinding("AMT*A8 (not covered) should equal CLM02, the total charge", row, 2)


def adjusted(loop: Loop) -> int | None:
    """Return the sum of a loop's adjustments in cents; None if one has no amount."""
    total = 0
    for row in loop.segments("CAS"):
        for number in range(2, len(row), 3):
            if not row[number]:
                continue
            value = parse_cents(value_at(row, number + 1))
            if value is None:
                return None
            total += value
    return total


def _decided_lines(parts: ClaimParts, payer: str) -> bool:
    return any(by == payer for _, _, by in parts.decisions)


def _plus(*parts: int | None) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total
