"""Rules of the 835: it balances at line, claim and check level, and its parts agree.

Errors are what keeps a payment from being posted; what a payer may do but should not is a warning.
Knows payment loops; knows no claim that was sent and no clock.
"""

import re
from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CLAIM_NUMBERS_REMEMBERED_MAX
from clearlane.x12 import codes
from clearlane.x12.rules import (
    SET,
    RuleContext,
    RuleFinding,
    is_repeated,
    parse_cents,
    rule,
    zero_adjustments,
)
from clearlane.x12.tree import Loop, Segment, get_element, split_components

REMIT = ("835",)
WARNING, INFO = Severity.WARNING, Severity.INFO

REVERSAL = "22"
INTEREST = "L6"
"""The reason of a PLB amount that pays interest."""
ORIGINATOR = re.compile(r"[139][0-9A-Z-]{9}", re.ASCII)
BANKED = frozenset({"ACH", "BOP", "FWT"})
REMARK_PLACES = {"MIA": (5, 20, 21, 22, 23), "MOA": (3, 4, 5, 6, 7)}

_FORM = "a remark code: M, MA or N and digits"


@rule("X835-LINE", loop="2110", kinds=REMIT, snip=3, section="1.10.2.1.1")
def line_balances(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The charge of a line less its payment is the sum of its adjustments."""
    svc = loop.items[0]
    charged, paid, adjusted = _cents(svc, 2), _cents(svc, 3), adjustments(loop)
    if (
        charged is not None
        and paid is not None
        and adjusted is not None
        and charged - paid != adjusted
    ):
        yield RuleFinding(
            "SVC02 (charged) less SVC03 (paid) must equal the sum of the line's CAS amounts",
            _head(svc),
            3,
        )


@rule("X835-CLAIM", loop="2100", kinds=REMIT, snip=3, section="1.10.2.1.2")
def claim_balances(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The charge of a claim less its payment is the sum of the adjustments of the claim and its lines."""
    clp = loop.items[0]
    charged, paid = _cents(clp, 3), _cents(clp, 4)
    sums = [adjustments(loop), *(adjustments(line) for line in loop.loops("2110"))]
    if charged is None or paid is None or None in sums:
        return
    if charged - paid != sum(amount for amount in sums if amount is not None):
        yield RuleFinding(
            "CLP03 (charged) less CLP04 (paid) must equal the sum of all CAS amounts of the claim and its lines",
            _head(clp),
            4,
        )


@rule("X835-SUM", loop="2100", kinds=REMIT, snip=3, severity=WARNING)
def claim_is_the_sum_of_its_lines(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The charge of a claim with service lines is the sum of the line charges."""
    clp = loop.items[0]
    charges = [_cents(line.items[0], 2) for line in loop.loops("2110")]
    if not charges or None in charges:
        return
    if _cents(clp, 3) != sum(charge for charge in charges if charge is not None):
        yield RuleFinding(
            "CLP03 (charged) should equal the sum of the line charges (SVC02)", _head(clp), 3
        )


@rule("X835-CHECK", loop=("2100", SET), kinds=REMIT, snip=3, section="1.10.2.1.3")
def check_balances(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The payment is the sum of the claim payments less the provider adjustments."""
    paid: int | None = ctx.set_state.get("835-paid", 0)
    if loop.node.id == "2100":
        ctx.set_state["835-paid"] = _plus(paid, _cents(loop.items[0], 4))
        return
    bpr = loop.segment("BPR")
    total = parse_cents(get_element(bpr, 2)) if bpr else None
    withheld = provider_adjustments(loop)
    if total is not None and paid is not None and withheld is not None and total != paid - withheld:
        yield RuleFinding(
            "BPR02 (amount) must equal the sum of CLP04 (paid) less the sum of the PLB amounts",
            bpr,
            2,
        )


@rule(
    "X835-INTEREST",
    loop=("2100", SET),
    kinds=REMIT,
    snip=3,
    places=(
        "2100/AMT:I/02",
        "835/PLB/03-1",
    ),
)
def interest_agrees(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The interest of the claims (AMT*I) is paid by the same set in a PLB of reason L6, net and with the other sign."""
    # X12's interpretations: L6 is the sum of all AMT*I, left out if that is 0 (RFI 2123, 1324), with the
    # opposite sign (2184); neither is sent without the other (2202).
    interest: int | None = ctx.set_state.get("835-interest", 0)
    if loop.node.id == "2100":
        for amt in loop.segments("AMT", "I"):
            interest = _plus(interest, parse_cents(get_element(amt, 2)))
        ctx.set_state["835-interest"] = interest
        return
    paid: int | None = 0
    last: tuple[Segment | None, int] = (None, 0)
    for plb, at in _interest_places(loop):
        paid, last = _plus(paid, parse_cents(get_element(plb, at))), (plb, at)
    if interest is not None and paid is not None and interest != -paid:
        yield RuleFinding(
            "The PLB amounts of reason L6 (interest) must be the sum of the claims' interest (AMT*I) with"
            " the opposite sign",
            *last,
        )


@rule(
    "X835-PROVIDER-SUM",
    loop=("2100", "2000"),
    kinds=REMIT,
    snip=3,
    severity=WARNING,
    places=(
        "2000/TS3/04",
        "2000/TS3/05",
    ),
)
def provider_sums_agree(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The sums of a provider (TS3) count its claims and add up their charges."""
    claims, charges = ctx.set_state.get("835-provider", (0, 0))
    if loop.node.id == "2100":
        ctx.set_state["835-provider"] = (claims + 1, _plus(charges, _cents(loop.items[0], 3)))
        return
    ctx.set_state["835-provider"] = (0, 0)
    ts3 = loop.segment("TS3")
    if ts3 is None:
        return
    if parse_cents(get_element(ts3, 4)) != claims * 100:
        yield RuleFinding(
            "TS304 (claims) should equal the number of CLP segments of the provider", ts3, 4
        )
    if charges is not None and parse_cents(get_element(ts3, 5)) != charges:
        yield RuleFinding("TS305 (charged) should equal the sum of CLP03 of the provider", ts3, 5)


@rule("X835-PATIENT-SHARE", loop="2100", kinds=REMIT, snip=7, severity=WARNING)
def patient_share_agrees(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The patient's responsibility is the sum of the adjustments of group PR."""
    clp = _head(loop.items[0])
    share = parse_cents(get_element(clp, 5) or "0")
    parts = [adjustments(part, "PR") for part in (loop, *loop.loops("2110"))]
    if share is None or None in parts or get_element(clp, 2) == REVERSAL:
        return
    if share != sum(part for part in parts if part is not None):
        yield RuleFinding(
            "CLP05 (patient responsibility) should equal the sum of CAS amounts of group PR", clp, 5
        )


@rule(
    "X835-REVERSAL", loop=("2100", SET), kinds=REMIT, snip=7, severity=WARNING, section="1.10.2.8"
)
def reversals_come_in_pairs(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A reversal is followed by the corrected claim of the same patient account number."""
    waiting: set[str] = ctx.set_state.setdefault("835-reversed", set())
    if loop.node.id != "2100":
        if waiting:
            claims = "1 reversed claim" if len(waiting) == 1 else f"{len(waiting)} reversed claims"
            yield RuleFinding(f"{claims} should be followed by the corrected claim")
        return
    clp = _head(loop.items[0])
    if get_element(clp, 2) != REVERSAL:
        waiting.discard(get_element(clp, 1))
    elif len(waiting) < CLAIM_NUMBERS_REMEMBERED_MAX:
        waiting.add(get_element(clp, 1))


@rule("X835-REVERSAL-SIGN", loop="2100", kinds=REMIT, snip=7, severity=WARNING, section="1.10.2.8")
def reversal_amounts_are_not_positive(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A reversal has no positive charge and no positive payment; any other claim has no negative charge."""
    clp = _head(loop.items[0])
    charged, paid = parse_cents(get_element(clp, 3)), parse_cents(get_element(clp, 4))
    if get_element(clp, 2) == REVERSAL:
        for at, amount in ((3, charged), (4, paid)):
            if amount is not None and amount > 0:
                yield RuleFinding(
                    "The amounts of a reversal (CLP02 of 22) should not be positive", clp, at
                )
    elif charged is not None and charged < 0:
        yield RuleFinding(
            "CLP03 (charged) should be negative in a reversal only (CLP02 of 22)", clp, 3
        )


@rule("X835-TWICE", loop="2100", kinds=REMIT, snip=7, severity=WARNING)
def claim_is_reported_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """No claim is reported twice with the same numbers, status and amounts."""
    clp = _head(loop.items[0])
    seen: set[tuple[str, ...]] = ctx.set_state.setdefault("835-seen", set())
    mark = (
        get_element(clp, 1),
        get_element(clp, 2),
        get_element(clp, 3),
        get_element(clp, 4),
        get_element(clp, 7),
    )
    if is_repeated(mark, seen, CLAIM_NUMBERS_REMEMBERED_MAX):
        yield RuleFinding(
            "A claim should not be reported twice with the same numbers, status and amounts", clp, 1
        )


@rule("X835-TRACE", loop=SET, kinds=REMIT, snip=7, severity=WARNING)
def trace_names_the_payer(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The payer in the trace number is 1, 3 or 9 and nine characters, the same as in the payment."""
    bpr, trn = loop.segment("BPR"), loop.segment("TRN")
    if bpr is None or trn is None:
        return
    if not ORIGINATOR.fullmatch(get_element(trn, 3)):
        yield RuleFinding(
            "TRN03 (originating company) should be 10 characters, the first 1, 3 or 9", trn, 3
        )
    if get_element(bpr, 10) and get_element(bpr, 10) != get_element(trn, 3):
        yield RuleFinding("TRN03 (originating company) should equal BPR10", trn, 3)
    if get_element(bpr, 11) and get_element(trn, 4) and get_element(bpr, 11) != get_element(trn, 4):
        yield RuleFinding("TRN04 (supplement) should equal BPR11", trn, 4)


@rule("X835-METHOD", loop=SET, kinds=REMIT, snip=7, severity=WARNING)
def method_fits_the_payment(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A transfer names both accounts, and a notice without payment pays nothing."""
    bpr = loop.segment("BPR")
    if bpr is None:
        return
    # One finding for one BPR: the reasons why its amount cannot be are reasons for one thing, and only the first is given.
    found = [*_missing_accounts(bpr), *list(_impossible_amounts(bpr))[:1]]
    if found:
        sentence = "; ".join(message for _, message in found)
        yield RuleFinding(sentence, bpr, found[0][0])


def _missing_accounts(bpr: Segment) -> Iterator[tuple[int, str]]:
    """Yield the first element of a transfer that names no bank or account, with what should be there."""
    if get_element(bpr, 4) in BANKED:
        empty = [at for at in (7, 9, 10, 13, 15) if not get_element(bpr, at)]
        if empty:
            yield empty[0], "A transfer (BPR04) should name the banks and accounts of both sides"


def _impossible_amounts(bpr: Segment) -> Iterator[tuple[int, str]]:
    """Yield the reasons why the amount of a payment cannot be, each with its element."""
    amount = parse_cents(get_element(bpr, 2))
    if get_element(bpr, 4) == "NON" and amount:
        yield 2, "BPR02 (amount) should be 0 when nothing is paid (BPR04 of NON)"
    if get_element(bpr, 1) == "H" and amount:
        yield 2, "BPR02 (amount) should be 0 in a notification only (BPR01 of H)"
    if amount is not None and amount < 0:
        yield 2, "BPR02 (amount) should not be negative: a balance owed is forwarded in a PLB"


@rule("X835-PERIOD", loop=("2100", "2110"), kinds=REMIT, snip=7, severity=WARNING, needs=("DTM",))
def period_runs_forward(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A period has both its ends, and the first is not after the last."""
    first, last = ("232", "233") if loop.node.id == "2100" else ("150", "151")
    begin, end = loop.value("DTM", 2, first), loop.value("DTM", 2, last)
    if begin and end and begin > end:
        yield RuleFinding(
            f"The date of DTM*{first} should not be after that of DTM*{last}",
            loop.segment("DTM", last),
            2,
        )
    if first == "150" and bool(begin) != bool(end):
        yield RuleFinding(
            "The period of a service should have both ends (DTM*150 and DTM*151)",
            loop.segment("DTM", "150", "151"),
        )
    if first == "150" and (begin or end) and loop.segment("DTM", "472"):
        yield RuleFinding(
            "A service should have one date (DTM*472) or a period, not both",
            loop.segment("DTM", "472"),
        )


@rule("X835-DATED", loop="2100", kinds=REMIT, snip=7, severity=WARNING)
def claim_has_a_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim, or each of its lines, has a service date."""
    lines = list(loop.loops("2110"))
    if loop.segment("DTM", "232", "233") or (lines and all(line.segment("DTM") for line in lines)):
        return
    if get_element(_head(loop.items[0]), 2) != "25":
        yield RuleFinding(
            "The claim (DTM*232) or each of its lines (DTM*472) should have a service date"
        )


@rule("X835-GROUP", loop=("2100", "2110"), kinds=REMIT, snip=5, severity=WARNING, needs=("CAS",))
def reason_goes_with_its_group(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A reason code that its list restricts to some groups is in one of them."""
    restricted = codes.load_column("carc", 2)
    for cas, at in _reasons(loop):
        if cas[at] in restricted and cas[1] not in restricted[cas[at]].split():
            wanted = " or ".join(restricted[cas[at]].split())
            yield RuleFinding(f"This reason code should be in group {wanted}", cas, at)


@rule(
    "X835-GROUP-AGAIN", loop=("2100", "2110"), kinds=REMIT, snip=7, severity=WARNING, needs=("CAS",)
)
def adjustments_of_a_group_share_a_segment(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Adjustments of one group are in one CAS until it is full."""
    full: dict[str, bool] = {}
    for cas in loop.segments("CAS"):
        group = get_element(cas, 1)
        if full.get(group) is False:
            yield RuleFinding(
                "Adjustments of one group should be in one CAS until its six places are filled",
                cas,
                1,
            )
        full[group] = bool(get_element(cas, 18))


@rule("X835-ZERO", loop=("2100", "2110"), kinds=REMIT, snip=7, severity=WARNING, needs=("CAS",))
def adjustments_change_something(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An adjustment is not zero."""
    yield from zero_adjustments(loop)


@rule(
    "X835-REMARK",
    loop=("2100", "2110"),
    kinds=REMIT,
    snip=5,
    severity=WARNING,
    needs=("LQ", "MIA", "MOA"),
)
def remark_codes_have_their_form(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A remark code has the form of its list."""
    known = codes.load("rarc")
    for lq in loop.segments("LQ", "HE"):
        if get_element(lq, 2) not in known:
            yield RuleFinding(f"LQ02 (code) should be {_FORM}", lq, 2)
    for id, places in REMARK_PLACES.items():
        for segment in loop.segments(id):
            for at in places:
                if get_element(segment, at) and get_element(segment, at) not in known:
                    yield RuleFinding(f"{id}{at:02} should be {_FORM}", segment, at)


@rule(
    "X835-REMARK-MISSING",
    loop="2100",
    kinds=REMIT,
    snip=5,
    severity=WARNING,
    needs=("CAS", "2110/CAS"),
)
def reason_that_needs_a_remark_has_one(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A reason code that requires a remark code has one."""
    needing = codes.load_column("carc", 3)
    for part in (loop, *loop.loops("2110")):
        for cas, at in _reasons(part):
            if cas[at] in needing and not part.segment("LQ") and not _has_remark(loop):
                yield RuleFinding(
                    "This reason code should come with a remark code (LQ, MOA or MIA)", cas, at
                )


@rule("X835-WITHDRAWN", loop=("2100", "2110"), kinds=REMIT, snip=5, severity=INFO, needs=("CAS",))
def reason_is_current(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A reason code is still active in its list."""
    withdrawn = codes.load_column("carc", 4)
    for cas, at in _reasons(loop):
        if cas[at] in withdrawn:
            yield RuleFinding("This reason code was withdrawn from its list", cas, at)


def adjustments(loop: Loop, group: str = "") -> int | None:
    """Return the sum of a loop's own CAS amounts in cents, of one group or all; None if one is no amount."""
    total = 0
    for cas in loop.items:
        if cas.__class__ is not list or cas[0] != "CAS" or (group and get_element(cas, 1) != group):
            continue
        for text in cas[3::3]:
            if text:
                amount = parse_cents(text)
                if amount is None:
                    return None
                total += amount
    return total


def provider_adjustments(loop: Loop) -> int | None:
    """Return the sum of the PLB amounts of a set in cents; None if one is no amount."""
    total = 0
    for plb in loop.segments("PLB"):
        for at in range(4, len(plb), 2):
            if plb[at]:
                amount = parse_cents(plb[at])
                if amount is None:
                    return None
                total += amount
    return total


def _interest_places(loop: Loop) -> Iterator[tuple[Segment, int]]:
    """Yield each PLB amount of reason L6: segment and element."""
    for plb in loop.segments("PLB"):
        for at in range(4, len(plb), 2):
            if split_components(plb[at - 1])[0] == INTEREST:
                yield plb, at


def _reasons(loop: Loop) -> Iterator[tuple[Segment, int]]:
    """Yield each reason code of the loop's own CAS segments: segment and element."""
    for cas in loop.items:
        if cas.__class__ is list and cas[0] == "CAS":
            for at in range(2, len(cas), 3):
                yield cas, at


def _has_remark(loop: Loop) -> bool:
    """Return whether the claim itself has a remark code."""
    return any(
        get_element(segment, at)
        for id, places in REMARK_PLACES.items()
        for segment in loop.segments(id)
        for at in places
    )


def _head(item: Segment | Loop) -> Segment:
    """Return the first item of a loop, which is the segment that opens it."""
    assert not isinstance(item, Loop), "a loop begins with a segment"
    return item


def _cents(item: Segment | Loop, at: int) -> int | None:
    return parse_cents(get_element(_head(item), at))


def _plus(total: int | None, amount: int | None) -> int | None:
    return None if total is None or amount is None else total + amount
