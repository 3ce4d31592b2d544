"""The rows that the placement tables of every 837 share.

A form names its fields, so the shared rows are functions of field names: an address, a name, a payer, what an earlier
payer decided. ``loop_table`` adds what a loop of every 837 has without a field of the form. ``placements_837p`` and
``placements_837d`` compose their tables from these and add what only their guide or form has.

Knows the loops that the guides share; knows no field of one form by name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clearlane.claims import codes
from clearlane.claims.value_types import ADJUSTMENT_GROUPS
from clearlane.claims.write import claim_context
from clearlane.claims.write.claim_context import ClaimContext, LineContext
from clearlane.claims.write.placement import C, Computed, ConditionalRows, LoopTable
from clearlane.x12 import grammar

NOT_ASSIGNED = "N"
NOT_SENT: Mapping[str, str] = {
    "Svc_VendorClaimId": "The caller's own key; answers are matched by CLM01 and REF*D9.",
}
"""Fields of every form that are stored and never sent, each with its reason."""
NO_OTHER_BIRTH_DATE = "5010 has no place for another insured's birth date."
NO_OTHER_SEX = "5010 has no place for another insured's sex."
NO_RELEASE_DATE = "5010 carries whether there is a release, not since when."
NO_LINES = "The lines have loops of their own, field by field."

NAME = ("NM1/03", "NM1/04", "NM1/05", "NM1/07")
"""Last name, first name, middle name and suffix."""
GIVEN_NAMES = NAME[1:]
BIRTH_AND_SEX = ("DMG/02", "DMG/03")
_ADDRESSES = {
    4: ("N3/01", "N4/01", "N4/02", "N4/03"),
    5: ("N3/01", "N3/02", "N4/01", "N4/02", "N4/03"),
}

_GENERATED: Mapping[str, Mapping[str, str]] = {
    "2000A": {"hl": "2000A/HL/01"},
    "2000B": {"hl": "2000B/HL/01", "parent": "2000B/HL/02", "child": "2000B/HL/04"},
    "2000C": {"hl": "2000C/HL/01", "parent": "2000C/HL/02"},
    "2300": {"number": "2300/CLM/01", "trace": "2300/REF:D9/02"},
    "2320": {},
    "2400": {"line": "2400/LX/01", "control": "2400/REF:6R/02"},
}
_CONSTANTS: Mapping[str, Mapping[str, str]] = {
    "2000A": {"2010AA/PER/03": "TE"},
    "2000B": {"2010BB/NM1/08": "PI"},
    "2000C": {},
    "2300": {"2300/NTE/01": "ADD"},
    "2320": {"2330A/NM1/08": "MI", "2330B/NM1/08": "PI"},
    "2400": {},
}
_COMPUTED: Mapping[str, Sequence[Computed[Any]]] = {
    "2000B": (
        Computed("2000B/SBR/01", claim_context.order_of_payment, (), always=True),
        Computed("2010BB/NM1/09", claim_context.payer_id, ["Svc_PayerId"]),
    ),
}


def loop_table(
    guide: grammar.Guide,
    loop: str,
    *,
    rows: Mapping[str, str],
    computed: Sequence[Computed[C]] = (),
    conditional: Sequence[ConditionalRows[C]] = (),
    claim_rows: Mapping[str, str] | None = None,
    constants: Mapping[str, str] | None = None,
    echoes: Mapping[str, str] | None = None,
    within: str = "",
) -> LoopTable[C]:
    """Return the table of a loop: a form's own rows, with those that every 837 has there."""
    return LoopTable(
        guide,
        loop,
        generated=_GENERATED[loop],
        rows=rows,
        computed=(*_COMPUTED.get(loop, ()), *computed),
        conditional=conditional,
        claim_rows=claim_rows,
        constants={**_CONSTANTS[loop], **(constants or {})},
        echoes=echoes,
        within=within,
    )


# --- names and addresses ------------------------------------------------------------------------------


def rows_at(loop: str, places: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """Return the rows of fields that take these places of a loop, in order."""
    return {name: f"{loop}/{place}" for name, place in zip(fields, places, strict=True)}


def address(loop: str, fields: Sequence[str]) -> dict[str, str]:
    """Return the rows of an address: one or two lines, city, state and ZIP code."""
    return rows_at(loop, _ADDRESSES[len(fields)], fields)


def whole_address(loop: str, fields: Sequence[str]) -> ConditionalRows[ClaimContext]:
    """Return the rows of an address that is sent only if it is complete; a second line may be absent."""
    return ConditionalRows(all_of=[fields[0], *fields[-3:]], rows=address(loop, fields))


def entity_type(loop: str, first_name: str) -> Computed[Any]:
    """Return the row that says person if there is a first name, else organization."""
    return Computed(
        f"{loop}/NM1/02",
        claim_context.person,
        [first_name],
        default=claim_context.ORGANIZATION,
    )


def given_names(
    loop: str,
    fields: Sequence[str],
    *needs: str,
    when: Callable[[C], object] | None = None,
) -> ConditionalRows[C]:
    """Return the rows of first name, middle name and suffix; an organization, which has no first name, has none."""
    return ConditionalRows(
        when=when, all_of=[*needs, fields[0]], rows=rows_at(loop, GIVEN_NAMES, fields)
    )


# --- insured, payers ------------------------------------------------------------------------------------


def insured_or_patient(place: str, *fields: str) -> Computed[ClaimContext]:
    """Return the row of an insured's field that falls back on the patient's if both are one person."""
    return Computed(place, claim_context.insured_or_patient(*fields), fields)


def payer_name(field: str) -> Computed[ClaimContext]:
    """Return the row of the payer's name: that of the directory, else the caller's."""
    return Computed(
        "2010BB/NM1/03",
        lambda context: claim_context.directory_name(context) or context.values[field],
        [field],
    )


def other_order_of_payment(field: str) -> Computed[ClaimContext]:
    """Return the row of the other payer's place in the order of payment."""
    return Computed("2320/SBR/01", claim_context.other_order_of_payment, [field], always=True)


# --- the claim ------------------------------------------------------------------------------------------


def frequency(field: str) -> Computed[ClaimContext]:
    """Return the row of the claim frequency: original, corrected, replacement or void."""
    return Computed(
        "2300/CLM/05-3",
        lambda context: context.form.frequency(context.claim),
        [field],
        default=codes.ORIGINAL,
    )


def original_reference(field: str) -> ConditionalRows[ClaimContext]:
    """Return the row of the payer's claim number, which only a claim about an earlier one sends."""
    return ConditionalRows(when=_is_about_an_earlier_claim, rows={field: "2300/REF:F8/02"})


def _is_about_an_earlier_claim(context: ClaimContext) -> bool:
    return context.form.frequency(context.claim) != codes.ORIGINAL


def amount_unless_zero(place: str, *fields: str) -> Computed[Any]:
    """Return the row of an amount or count, the first of the fields, that is not sent if it is zero."""
    return Computed(place, claim_context.unless_zero(fields[0]), fields)


def diagnoses(most: int, *fields: str) -> Computed[ClaimContext]:
    """Return the row of the diagnoses without gaps."""
    return Computed([f"2300/HI/{element:02}" for element in range(1, most + 1)], _hi, fields)


def _hi(context: ClaimContext) -> tuple[str, ...]:
    # A dental claim may leave out the version, which then is ICD-10.
    version = context.form.value(context.claim, "icd_version") or "10"
    return claim_context.health_care_codes(version, context.diagnoses)


# --- lines, and what an earlier payer decided --------------------------------------------------------------


def place_of_line(place: str, field: str) -> Computed[LineContext]:
    """Return the row of a line's place of service, which is sent only if it is not the claim's."""

    def own(context: LineContext) -> str | None:
        code: str = context.values[field]
        return None if code == context.claim_place else code

    return Computed(place, own, [field])


def earlier_adjustments(loop: str, fields: Mapping[str, str]) -> Computed[Any]:
    """Return the row of the earlier payer's adjustments, one CAS a group."""
    places = [f"{loop}/CAS#{number}/01" for number in range(1, len(ADJUSTMENT_GROUPS) + 1)]
    return Computed(places, claim_context.earlier_adjustments, fields)


def earlier_line_decision(
    *,
    paid: str,
    day: str,
    procedure: Callable[[LineContext], str],
    units: Computed[LineContext],
    adjustments: Mapping[str, str],
    decided_by: Sequence[str],
) -> ConditionalRows[LineContext]:
    """Return the rows of loop 2430; each of the fields ``decided_by`` can state a decision."""
    return ConditionalRows(
        when=claim_context.has_earlier_decision,
        computed=(
            Computed("2430/SVD/01", claim_context.line_payer, (), always=True),
            Computed("2430/SVD/02", claim_context.earlier_paid, [paid], always=True),
            Computed("2430/SVD/03", procedure, (), always=True),
            units,
            earlier_adjustments("2430", adjustments),
            Computed("2430/DTP:573/03", claim_context.line_decision_day, [day], always=True),
            Computed(
                "2430/AMT:EAF/02",
                claim_context.line_remaining_liability,
                ["X12_LineRemainingPatientLiability"],
                always=True,
            ),
        ),
        any_of=decided_by,
    )
