"""Claim scenarios: the table of insured ids, and the reference page made from it.

A scenario defines the responses, their days and the decision. The insured's id of a claim selects it; an id that is
not in the table is decided by the plan. Knows claims as the payer read them; knows no file and no clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from clearlane.kernel.limits import SANDBOX_DAY_SECONDS, SANDBOX_SLOW_SECONDS
from clearlane.sandbox import plan
from clearlane.sandbox.enrollment_scenarios import enrollment_scenarios_page
from clearlane.sandbox.model import (
    NOT_RECOGNIZED,
    Claim,
    Decision,
    LineDecision,
    Refusal,
    ResponseStyle,
    ResponseType,
)
from clearlane.sandbox.responses.payment_examples import payment_examples_page

ACKNOWLEDGED_AFTER_DAYS, PAID_AFTER_DAYS = 1, 14
DEDUCTIBLE, COINSURANCE, WRITE_OFF = Decimal(50), Decimal("0.20"), Decimal("0.20")
CORRECTION = Decimal("0.25")
FIRST_RESERVED, LAST_RESERVED = 3026, 3999
INTEREST = Decimal("0.01")
"""Interest on a claim that was paid late, as a share of its payment."""
RECOVERED, BROUGHT_FORWARD, MISSTATED = Decimal(40), Decimal(30), Decimal(10)

Decide = Callable[[Claim], Decision]


class CorrectionTask(StrEnum):
    """What a claim needs to be paid after it failed, for practicing corrections."""

    ANOTHER_BIRTH_DATE = "another birth date"
    REPLACEMENT = "a replacement"


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


def in_full(claim: Claim) -> Decision:
    """Pay every line as charged."""
    lines = tuple(plan.adjusted_line(line.charge, line.charge) for line in claim.lines)
    return Decision(code=plan.processed_code(claim), lines=lines)


def with_shares(claim: Claim) -> Decision:
    """Write off a fifth, then apply the deductible from the first line on, then a fifth as coinsurance."""
    left, lines = DEDUCTIBLE, []
    for line in claim.lines:
        off = plan.cents(line.charge * WRITE_OFF)
        allowed = line.charge - off
        first = min(left, allowed)
        left -= first
        share = plan.cents((allowed - first) * COINSURANCE)
        parts = (("CO", "45", off), ("PR", "1", first), ("PR", "2", share))
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

SCENARIOS: dict[str, Scenario] = {
    row.id: row
    for row in (
        Scenario(id="3001", title="Paid in full", figures=_IN_FULL, decide=in_full),
        Scenario(
            id="3002",
            title="Deductible and coinsurance",
            figures="20 % of each line is written off (CO-45), 50.00 of the claim is deductible (PR-1), 20 % of what remains is coinsurance (PR-2).",
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


def page() -> Iterator[str]:
    """Yield the reference page of the sandbox payers, as lines of Markdown."""
    yield "# Sandbox payers"
    yield ""
    yield (
        "A sandbox's test payers take claims and answer them as payers do: TA1 and 999 at once, a 277CA after "
        f"{ACKNOWLEDGED_AFTER_DAYS} day, an 835 after {PAID_AFTER_DAYS} days. They read only the file. They "
        "refuse what a strict payer refuses: a fault of the interchange by TA1, a fault in a set by 999 with its "
        "position, and what needs the payer's own knowledge in the 277CA."
    )
    yield ""
    yield "## Insured ids that select the outcome"
    yield ""
    yield (
        "The insured's id of a claim (`F01A_InsuredId`, dental `F15_InsuredID`) selects what happens. Days "
        "are counted from the day the claim arrives. The checks a payer makes on its own are left out for these ids."
    )
    yield ""
    yield "| Insured id | What happens | Answers, by day | Figures |"
    yield "|---|---|---|---|"
    for row in (*SCENARIOS.values(), RESERVED, BY_PLAN):
        yield f"| `{row.id}` | {row.title} | {_days(row)} | {row.figures} |"
    yield ""
    yield from payment_examples_page()
    yield from _checks_page()
    yield from _plan_page("Medical plan", plan.MEDICAL)
    yield from _plan_page("Dental plan", plan.DENTAL)
    yield from _common_page()
    yield from enrollment_scenarios_page()
    yield from _rest_of_the_page()


_STYLE_TEXTS = {
    ResponseStyle.PLAIN: "{}",
    ResponseStyle.WEB_PAGE: "a web page for the {}",
    ResponseStyle.TRUNCATED: "half of the {}",
    ResponseStyle.REPEATED: "the {} again",
    ResponseStyle.REENVELOPED: "the {} again in another envelope",
}
_TYPE_TEXTS = {
    ResponseType.CORRECT: "835 with reversal and correction",
    ResponseType.REVERSE: "835 with the reversal",
    ResponseType.PAY_ANEW: "835 with the correction",
}


def _days(row: Scenario) -> str:
    at_once = {REFUSED_IN_999: "999 at once", REFUSED_IN_TA1: "TA1 at once"}.get(row.id)
    texts = [
        f"{response.day}: {_STYLE_TEXTS[response.style].format(_TYPE_TEXTS.get(response.type, response.type.value))}"
        for response in row.responses
    ]
    return at_once or ", ".join(texts) or "none after the 999"


def _checks_page() -> Iterator[str]:
    from clearlane.sandbox.checks import CHECKS

    yield "## What a payer checks on its own"
    yield ""
    yield "A claim that fails is rejected in the 277CA with every check that failed."
    yield ""
    yield "| Status | What must be true |"
    yield "|---|---|"
    for check in CHECKS:
        refusal = check.refusal
        code = ":".join(filter(None, (refusal.category, refusal.status, refusal.entity)))
        yield f"| `{code}` | {check.sentence} |"
    yield ""


def _plan_page(title: str, terms: plan.PlanTerms) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield (
        f"The plan allows the fee below for each unit, and {_percent(terms.other)} of the charge for every other "
        f"code, never more than the charge; the rest is written off (CO-45). The deductible is "
        f"{terms.deductible}.00 in a calendar year (PR-1)."
        + (f" It pays at most {terms.maximum}.00 in a year (PR-119)." if terms.maximum else "")
    )
    yield ""
    yield "| Services | Codes | The plan pays | Deductible | Copay |"
    yield "|---|---|---|---|---|"
    for one in terms.categories:
        codes = ", ".join(f"`{prefix}...`" for prefix in one.prefixes if prefix) or "all others"
        copay = f"{one.copay}.00 a claim (PR-3)" if one.copay else "none"
        yield (
            f"| {one.name} | {codes} | {_percent(one.pays)} | {'yes' if one.deductible else 'no'} | {copay} |"
        )
    yield ""
    yield f"Fees: {', '.join(f'`{code}` {fee}.00' for code, fee in terms.fees.items())}."
    yield ""
    bundles = (
        f"`{part}` is part of {' and '.join(f'`{one}`' for one in sorted(whole))}"
        for part, whole in terms.bundles.items()
    )
    yield f"Bundled on the same day (CO-97, remark M15): {'; '.join(bundles)}."
    yield ""
    limits = ", ".join(f"`{code}` {times}" for code, times in terms.limits.items())
    yield f"Covered this many times in a calendar year, then PR-119 with remark N362: {limits}."
    yield ""


def _percent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f} %"


def _common_page() -> Iterator[str]:
    yield "## What the plans have in common"
    yield ""
    yield from (
        "* What a patient has used of deductible, maximum and frequencies is remembered. A claim with the same "
        "patient, provider, services, days and charges as one before is denied as a duplicate (OA-18); a claim that was "
        "refused or denied makes no duplicate of the next one.",
        "* If the payer is not the first (`SBR01` other than P), it pays at most what earlier payers left of "
        "what it allows; what they paid is OA-23. CLP02 is 2 or 3.",
        "* A replacement (frequency 7) or void (8) that names one of the payer's claim numbers takes the first "
        "payment back (CLP02 22). A replacement is then decided again; a void is answered with OA-96 and remark MA67. "
        "Both take a claim of every insured id above that is paid or denied back, too, with its interest (AMT*I and PLB L6); "
        "a replacement is then decided by its own insured id, and a void is answered on the usual days.",
        "* A dental predetermination is priced and not paid: CLP02 is 25, and what would be paid is OA-101.",
        "* One payment per billing provider and file: an electronic transfer if its NPI ends with an even digit, else a "
        "check, and a notice (NON) if nothing is paid.",
    )
    yield ""


def _rest_of_the_page() -> Iterator[str]:
    yield "## Time"
    yield ""
    yield (
        f"A payer's day lasts {SANDBOX_DAY_SECONDS:g} seconds unless the pace is set otherwise. Dates that are "
        "written are the wall clock plus what was explicitly advanced. Advancing moves both; freezing stops the "
        "payers' days only. Claims are gathered for a second of real time before they are sent, or for "
        "`sandbox_window_seconds`. Every scenario that is answered ends within 40 days."
    )
    yield ""
    yield "## Trouble on demand"
    yield ""
    yield "| Mode | What the payer does |"
    yield "|---|---|"
    yield "| `up` | Answers. |"
    yield "| `down` | Cannot be reached; what is due waits. |"
    yield f"| `slow` | Lets every call wait for {SANDBOX_SLOW_SECONDS} seconds. |"
    yield "| `garbage` | Leaves a web page in place of every answer; the true one comes a day later, if it is up then. |"
