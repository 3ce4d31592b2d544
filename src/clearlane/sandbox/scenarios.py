"""What becomes of a claim: THE table of insured ids, and the page that documents it.

A scenario says on which days what is answered and how it is decided. The insured's id of a claim picks it; an id
that is not in the table is decided by the plan. Knows claims as the payer read them; knows no file and no clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from clearlane.kernel.limits import SANDBOX_DAY_SECONDS, SANDBOX_SLOW_SECONDS
from clearlane.sandbox import plan
from clearlane.sandbox.model import (
    DENIED,
    Claim,
    Decision,
    LineDecision,
    Manner,
    Refusal,
    Say,
)

ACKNOWLEDGED_AFTER_DAYS, PAID_AFTER_DAYS = 1, 14
DEDUCTIBLE, COINSURANCE, WRITE_OFF = Decimal(50), Decimal("0.20"), Decimal("0.20")
CORRECTION = Decimal("0.25")
FIRST_RESERVED, LAST_RESERVED = 3016, 3999
INTEREST = Decimal("0.01")
"""What is paid on top of a claim that was pended, as a share of its payment."""

Decide = Callable[[Claim], Decision]


@dataclass(frozen=True, slots=True)
class Act:
    """One answer of a scenario, so many days after the claim arrived."""

    day: int
    say: Say
    manner: Manner = Manner.PLAIN


_TOLD = Act(ACKNOWLEDGED_AFTER_DAYS, Say.ACKNOWLEDGE)
_PAID = Act(PAID_AFTER_DAYS, Say.REMIT)
USUAL = (_TOLD, _PAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A row of the table."""

    id: str
    words: str
    figures: str = ""
    """What is paid, in words."""
    acts: tuple[Act, ...] = USUAL
    decide: Decide | None = None
    """None: the plan decides."""
    correct: Decide | None = None
    """How a second look decides, after the payment is taken back."""
    refusal: Refusal | None = None
    own_files: bool = False
    """Whether its answers stand in files of their own, so that no other claim shares what befalls them."""
    interest: bool = False


def in_full(claim: Claim) -> Decision:
    """Every line paid as charged."""
    lines = tuple(plan.adjusted(line.charge, line.charge) for line in claim.lines)
    return Decision(code=plan.processed(claim), lines=lines)


def with_shares(claim: Claim) -> Decision:
    """A fifth written off, then the deductible from the first lines on, then a fifth as coinsurance."""
    left, lines = DEDUCTIBLE, []
    for line in claim.lines:
        off = plan.cents(line.charge * WRITE_OFF)
        allowed = line.charge - off
        first = min(left, allowed)
        left -= first
        share = plan.cents((allowed - first) * COINSURANCE)
        parts = (("CO", "45", off), ("PR", "1", first), ("PR", "2", share))
        lines.append(plan.adjusted(line.charge, allowed - first - share, *parts))
    return Decision(code=plan.processed(claim), lines=tuple(lines))


def denied(claim: Claim) -> Decision:
    """Nothing is paid: not medically necessary."""
    return Decision(code=DENIED, lines=tuple(_denied(line.charge) for line in claim.lines))


def duplicate(claim: Claim) -> Decision:
    """Nothing is paid: the claim was seen before."""
    lines = tuple(plan.turned_down(line.charge, "OA", "18") for line in claim.lines)
    return Decision(code=DENIED, lines=lines)


def less_on_review(claim: Claim) -> Decision:
    """A quarter written off."""
    offs = [plan.cents(line.charge * CORRECTION) for line in claim.lines]
    lines = tuple(
        plan.adjusted(line.charge, line.charge - off, ("CO", "45", off))
        for line, off in zip(claim.lines, offs, strict=True)
    )
    return Decision(code=plan.processed(claim), lines=lines, remarks=("MA67",))


def forwarded(claim: Claim) -> Decision:
    """Four fifths paid, the rest is coinsurance, and the claim goes on to another payer."""
    shares = [plan.cents(line.charge * COINSURANCE) for line in claim.lines]
    lines = tuple(
        plan.adjusted(line.charge, line.charge - share, ("PR", "2", share))
        for line, share in zip(claim.lines, shares, strict=True)
    )
    return Decision(code="19", lines=lines, remarks=("MA18",), forwarded=True)


def last_line_denied(claim: Claim) -> Decision:
    """Every line paid as charged but the last, which is denied."""
    paid = tuple(plan.adjusted(line.charge, line.charge) for line in claim.lines[:-1])
    last = tuple(_denied(line.charge) for line in claim.lines[-1:])
    return Decision(code=plan.processed(claim) if paid else DENIED, lines=(*paid, *last))


def _denied(charge: Decimal) -> LineDecision:
    return plan.turned_down(charge, "CO", "50", "N115")


REFUSED_IN_999 = "3005"
REFUSED_IN_TA1 = "3006"
_IN_FULL = "Paid as charged."

SCENARIOS: dict[str, Scenario] = {
    row.id: row
    for row in (
        Scenario(id="3001", words="Paid in full", figures=_IN_FULL, decide=in_full),
        Scenario(
            id="3002",
            words="Deductible and coinsurance",
            figures="20 % of each line is written off (CO-45), 50.00 of the claim is deductible (PR-1), 20 % of what remains is coinsurance (PR-2).",
            decide=with_shares,
        ),
        Scenario(
            id="3003",
            words="Denied",
            figures="Nothing is paid; each line CO-50 with remark N115. CLP02 is 4.",
            decide=denied,
        ),
        Scenario(
            id="3004",
            words="Refused in the 277CA",
            figures="Status A7:562:85: the billing provider's NPI.",
            acts=(_TOLD,),
            refusal=Refusal(category="A7", status="562", entity="85"),
        ),
        Scenario(
            id=REFUSED_IN_999,
            words="Refused in the 999, this claim only",
            figures="The set is refused (IK5 R). IK3 and IK4 name the procedure code of the claim's first line, code 7; the other claims of the set are to be sent again in a new one.",
            acts=(),
        ),
        Scenario(
            id=REFUSED_IN_TA1,
            words="The whole interchange refused by TA1",
            figures="Note 024. Every claim of the interchange is refused: send it in a document of its own.",
            acts=(),
        ),
        Scenario(
            id="3007",
            words="Pended, then paid",
            figures="Status P2:46 in a 277. Then paid as charged, with 1 % interest in the PLB (L6).",
            acts=(_TOLD, Act(5, Say.PEND), Act(21, Say.REMIT)),
            decide=in_full,
            interest=True,
        ),
        Scenario(
            id="3008",
            words="Paid, then reversed and corrected",
            figures="Paid as charged. Then taken back (CLP02 22) and paid anew with 25 % of each line written off (CO-45, remark MA67). Where that leaves less than nothing, the balance is forwarded in the PLB (FB) and taken from the provider's next payment.",
            acts=(_TOLD, _PAID, Act(28, Say.CORRECT)),
            decide=in_full,
            correct=less_on_review,
        ),
        Scenario(
            id="3009",
            words="Never answered",
            figures="The 999 accepts the set; nothing follows.",
            acts=(),
        ),
        Scenario(
            id="3010",
            words="Duplicate",
            figures="Nothing is paid; each line OA-18. CLP02 is 4.",
            decide=duplicate,
        ),
        Scenario(
            id="3011",
            words="Paid and forwarded to a secondary payer",
            figures="80 % is paid, 20 % is coinsurance (PR-2). CLP02 is 19, NM1*TT names the next payer, remark MA18.",
            decide=forwarded,
        ),
        Scenario(
            id="3012",
            words="The 835 arrives before the 277CA",
            figures=_IN_FULL,
            acts=(Act(5, Say.REMIT), Act(9, Say.ACKNOWLEDGE)),
            decide=in_full,
        ),
        Scenario(
            id="3013",
            words="An unreadable answer first, the true one a day later",
            figures=f"A web page in place of the 277CA, half a file in place of the 835. {_IN_FULL}",
            acts=(
                Act(1, Say.ACKNOWLEDGE, Manner.PAGE),
                Act(2, Say.ACKNOWLEDGE),
                Act(14, Say.REMIT, Manner.CUT),
                Act(15, Say.REMIT),
            ),
            decide=in_full,
            own_files=True,
        ),
        Scenario(
            id="3014",
            words="Partial denial by line",
            figures="The last line is denied (CO-50, remark N115), the others are paid as charged. A claim of one line is denied.",
            decide=last_line_denied,
        ),
        Scenario(
            id="3015",
            words="Answered twice",
            figures=f"Each file comes again a day later under another name. {_IN_FULL}",
            acts=(
                Act(1, Say.ACKNOWLEDGE),
                Act(2, Say.ACKNOWLEDGE, Manner.AGAIN),
                Act(14, Say.REMIT),
                Act(15, Say.REMIT, Manner.AGAIN),
            ),
            decide=in_full,
            own_files=True,
        ),
    )
}

RESERVED = Scenario(
    id=f"{FIRST_RESERVED} to {LAST_RESERVED}",
    words="Reserved",
    figures="Refused in the 277CA as not found (A3:33), which says that the id is reserved.",
    acts=(_TOLD,),
    refusal=Refusal(
        category="A3",
        status="33",
        words="NOT FOUND. INSURED IDS 3016 TO 3999 ARE RESERVED BY THE SANDBOX.",
    ),
)
BY_PLAN = Scenario(id="any other", words="Decided by the plan", figures="See the plans below.")


def scenario_of(member: str) -> Scenario:
    """The scenario that an insured's id picks."""
    known = SCENARIOS.get(member)
    if known is not None:
        return known
    number = int(member) if len(member) == 4 and member.isascii() and member.isdigit() else 0
    return RESERVED if FIRST_RESERVED <= number <= LAST_RESERVED else BY_PLAN


def page() -> Iterator[str]:
    """The reference page of the sandbox, as Markdown."""
    yield "# Sandbox payers"
    yield ""
    yield (
        "A sandbox's test payers take claims and answer them as payers do: TA1 and 999 at once, a 277CA after "
        f"{ACKNOWLEDGED_AFTER_DAYS} day, an 835 after {PAID_AFTER_DAYS} days. They read the file alone. What a "
        "strict payer refuses they refuse: a fault of the interchange by TA1, a fault in a set by 999 with its "
        "position, and what needs the payer's own knowledge in the 277CA."
    )
    yield ""
    yield "## Insured ids that steer the outcome"
    yield ""
    yield (
        "The insured's id of a claim (`F01A_InsuredId`, dental `F15_InsuredID`) picks what happens. Days "
        "are counted from the day the claim arrives. The checks a payer makes on its own are left out for these ids."
    )
    yield ""
    yield "| Insured id | What happens | Answers, by day | Figures |"
    yield "|---|---|---|---|"
    for row in (*SCENARIOS.values(), RESERVED, BY_PLAN):
        yield f"| `{row.id}` | {row.words} | {_days(row)} | {row.figures} |"
    yield ""
    yield from _checks_page()
    yield from _plan_page("Medical plan", plan.MEDICAL)
    yield from _plan_page("Dental plan", plan.DENTAL)
    yield from _rest_of_the_page()


_SHOWN = {
    Manner.PLAIN: "{}",
    Manner.PAGE: "a web page for the {}",
    Manner.CUT: "half of the {}",
    Manner.AGAIN: "the {} again",
}
_NAMES = {Say.CORRECT: "835 with reversal and correction"}


def _days(row: Scenario) -> str:
    at_once = {REFUSED_IN_999: "999 at once", REFUSED_IN_TA1: "TA1 at once"}.get(row.id)
    told = [
        f"{act.day}: {_SHOWN[act.manner].format(_NAMES.get(act.say, act.say.value))}"
        for act in row.acts
    ]
    return at_once or ", ".join(told) or "none after the 999"


def _checks_page() -> Iterator[str]:
    from clearlane.sandbox.checks import CHECKS

    yield "## What a payer checks on its own"
    yield ""
    yield "A claim that fails is refused in the 277CA; every check that fails is told."
    yield ""
    yield "| Status | What must be true |"
    yield "|---|---|"
    for check in CHECKS:
        refusal = check.refusal
        code = ":".join(filter(None, (refusal.category, refusal.status, refusal.entity)))
        yield f"| `{code}` | {check.sentence} |"
    yield ""


def _plan_page(title: str, terms: plan.Terms) -> Iterator[str]:
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
    yield f"Covered so often in a calendar year, then PR-119 with remark N362: {limits}."
    yield ""


def _percent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f} %"


def _rest_of_the_page() -> Iterator[str]:
    yield "## What the plans have in common"
    yield ""
    yield from (
        "* What a patient has used of deductible, maximum and frequencies is remembered. A claim with the same "
        "patient, provider, services, days and charges as one before is denied as a duplicate (OA-18).",
        "* Where the payer is not the first (`SBR01` other than P), it pays at most what earlier payers left of "
        "what it allows; what they paid is OA-23. CLP02 is 2 or 3.",
        "* A replacement (frequency 7) or void (8) that names one of the payer's claim numbers takes the first "
        "payment back (CLP02 22). A replacement is then decided anew; a void is answered with OA-96 and remark MA67.",
        "* A dental predetermination is priced and not paid: CLP02 is 25, and what would be paid is OA-101.",
        "* One payment a billing provider and file: an electronic transfer where its NPI ends with an even digit, else a "
        "check, and a notice (NON) where nothing is paid.",
    )
    yield ""
    yield "## Time"
    yield ""
    yield (
        f"A payer's day lasts {SANDBOX_DAY_SECONDS:g} seconds unless the pace is set otherwise. Dates that are "
        "written are the wall clock plus what was explicitly advanced. Advancing moves both; freezing stops the "
        "payers' days only. Every scenario that is answered ends within 40 days."
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
