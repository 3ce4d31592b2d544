"""Write the reference pages of the sandbox's payers from their tables: scenarios, checks, plans, enrollments.

Knows the sandbox's tables; decides nothing.
"""

from collections.abc import Iterator
from decimal import Decimal

from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS
from clearlane.payers.samples import SANDBOX_HOP
from clearlane.sandbox import checks, enrollment_scenarios, facility_plan, members, plan, scenarios
from clearlane.sandbox.clock import SANDBOX_DAY_SECONDS
from clearlane.sandbox.model import ResponseStyle, ResponseType
from clearlane.sandbox.responses import benefits
from clearlane.sandbox.responses.styles import PLAIN, STYLES
from tools.docs.payment_examples import payment_examples_page


def scenarios_page() -> Iterator[str]:
    """Yield the reference page of the sandbox payers, as lines of Markdown."""
    yield "# Sandbox payers"
    yield ""
    yield (
        "A sandbox's test payers take claims and answer them as payers do: TA1 and 999 at once, a 277CA after "
        f"{scenarios.ACKNOWLEDGED_AFTER_DAYS} day, an 835 after {scenarios.PAID_AFTER_DAYS} days. They read only the file. They "
        "refuse what a strict payer refuses: a fault of the interchange by TA1, a fault in a set by 999 with its "
        "position, and what needs the payer's own knowledge in the 277CA."
    )
    yield ""
    served = ", ".join(
        f"{one.type.lower()} `{one.payer_id}` (`{one.hop_payer_id}` there)"
        for one in SANDBOX_HOP.served
    )
    yield (
        f"{SANDBOX_HOP.name} (`{SANDBOX_HOP.id}`) is an [upstream clearinghouse](../how-to/upstream-hop.md) over which alone some "
        f"payers are reached: {served}. It answers a file at once with a 999, a 277CA of its own (`NM1*AY`) and a report in "
        "words; what its payers answer follows on their days, by the same scenarios."
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
    for row in (*scenarios.SCENARIOS.values(), scenarios.RESERVED, scenarios.BY_PLAN):
        yield f"| `{row.id}` | {row.title} | {_days(row)} | {row.figures} |"
    yield ""
    yield from payment_examples_page()
    yield from _claim_checks()
    yield from _plan("Medical plan", plan.MEDICAL)
    yield from _plan("Plan for facilities (no real pricing)", plan.FACILITY)
    yield from _plan("Dental plan", plan.DENTAL)
    yield from _plans_in_common()
    yield from _enrollments()
    yield from _time_and_trouble()


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


def _days(row: scenarios.Scenario) -> str:
    at_once = {
        scenarios.REFUSED_IN_999: "999 at once",
        scenarios.REFUSED_IN_TA1: "TA1 at once",
    }.get(row.id)
    texts = [
        f"{response.day}: {_STYLE_TEXTS[response.style].format(_TYPE_TEXTS.get(response.type, response.type.value))}"
        for response in row.responses
    ]
    return at_once or ", ".join(texts) or "none after the 999"


def _claim_checks() -> Iterator[str]:
    yield "## What a payer checks on its own"
    yield ""
    yield "A claim that fails is rejected in the 277CA with every check that failed."
    yield ""
    yield "| Status | What must be true |"
    yield "|---|---|"
    for check in checks.CHECKS:
        refusal = check.refusal
        code = ":".join(filter(None, (refusal.category, refusal.status, refusal.entity)))
        yield f"| `{code}` | {check.sentence} |"
    yield ""


def _plan(title: str, terms: plan.PlanTerms) -> Iterator[str]:
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
    if terms is plan.FACILITY:
        yield from _stays()
        return
    bundles = (
        f"`{part}` is part of {' and '.join(f'`{one}`' for one in sorted(whole))}"
        for part, whole in terms.bundles.items()
    )
    yield f"Bundled on the same day (CO-97, remark M15): {'; '.join(bundles)}."
    yield ""
    limits = ", ".join(f"`{code}` {times}" for code, times in terms.limits.items())
    yield f"Covered this many times in a calendar year, then PR-119 with remark N362: {limits}."
    yield ""


def _stays() -> Iterator[str]:
    yield (
        "These figures are for bills of outpatients and home care, by the line; the remittance has one MOA. What is allowed for a "
        "stay is divided among its lines by their charges, and the remittance has one MIA:"
    )
    yield ""
    weights = ", ".join(f"`{group}` {weight}" for group, weight in facility_plan.WEIGHTS.items())
    rates = ", ".join(f"{type}x {rate}.00" for type, rate in facility_plan.DAY_RATES.items())
    frequencies = ", ".join(sorted(facility_plan.WHOLE_STAY))
    yield from (
        f"* A hospital stay (type of bill 11, frequencies {frequencies}) with one of these groups (HI*DR) is worth "
        f"{facility_plan.BASE_RATE}.00 by the weight of the group: {weights}. CLP11 to CLP13 have group, weight and 1. Of a charge "
        f"above {facility_plan.OUTLIER_FROM} times of that, {_percent(facility_plan.OUTLIER_SHARE)} is added (MIA02).",
        f"* Other stays and interim bills are worth a day's rate by the covered days (value 80), else the days of the statement: "
        f"{rates}, others {facility_plan.OTHER_DAY_RATE}.00.",
        "* Interim bills (frequencies 2, 3, 4) and late charges (5) are each paid on their own; a bill from the admission on with "
        "frequency 7 or Q that names the last one takes that back.",
        "* A notice (frequencies A to E) is accepted in the 277CA, and no remittance follows.",
    )
    yield ""


def _percent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f} %"


def _plans_in_common() -> Iterator[str]:
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


def _time_and_trouble() -> Iterator[str]:
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


def _enrollments() -> Iterator[str]:
    """Yield the part of the reference page about enrollments, as lines of Markdown."""
    yield "## Enrollments"
    yield ""
    yield (
        "A payer that takes claims only from enrolled providers answers an enrollment "
        f"{enrollment_scenarios.ENROLLMENT_ANSWER_DAYS} days after it was submitted, by the payers' days. The end of the provider's tax id "
        "(`Tin`) selects the answer. An operator can approve or refuse first; what a person decided stays."
    )
    yield ""
    yield "| Tax id ends with | What happens | Event, by day | Reason |"
    yield "|---|---|---|---|"
    for row in (
        *enrollment_scenarios.ENROLLMENT_SCENARIOS.values(),
        enrollment_scenarios.ANY_OTHER,
    ):
        ending = f"`{row.ending}`" if row.ending else "anything else"
        yield f"| {ending} | {row.title} | {_enrollment_event(row.answer)} | {row.answer.reason if row.answer else ''} |"
    yield ""


def _enrollment_event(answer: enrollment_scenarios.EnrollmentAnswer | None) -> str:
    if answer is None:
        return "none"
    name = "enrollment.approved" if answer.approves else "enrollment.refused"
    return f"{enrollment_scenarios.ENROLLMENT_ANSWER_DAYS}: `{name}`"


def members_page() -> Iterator[str]:
    """Yield the reference page of the sandbox's eligibility, as lines of Markdown."""
    yield "# Sandbox payers: eligibility"
    yield ""
    yield (
        "A sandbox's test payers answer eligibility inquiries as payers do. They read the 270 alone. What a strict "
        "payer refuses they refuse: a fault of the interchange by TA1, a fault in a set by 999 with its position, "
        "and what needs the payer's own knowledge by AAA in the 271. The trace numbers of the 270 come back in the "
        "271, and the payer adds one of its own. A live payer of a sandbox answers as `TST01` does, a dental one as "
        "`TST02`."
    )
    yield ""
    yield "## Member ids that select the answer"
    yield ""
    yield (
        "The subscriber's member id selects the answer, even if a dependent is asked about. The checks a payer "
        "makes on its own are left out for these ids."
    )
    yield ""
    yield "| Member id | What is answered | How |"
    yield "|---|---|---|"
    for row in (*members.SCENARIOS.values(), members.ANY_OTHER):
        yield f"| `{row.id}` | {row.title} | {row.answer} |"
    yield f"| `{members.RESERVED_IDS}` | Reserved by the interface document | As any other. |"
    yield ""
    yield from _delay()
    yield from _styles()
    yield from _member_checks()
    yield from _benefits("Medical plan", benefits.MEDICAL)
    yield from _benefits("Dental plan", benefits.DENTAL)


def _delay() -> Iterator[str]:
    yield (
        "The delay is in real seconds; advancing the sandbox clock by as much ends it. Patients of one request wait "
        "for each other; requests do not. A 270 that comes in a batch file is answered at once."
    )
    yield ""


def _styles() -> Iterator[str]:
    yield "## How the payers differ"
    yield ""
    yield "| Payer | Style |"
    yield "|---|---|"
    for payer, style in {"TST01": PLAIN, "TST02": PLAIN, **STYLES}.items():
        yield f"| `{payer}` | {style.description} |"
    yield ""


def _member_checks() -> Iterator[str]:
    yield "## What a payer checks on its own"
    yield ""
    yield "| Loop | AAA03 | What must be true |"
    yield "|---|---|---|"
    yield f"| 2100A | `{members.WRONG_PAYER.code}` | The payer that is asked is this one. |"
    yield f"| 2100B | `{members.NO_NPI.code}` | The provider's NPI has a right check digit. |"
    yield f"| 2100C | `{members.NO_MEMBER.code}` | The subscriber has a member id. |"
    for check in members.CHECKS:
        codes = dict.fromkeys((members.code_at(check.code, members.Level.SUBSCRIBER), check.code))
        shown = ", ".join(f"`{code}`" for code in codes)
        yield f"| 2100C, 2100D | {shown} | {check.sentence} |"
    yield ""


def _benefits(title: str, plan: benefits.Plan) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield (
        "Each member has figures of their own, the same for the same member id. They are taken from the amounts "
        "below; what remains of them falls by a twelfth each month. The amounts of a family are twice as high, and are "
        "given if the family is asked about. Outside the network the coinsurance is "
        f"{plan.outside * 100:g} points higher."
    )
    yield ""
    yield "| Benefit | Amounts |"
    yield "|---|---|"
    rows = {
        "Deductible in a calendar year": plan.deductibles,
        "Out-of-pocket maximum in a calendar year": plan.stop_losses,
        "The plan pays at most in a calendar year": plan.maximums,
        "Copayment a visit": plan.copays if plan.visits else (),
        "Coinsurance": plan.shares,
    }
    for name, amounts in rows.items():
        if amounts:
            yield f"| {name} | {', '.join(str(one) for one in amounts)} |"
    yield ""
    yield f"Given if the whole plan is asked about: {_codes(plan.listed)}."
    yield ""
    if plan.visits:
        shown = ", ".join(f"`{code}` {times}" for code, times in plan.visits.items())
        yield f"With copayments, as multiples of the member's: {shown}."
        yield ""
    if plan.tiers:
        shown = ", ".join(f"`{code}` {share}" for code, share in plan.tiers.items())
        yield f"With a coinsurance of their own: {shown}."
        yield ""


def _codes(codes: tuple[str, ...]) -> str:
    return ", ".join(f"`{code}`" for code in codes)
