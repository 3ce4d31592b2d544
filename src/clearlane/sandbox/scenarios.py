"""Claim scenarios: the table of insured ids.

A scenario defines the responses, their days and the decision. The insured's id of a claim selects it; an id that is
not in the table is decided by the plan. Knows claims as the payer read them; knows no file and no clock.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from clearlane.sandbox import plan
from clearlane.sandbox.model import (
    NOT_RECOGNIZED,
    Claim,
    Decision,
    LineDecision,
    Refusal,
    ResponseStyle,
    ResponseType,
    ServiceLine,
)

ACKNOWLEDGED_AFTER_DAYS, PAID_AFTER_DAYS = 1, 14
DEDUCTIBLE, COINSURANCE, WRITE_OFF = Decimal(50), Decimal("0.20"), Decimal("0.20")
CORRECTION = Decimal("0.25")
FIRST_RESERVED, LAST_RESERVED = 3035, 3999
INTEREST = Decimal("0.01")
"""Interest on a claim that was paid late, as a share of its payment."""
RECOVERED, BROUGHT_FORWARD, MISSTATED = Decimal(40), Decimal(30), Decimal(10)

Decide = Callable[[Claim], Decision]


class CorrectionTask(StrEnum):
    """What a claim needs to be paid after it failed, for practicing corrections."""

    ANOTHER_BIRTH_DATE = "another birth date"
    REPLACEMENT = "a replacement"


class AskedStyle(StrEnum):
    """How a payer answers a question about a claim (276)."""

    PLAIN = "plain"
    SLOW = "slow"
    WRONG = "wrong"
    """The answer is about another claim."""
    NEVER = "never"
    BY_DAYS_ALONE = "by days alone"
    """It finds a claim by patient and day, not by its numbers."""
    REFUSED = "refused"
    """It does not know the provider who asks."""
    DOWN = "down"
    """Its system cannot answer."""


@dataclass(frozen=True, slots=True)
class ScenarioResponse:
    """One response of a scenario, some days after the claim arrived."""

    day: int
    type: ResponseType
    style: ResponseStyle = ResponseStyle.PLAIN


_ACKNOWLEDGED = ScenarioResponse(ACKNOWLEDGED_AFTER_DAYS, ResponseType.ACKNOWLEDGE)
_PAID = ScenarioResponse(PAID_AFTER_DAYS, ResponseType.REMIT)
USUAL = (_ACKNOWLEDGED, _PAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A row of the table."""

    id: str
    title: str
    figures: str = ""
    """Description of what is paid."""
    responses: tuple[ScenarioResponse, ...] = USUAL
    decide: Decide | None = None
    """None: the plan decides."""
    correct: Decide | None = None
    """The decision on review, after the payment is reversed."""
    refusal: Refusal | None = None
    task: CorrectionTask | None = None
    """The claim fails by ``refusal`` or ``before_correction`` until this is done, then ``decide`` applies."""
    before_correction: Decide | None = None
    own_files: bool = False
    """Whether its responses are files of their own, so that their faults affect no other claim."""
    interest: bool = False
    withheld: tuple[tuple[str, Decimal], ...] = ()
    """PLB reasons and amounts that its payment is lowered by."""
    misstated: Decimal = Decimal(0)
    """How much too high the amount of its payment is stated (BPR02)."""
    asked: AskedStyle = AskedStyle.PLAIN
    said: tuple[str, ...] = ()
    """What is said of the claim whatever its state: category, status and entity. Empty: where it is."""


def in_full(claim: Claim) -> Decision:
    """Pay every line as charged; after other payers, what the patient still owes for it."""
    lines = tuple(map(_in_full, claim.lines))
    return Decision(code=plan.processed_code(claim), lines=lines)


def _in_full(line: ServiceLine) -> LineDecision:
    return plan.adjusted_line(line.charge, _due(line), _decided_before(line))


def _due(line: ServiceLine) -> Decimal:
    """Return the charge of a line; after other payers, what the patient still owes for it."""
    return line.charge if line.left_by_others is None else line.left_by_others


def _decided_before(line: ServiceLine) -> tuple[str, str, Decimal]:
    """Return what other payers paid and adjusted of a line, as an adjustment."""
    return "OA", "23", line.charge - _due(line)


def with_shares(claim: Claim) -> Decision:
    """Write off a fifth, then apply the deductible from the first line on, then a fifth as coinsurance."""
    left, lines = DEDUCTIBLE, []
    for line in claim.lines:
        off = plan.cents(_due(line) * WRITE_OFF)
        allowed = _due(line) - off
        first = min(left, allowed)
        left -= first
        share = plan.cents((allowed - first) * COINSURANCE)
        parts = (("CO", "45", off), ("PR", "1", first), ("PR", "2", share), _decided_before(line))
        lines.append(plan.adjusted_line(line.charge, allowed - first - share, *parts))
    return Decision(code=plan.processed_code(claim), lines=tuple(lines))


def denied(claim: Claim) -> Decision:
    """Deny every line as not medically necessary, with the CLP02 that many payers still write for a denial."""
    lines = tuple(_denied(line.charge) for line in claim.lines)
    return Decision(code=NOT_RECOGNIZED, lines=lines)


def unauthorized(claim: Claim) -> Decision:
    """Deny every line as not authorized."""
    lines = tuple(plan.denied_line(line.charge, "CO", "197", "M62") for line in claim.lines)
    return Decision(code=plan.processed_code(claim), lines=lines)


def incomplete(claim: Claim) -> Decision:
    """Deny every line because of its procedure code."""
    lines = tuple(plan.denied_line(line.charge, "CO", "16", "N657") for line in claim.lines)
    return Decision(code=plan.processed_code(claim), lines=lines)


def duplicate(claim: Claim) -> Decision:
    """Deny every line as a duplicate."""
    lines = tuple(plan.denied_line(line.charge, "OA", "18") for line in claim.lines)
    return Decision(code=plan.processed_code(claim), lines=lines)


def less_on_review(claim: Claim) -> Decision:
    """Write off a quarter."""
    offs = [plan.cents(line.charge * CORRECTION) for line in claim.lines]
    lines = tuple(
        plan.adjusted_line(line.charge, line.charge - off, ("CO", "45", off))
        for line, off in zip(claim.lines, offs, strict=True)
    )
    return Decision(code=plan.processed_code(claim), lines=lines, remarks=("MA67",))


def forwarded(claim: Claim) -> Decision:
    """Pay four fifths, the rest as coinsurance, and forward the claim to another payer."""
    shares = [plan.cents(line.charge * COINSURANCE) for line in claim.lines]
    lines = tuple(
        plan.adjusted_line(line.charge, line.charge - share, ("PR", "2", share))
        for line, share in zip(claim.lines, shares, strict=True)
    )
    return Decision(code="19", lines=lines, remarks=("MA18",), forwarded=True)


def all_deductible(claim: Claim) -> Decision:
    """Pay nothing: every line is deductible."""
    parts = ((line.charge, ("PR", "1", line.charge)) for line in claim.lines)
    lines = tuple(plan.adjusted_line(charge, Decimal(0), part) for charge, part in parts)
    return Decision(code=plan.processed_code(claim), lines=lines)


def last_line_denied(claim: Claim) -> Decision:
    """Pay every line as charged, and deny the last."""
    paid = tuple(plan.adjusted_line(line.charge, line.charge) for line in claim.lines[:-1])
    last = tuple(_denied(line.charge) for line in claim.lines[-1:])
    return Decision(code=plan.processed_code(claim), lines=(*paid, *last))


def _denied(charge: Decimal) -> LineDecision:
    return plan.denied_line(charge, "CO", "50", "N115")


REFUSED_IN_999 = "3005"
REFUSED_IN_TA1 = "3006"
_IN_FULL = "Paid as charged."
_REST = "After another payer, that is what the patient still owes for each line (AMT*EAF); the rest is OA-23."

SCENARIOS: dict[str, Scenario] = {
    row.id: row
    for row in (
        Scenario(id="3001", title="Paid in full", figures=f"{_IN_FULL} {_REST}", decide=in_full),
        Scenario(
            id="3002",
            title="Deductible and coinsurance",
            figures="20 % of each line is written off (CO-45), 50.00 of the claim is deductible (PR-1), 20 % of what remains is coinsurance (PR-2). "
            "After another payer, the same of what the patient still owes (AMT*EAF); the rest is OA-23.",
            decide=with_shares,
        ),
        Scenario(
            id="3003",
            title="Denied",
            figures="Nothing is paid; each line CO-50 with remark N115. CLP02 is 4, as many payers still write it: in the 835 guide 4 is only for a patient who is not recognized.",
            decide=denied,
        ),
        Scenario(
            id="3004",
            title="Refused in the 277CA",
            figures="Status A7:562:85: the billing provider's NPI.",
            responses=(_ACKNOWLEDGED,),
            refusal=Refusal(category="A7", status="562", entity="85"),
        ),
        Scenario(
            id=REFUSED_IN_999,
            title="Rejected in the 999, this claim only",
            figures="The set is refused (IK5 R). IK3 and IK4 name the procedure code of the claim's first line, code 7; the other claims of the set are to be sent again in a new one.",
            responses=(),
        ),
        Scenario(
            id=REFUSED_IN_TA1,
            title="The whole interchange refused by TA1",
            figures="Note 024. Every claim of the interchange is rejected: send it in a document of its own.",
            responses=(),
        ),
        Scenario(
            id="3007",
            title="Pended, then paid",
            figures="Status P2:46 in a 277. Then paid as charged, with 1 % interest (AMT*I and PLB L6).",
            responses=(
                _ACKNOWLEDGED,
                ScenarioResponse(5, ResponseType.PEND),
                ScenarioResponse(21, ResponseType.REMIT),
            ),
            decide=in_full,
            interest=True,
        ),
        Scenario(
            id="3008",
            title="Paid, then reversed and corrected",
            figures="Paid as charged. Then taken back (CLP02 22) and paid again with 25 % of each line written off (CO-45, remark MA67). If that leaves less than nothing, the balance is forwarded in the PLB (FB) and taken from the provider's next payment.",
            responses=(_ACKNOWLEDGED, _PAID, ScenarioResponse(28, ResponseType.CORRECT)),
            decide=in_full,
            correct=less_on_review,
        ),
        Scenario(
            id="3009",
            title="Never answered",
            figures="The 999 accepts the set; nothing follows.",
            responses=(),
        ),
        Scenario(
            id="3010",
            title="Duplicate",
            figures="Nothing is paid; each line OA-18.",
            decide=duplicate,
        ),
        Scenario(
            id="3011",
            title="Paid and forwarded to a secondary payer",
            figures="80 % is paid, 20 % is coinsurance (PR-2). CLP02 is 19, NM1*TT names the next payer, remark MA18.",
            decide=forwarded,
        ),
        Scenario(
            id="3012",
            title="The 835 arrives before the 277CA",
            figures=_IN_FULL,
            responses=(
                ScenarioResponse(5, ResponseType.REMIT),
                ScenarioResponse(9, ResponseType.ACKNOWLEDGE),
            ),
            decide=in_full,
        ),
        Scenario(
            id="3013",
            title="An unreadable answer first, the true one a day later",
            figures=f"A web page in place of the 277CA, half a file in place of the 835. {_IN_FULL}",
            responses=(
                ScenarioResponse(1, ResponseType.ACKNOWLEDGE, ResponseStyle.WEB_PAGE),
                ScenarioResponse(2, ResponseType.ACKNOWLEDGE),
                ScenarioResponse(14, ResponseType.REMIT, ResponseStyle.TRUNCATED),
                ScenarioResponse(15, ResponseType.REMIT),
            ),
            decide=in_full,
            own_files=True,
        ),
        Scenario(
            id="3014",
            title="Partial denial by line",
            figures="The last line is denied (CO-50, remark N115), the others are paid as charged. A claim of one line is denied.",
            decide=last_line_denied,
        ),
        Scenario(
            id="3015",
            title="Answered twice",
            figures=f"Each file comes again a day later under another name. {_IN_FULL}",
            responses=(
                ScenarioResponse(1, ResponseType.ACKNOWLEDGE),
                ScenarioResponse(2, ResponseType.ACKNOWLEDGE, ResponseStyle.REPEATED),
                ScenarioResponse(14, ResponseType.REMIT),
                ScenarioResponse(15, ResponseType.REMIT, ResponseStyle.REPEATED),
            ),
            decide=in_full,
            own_files=True,
        ),
        Scenario(
            id="3016",
            title="Refused in the 277CA until it is corrected",
            figures=f"Status A7:158:QC: the patient's birth date. Sent again with another birth date: {_IN_FULL.lower()}",
            refusal=Refusal(category="A7", status="158", entity="QC"),
            task=CorrectionTask.ANOTHER_BIRTH_DATE,
            decide=in_full,
        ),
        Scenario(
            id="3017",
            title="Denied until it is replaced",
            figures="Nothing is paid; each line CO-16 with remark N657. A replacement (frequency 7) that names the payer's claim number and differs in a code, modifier, day or charge takes the denial back: "
            + _IN_FULL.lower(),
            task=CorrectionTask.REPLACEMENT,
            before_correction=incomplete,
            decide=in_full,
        ),
        Scenario(
            id="3018",
            title="Denied, by its reasons alone",
            figures="Nothing is paid; each line CO-197 with remark M62. CLP02 is 1, 2 or 3, as the 835 guide wants it of a known patient: the reasons make it a denial.",
            decide=unauthorized,
        ),
        Scenario(
            id="3019",
            title="Paid, less an earlier overpayment",
            figures=f"{_IN_FULL} The check is {RECOVERED}.00 less: the payer recovers an overpayment (PLB WO, with its claim number).",
            decide=in_full,
            withheld=(("WO", RECOVERED),),
        ),
        Scenario(
            id="3020",
            title="Paid with interest",
            figures="Paid as charged, with 1 % interest (AMT*I and PLB L6), in the check of the day's other claims.",
            decide=in_full,
            interest=True,
        ),
        Scenario(
            id="3021",
            title="Paid, less a balance from before",
            figures=f"{_IN_FULL} The check is {BROUGHT_FORWARD}.00 less: a balance that an earlier payment left (PLB FB).",
            decide=in_full,
            withheld=(("FB", BROUGHT_FORWARD),),
        ),
        Scenario(
            id="3022",
            title="Paid, then reversed, and corrected in another file",
            figures="As `3008`, but the reversal (CLP02 22) comes alone, and the correction in the next day's file.",
            responses=(
                _ACKNOWLEDGED,
                _PAID,
                ScenarioResponse(28, ResponseType.REVERSE),
                ScenarioResponse(29, ResponseType.PAY_ANEW),
            ),
            decide=in_full,
            correct=less_on_review,
        ),
        Scenario(
            id="3023",
            title="A check that does not balance",
            figures=f"{_IN_FULL} BPR02 is {MISSTATED}.00 higher than claims and adjustments come to, in a file of its own.",
            decide=in_full,
            own_files=True,
            misstated=MISSTATED,
        ),
        Scenario(
            id="3024",
            title="Paid, and the payment sent again in another file",
            figures=f"{_IN_FULL} A day later the same payment, with the same trace number, comes in another interchange: it counts once.",
            responses=(*USUAL, ScenarioResponse(15, ResponseType.REMIT, ResponseStyle.REENVELOPED)),
            decide=in_full,
            own_files=True,
        ),
        Scenario(
            id="3025",
            title="Nothing paid: the patient owes all",
            figures="Every line is deductible (PR-1): no denial. A zero payment in a file of its own (BPR04 NON).",
            decide=all_deductible,
            own_files=True,
        ),
        Scenario(
            id="3026",
            title="Returned to the provider without a word",
            figures="The 277CA accepts the claim; then nothing comes, as Medicare returns claims. Asked by 276, the payer says A3:562:85: the billing provider's NPI.",
            responses=(_ACKNOWLEDGED,),
            decide=in_full,
            said=("A3", "562", "85"),
        ),
        Scenario(
            id="3027",
            title="Lost after the 277CA",
            figures="The 277CA accepts the claim; then nothing comes. Asked by 276, the payer says A4:35: it does not have it.",
            responses=(_ACKNOWLEDGED,),
            decide=in_full,
            said=("A4", "35"),
        ),
        Scenario(
            id="3028",
            title="Found by patient and day alone",
            figures=f"{_IN_FULL} Asked by 276 with a claim number, an account number or a charge, the payer says D0:35: the search failed. By patient and days it finds the claim.",
            decide=in_full,
            asked=AskedStyle.BY_DAYS_ALONE,
        ),
        Scenario(
            id="3029",
            title="Waits for records",
            figures=f"{_IN_FULL} Until then a 276 is answered R4:294: documents are asked for.",
            responses=(_ACKNOWLEDGED, ScenarioResponse(30, ResponseType.REMIT)),
            decide=in_full,
            said=("R4", "294"),
        ),
        Scenario(
            id="3030",
            title="Asked by 276, answers slowly",
            figures=f"{_IN_FULL} A 277 comes after 30 seconds in real time, after three days by file.",
            decide=in_full,
            asked=AskedStyle.SLOW,
        ),
        Scenario(
            id="3031",
            title="Asked by 276, answers about another claim",
            figures=f"{_IN_FULL} The 277 has another trace number, so it is ignored.",
            decide=in_full,
            asked=AskedStyle.WRONG,
        ),
        Scenario(
            id="3032",
            title="Asked by 276, never answers",
            figures="The 277CA accepts the claim; then nothing comes, and no 276 is answered.",
            responses=(_ACKNOWLEDGED,),
            decide=in_full,
            asked=AskedStyle.NEVER,
        ),
        Scenario(
            id="3033",
            title="Asked by 276, refuses the question",
            figures=f"{_IN_FULL} A 276 is answered E0:24:1P at the provider's level: it says nothing about the claim.",
            decide=in_full,
            asked=AskedStyle.REFUSED,
        ),
        Scenario(
            id="3034",
            title="Asked by 276, cannot answer now",
            figures=f"{_IN_FULL} A 276 is answered E2:0 at the receiver's level: the payer's system does not respond. The question is repeated for a day.",
            decide=in_full,
            asked=AskedStyle.DOWN,
        ),
    )
}

RESERVED = Scenario(
    id=f"{FIRST_RESERVED} to {LAST_RESERVED}",
    title="Reserved",
    figures="Refused in the 277CA as not found (A3:33), which says that the id is reserved.",
    responses=(_ACKNOWLEDGED,),
    refusal=Refusal(
        category="A3",
        status="33",
        message=f"NOT FOUND. INSURED IDS {FIRST_RESERVED} TO {LAST_RESERVED} ARE RESERVED BY THE SANDBOX.",
    ),
)
BY_PLAN = Scenario(id="any other", title="Decided by the plan", figures="See the plans below.")


def scenario_of(member: str) -> Scenario:
    """Return the scenario of an insured's id."""
    known = SCENARIOS.get(member)
    if known is not None:
        return known
    number = int(member) if len(member) == 4 and member.isascii() and member.isdigit() else 0
    return RESERVED if FIRST_RESERVED <= number <= LAST_RESERVED else BY_PLAN
