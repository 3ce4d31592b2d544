"""C75: other insurance and the decision of an earlier payer. ``cob`` defines the meaning of the fields."""

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter

from clearlane.claims import cob, codes
from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    GUIDE_REQUIRES,
    OUR_FIELDS,
    OUR_WRITER,
    WARNING,
    FieldFinding,
    RuleInputs,
    line_rule,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView, LineView, PayerView
from clearlane.kernel import limits
from clearlane.kernel.formats import format_amount
from clearlane.x12 import codes as x12_codes

# What another insurance must have: of each group one value.
NEEDS = (
    ("insured.last_name",),
    ("insured.policy_number", "insured.member_id"),
    ("insured.relationship",),
    ("name", "plan_name"),
)
DECISION_DAYS = ("lines[].decision.day", "other_payers[0].decision.day")
MEDICARE_REASON = ("medicare_reason",)
ADJUSTMENT = ("group", "reason", "amount")

OtherPayers = tuple[PayerView, ...]


def other_payers(view: ClaimView) -> OtherPayers | None:
    """Return the other payers of a claim, or None if there are none."""
    return view.other_payers or None


@rule(
    "C751",
    paths=[f"other_payers[0].{name}" for names in NEEDS for name in names],
    x12="2330A/NM1/03",
    reading=other_payers,
    not_in_files=GUIDE_REQUIRES,
)
def other_insurance_is_complete(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """Another insurance is given with insured, number, relationship and payer."""
    for at, other in enumerate(others):
        for names in NEEDS:
            if any(attrgetter(name)(other) is not None for name in names):
                continue
            paths = [f"other_payers[{at}].{name}" for name in names]
            known = [path for path in paths if view.form.has(path)]
            missing = " or ".join(view.form.name_of(path) for path in known)
            yield known[0], f"The claim names another insurance, but {missing} is missing; give it."


@rule(
    "C752",
    paths=("other_coverage",),
    x12="2320/SBR",
    severity=WARNING,
    when_filled=("other_coverage",),
)
def flag_agrees(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The mark for other coverage agrees with the fields of the other insurance."""
    if view.other_coverage is False and any(other.is_named for other in view.other_payers):
        yield (
            "other_coverage",
            f"{view.form.name_of('other_coverage')} is false, but another insurance is given, and it is sent; "
            "set it to true.",
        )


@rule(
    "C753",
    paths=DECISION_DAYS,
    x12="2330B/DTP:573/03",
    reading=other_payers,
    covers=("X837-COB-DATE",),
)
def decision_has_a_date(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """An earlier payer's decision has a date: the line's, or the claim's."""
    for index, other in enumerate(others):
        found = other.decision
        if found is None or found.day:
            continue
        for at, line in enumerate(found.lines):
            if line and line.day is None:
                name = view.form.name_of("lines[].decision.day")
                yield (
                    f"lines[{at}].decision.day",
                    f"The earlier payer decided this line, but the day is missing; give {name}.",
                )
        if not any(found.lines):
            path = f"other_payers[{index}].decision.day"
            yield (
                path,
                "The earlier payer decided the claim, but the day is missing; "
                f"give {view.form.name_of(path)}.",
            )


@rule(
    "C754",
    paths=("lines[].decision.paid",),
    x12="2430/SVD/02",
    reading=other_payers,
    covers=("X837-COB-LINE",),
)
def decided_line_is_balanced(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """What was paid for a line and its adjustments make its charge."""
    for other in others:
        decisions = other.decision.lines if other.decision else ()
        for at, decided in enumerate(decisions):
            charge = view.lines[at].charge
            if decided is None or charge is None:
                continue
            explained = decided.paid + cob.total_adjusted(decided.groups)
            if charge != explained:
                yield (
                    f"lines[{at}].decision.paid",
                    f"The line costs {format_amount(charge)}, but {format_amount(decided.paid)} paid and "
                    f"{format_amount(explained - decided.paid)} adjusted make {format_amount(explained)}; give adjustments that explain the difference.",
                )


@rule(
    "C755",
    paths=("earlier_paid", "lines[].decision.paid"),
    x12="2320/AMT:D/02",
    reading=other_payers,
    covers=("X837-COB-CLAIM",),
)
def decided_claim_is_balanced(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """What was paid for the claim and all adjustments make its total."""
    charge = view.total_charge
    for at, other in enumerate(others):
        found = other.decision
        if found is None or charge is None:
            continue
        own = f"other_payers[{at}].decision.paid"
        adjusted = cob.total_adjusted(found.groups) + sum(
            (cob.total_adjusted(line.groups) for line in found.lines if line), cob.ZERO
        )
        if charge != found.paid + adjusted:
            yield (
                own if view.form.has(own) else "earlier_paid",
                f"The claim costs {format_amount(charge)}, but {format_amount(found.paid)} paid and {format_amount(adjusted)} "
                f"adjusted make {format_amount(found.paid + adjusted)}; give what the earlier payer paid and why it did not pay the rest.",
            )


@rule(
    "C756",
    paths=("payer_paid", "earlier_paid"),
    x12="2320/AMT:D/02",
    when_filled=("payer_paid",),
)
def paid_fields_agree(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The two fields for what another payer paid agree."""
    paid, also = view.payer_paid, view.earlier_paid
    if paid and also is not None and paid != also:
        name_of = view.form.name_of
        yield (
            "payer_paid",
            f"{name_of('payer_paid')} is {format_amount(paid)}, {name_of('earlier_paid')} is {format_amount(also)}; "
            "make them equal, or give one.",
        )


@line_rule(
    "C757", paths=("adjustments",), x12="2430/CAS", when_filled=("adjustments",), fixed=GUIDE_FIXES
)
def dental_adjustments_are_complete(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A dental adjustment has a group, a reason of the list, and an amount."""
    reasons = x12_codes.load("carc")
    for at, item in enumerate(line.adjustments):
        for name in ADJUSTMENT:
            if getattr(item, name) is None:
                own = view.form.name_of(f"lines[].adjustments[].{name}")
                yield (
                    f"adjustments[{at}].{name}",
                    f"The adjustment is begun but {own} is missing; give it.",
                )
        if item.reason is not None and item.reason not in reasons:
            yield (
                f"adjustments[{at}].reason",
                f"The reason {quoted(item.reason)} is not on the list; give a claim adjustment reason code.",
            )


@line_rule(
    "C758", paths=("adjustments",), x12="2430/CAS", when_filled=("adjustments",), fixed=GUIDE_FIXES
)
def dental_adjustments_are_few(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """One group has at most six adjustments on a line."""
    for group, count in Counter(item.group for item in line.adjustments).items():
        if count > limits.ADJUSTMENTS_PER_GROUP_MAX:
            yield (
                "adjustments",
                f"The group {group} has {count} adjustments; "
                f"at most {limits.ADJUSTMENTS_PER_GROUP_MAX} can be sent.",
            )


@rule("C759", paths=DECISION_DAYS, x12="2330B/DTP:573/03", reading=other_payers)
def decision_is_past(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """An earlier payer's decision is not in the future."""
    for index, other in enumerate(others):
        found = other.decision
        if found is None:
            continue
        days = [(f"other_payers[{index}].decision.day", found.day)]
        days += [
            (f"lines[{at}].decision.day", line.day) for at, line in enumerate(found.lines) if line
        ]
        for path, day in days:
            if day and day > inputs.today:
                yield path, f"The day {day} is in the future; give a day up to today."


def _medicare_is_second(view: ClaimView, other: PayerView) -> bool:
    """Return whether Medicare pays after another payer, by the types of coverage that the claim states.

    If the other payer decided the claim, the claim's payer is second, else the other payer is.
    """
    second = other if other.decision is None else view.payer
    return second.coverage in codes.MEDICARE


@rule(
    "C760",
    paths=MEDICARE_REASON,
    x12="2000B/SBR/05",
    reading=other_payers,
    not_in_files="An 837 states the order of payers, by which X837-MEDICARE checks each.",
    fixed=GUIDE_FIXES,
)
def second_medicare_has_a_reason(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """Where Medicare pays after another payer, the claim says why."""
    if view.medicare_reason is None and any(_medicare_is_second(view, other) for other in others):
        yield (
            "medicare_reason",
            "Medicare pays after another payer, and the claim does not say why; "
            f"give {view.form.name_of('medicare_reason')}: "
            f"{codes.accepted_values('medicare_secondary_reason')}.",
        )


@rule(
    "C761",
    paths=MEDICARE_REASON,
    x12="2000B/SBR/05",
    severity=WARNING,
    when_filled=MEDICARE_REASON,
    not_in_files=OUR_WRITER,
)
def reason_has_a_second_medicare(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The reason why Medicare pays second comes with a Medicare that pays second; without one it is not sent."""
    if view.medicare_reason is not None and not any(
        _medicare_is_second(view, other) for other in view.other_payers
    ):
        second = "payer" if view.decision else "other_payers[0]"
        yield (
            "medicare_reason",
            "There is a reason why Medicare pays second, but by their types of coverage no payer that pays second "
            f"is Medicare, so it is not sent; give {view.form.name_of(f'{second}.coverage')} "
            "as MA or MB, or leave the reason out.",
        )


@rule(
    "C766",
    paths=("other_payers[0].insured.policy_number", "other_payers[0].insured.member_id"),
    x12="2330A/NM1/09",
    severity=WARNING,
    when_filled=("other_payers[0].insured.policy_number",),
)
def other_insured_has_a_member_id(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Another insured is named by a member id; box 9a is a policy or group number, and without an id it is sent as both."""
    for at, other in enumerate(view.other_payers):
        if other.insured.policy_number is not None and other.insured.member_id is None:
            path = f"other_payers[{at}].insured.member_id"
            yield (
                path,
                "The claim states no member id of the other insured, which an 837 must have; the policy or group number of "
                f"box 9a is sent in its place too. Give {view.form.name_of(path)}.",
            )


@rule(
    "C768",
    paths=("other_payers[0].decision.paid", "lines[].decision.paid"),
    x12="2320/AMT:D/02",
    reading=other_payers,
    not_in_json=OUR_FIELDS,
)
def earlier_payment_is_not_negative(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """What an earlier payer paid is not negative, for the claim and for its lines."""
    for index, other in enumerate(others):
        found = other.decision
        if found is None:
            continue
        lines = [(at, line.paid) for at, line in enumerate(found.lines) if line]
        negative = [(f"lines[{at}].decision.paid", paid) for at, paid in lines if paid < cob.ZERO]
        if found.paid < cob.ZERO and not negative:
            negative = [(f"other_payers[{index}].decision.paid", found.paid)]
        for path, paid in negative:
            yield path, f"The earlier payer paid {format_amount(paid)}; give 0 or more."


@rule(
    "C769",
    paths=("lines[].decision.units",),
    x12="2430/SVD/05",
    reading=other_payers,
    not_in_json="V3 has no field for the units that an earlier payer decided.",
)
def paid_units_are_above_zero(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """An earlier payer decided more than 0 units of a line."""
    for other in others:
        for at, line in enumerate(other.decision.lines if other.decision else ()):
            if line and line.units is not None and line.units <= 0:
                yield (
                    f"lines[{at}].decision.units",
                    f"The earlier payer decided {line.units} units; give the units of its decision, 1 if it paid none.",
                )
