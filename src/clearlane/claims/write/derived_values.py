"""Values of an 837 that no field of the claim states: where each is sent, and what it was made of.

For ``explain``, which shows them beside the fields, so that they are not mistaken for what the provider stated.
Knows what is derived and from what; reads no value, since that is in the file.
"""

from collections.abc import Iterator
from typing import NamedTuple

from clearlane.claims.claim_form import field_at
from clearlane.claims.write.claim_context import ClaimContext

COMPUTED = "Computed: the earlier payer's adjustments of group PR less what the patient paid."
FROM_DIRECTORY = "Its id is that of the payer that has this name in the directory."
FROM_NAME = "Its id was made from its name: the directory has no payer of this name, or several."
FROM_POLICY = "The policy or group number of box 9a, since the claim states no member id of the other insured."


class DerivedValue(NamedTuple):
    """A value that is sent and was not stated."""

    name: str
    """The field that would state it; if there is none, the field that it was made of."""
    line: int
    """The line's number, from 1; 0 for a value of the claim."""
    place: str
    reason: str


def derived_values(context: ClaimContext) -> Iterator[DerivedValue]:
    """Yield what is sent of a claim's other insurance without being stated."""
    yield from _remaining_liability(context)
    form, values = context.form, context.values
    name = next((name for name in form.other_payer_names if name in values), "")
    if name:
        known = bool(context.outgoing.other_payer_id)
        reason = FROM_DIRECTORY if known else FROM_NAME
        yield DerivedValue(name, 0, "2330B/NM1/09", reason)
    insured = "other_payers[0].insured"
    member_id = field_at(form, f"{insured}.member_id")
    if field_at(form, f"{insured}.policy_number") in values and member_id not in values:
        yield DerivedValue(member_id, 0, "2330A/NM1/09", FROM_POLICY)


def _remaining_liability(context: ClaimContext) -> Iterator[DerivedValue]:
    found, form = context.remaining, context.form
    if found is None or context.others:  # of several payers each states its own
        return
    name = field_at(form, "remaining_liability")
    if found.claim is not None and name not in context.values:
        yield DerivedValue(name, 0, "2320/AMT:EAF/02", COMPUTED)
    name = field_at(form, "lines[].remaining_liability")
    for number, (line, owed) in enumerate(zip(context.lines, found.lines, strict=True), 1):
        if owed is not None and name not in line.__dict__:
            yield DerivedValue(name, number, "2430/AMT:EAF/02", COMPUTED)
