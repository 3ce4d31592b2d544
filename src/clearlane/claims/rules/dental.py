"""D1: teeth, surfaces, oral cavity, orthodontics, prostheses, predeterminations."""

import re
from collections import Counter
from collections.abc import Iterator

from clearlane.claims.fields import DentalClaim, DentalLine
from clearlane.claims.forms.dental import FORM, is_predetermination
from clearlane.claims.rules.registry import (
    DENTAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    is_whole,
    line_rule,
    quoted,
    rule,
)
from clearlane.claims.teeth import BACK_ONLY, FRONT, FRONT_ONLY, TEETH
from clearlane.kernel import limits

SURFACES_PER_TOOTH_MAX = 5
TREATMENT_MONTHS_MAX = 120


KINDS = (DENTAL,)
_FILLING = re.compile(r"D2(1[456]\d|33\d|39[1-4])", re.ASCII)
_BY_QUADRANT = re.compile(r"D4(2[16]\d|341|342)|D7[2-3][1-2]\d", re.ASCII)


# A payer's edit, not the guide's: receivers take such a claim, so it is no reason to refuse it.
@line_rule(
    "D101",
    fields=("Teeth",),
    x12="2400/TOO/03",
    kinds=KINDS,
    severity=WARNING,
    when_filled=("Teeth",),
)
def surfaces_are_on_the_tooth(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A front tooth has an edge (I) and no chewing face (O); a back tooth the other way round."""
    for at, tooth in enumerate(line.Teeth or ()):
        if tooth.F27_Tooth not in TEETH:
            continue
        front = tooth.F27_Tooth in FRONT
        wrong, right = (BACK_ONLY, FRONT_ONLY) if front else (FRONT_ONLY, BACK_ONLY)
        for index, surface in enumerate(tooth.F28_ToothSurface or ()):
            if surface == wrong:
                yield (
                    f"Teeth[{at}].F28_ToothSurface[{index}]",
                    f"Tooth {tooth.F27_Tooth} is a {'front' if front else 'back'} tooth and has no surface "
                    f"{wrong}; give {right}, or another surface.",
                )


@line_rule("D102", fields=("Teeth",), x12="2400/TOO/03", kinds=KINDS, when_filled=("Teeth",))
def surfaces_are_different(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A surface is given once for a tooth, and at most five are given."""
    for at, tooth in enumerate(line.Teeth or ()):
        surfaces = tooth.F28_ToothSurface or ()
        if len(set(surfaces)) != len(surfaces):
            yield (
                f"Teeth[{at}].F28_ToothSurface",
                "A surface is given twice for the tooth; give each once.",
            )
        elif len(surfaces) > SURFACES_PER_TOOTH_MAX:
            yield (
                f"Teeth[{at}].F28_ToothSurface",
                f"There are {len(surfaces)} surfaces; a tooth has at most {SURFACES_PER_TOOTH_MAX}.",
            )


@line_rule("D103", fields=("Teeth",), x12="2400/TOO/02", kinds=KINDS, when_filled=("Teeth",))
def surfaces_have_a_tooth(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Surfaces belong to a tooth."""
    for at, tooth in enumerate(line.Teeth or ()):
        if tooth.F28_ToothSurface and tooth.F27_Tooth is None:
            yield f"Teeth[{at}].F27_Tooth", "There are surfaces without a tooth; give F27_Tooth."


@line_rule("D104", fields=("Teeth",), x12="2400/TOO/02", kinds=KINDS, when_filled=("Teeth",))
def teeth_are_different(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A tooth is given once on a line, and at most 32 are given."""
    named = [tooth.F27_Tooth for tooth in line.Teeth or () if tooth.F27_Tooth]
    if len(named) > limits.TEETH_PER_LINE_MAX:
        yield (
            "Teeth",
            f"There are {len(named)} teeth; at most {limits.TEETH_PER_LINE_MAX} fit one line.",
        )
    for tooth, count in Counter(named).items() if len(set(named)) < len(named) else ():
        if count > 1:
            yield (
                "Teeth",
                f"Tooth {quoted(tooth)} is given {count} times on the line; give it once.",
            )


@line_rule(
    "D105", fields=("Teeth", "F29_ProcedureCode"), x12="2400/TOO", kinds=KINDS, severity=WARNING
)
def fillings_have_surfaces(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A filling is in a surface of a tooth."""
    if _FILLING.fullmatch(line.F29_ProcedureCode) and not any(
        tooth.F27_Tooth and tooth.F28_ToothSurface for tooth in line.Teeth or ()
    ):
        yield (
            "Teeth",
            f"The procedure {quoted(line.F29_ProcedureCode)} is a filling; payers want tooth and surfaces.",
        )


@line_rule(
    "D106",
    fields=("F25_AreaOfOralCavity",),
    x12="2400/SV3/04",
    kinds=KINDS,
    when_filled=("F25_AreaOfOralCavity",),
)
def areas_are_few(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A line names at most five areas of the mouth, each once."""
    areas = line.F25_AreaOfOralCavity or ()
    if len(areas) > limits.ORAL_AREAS_PER_LINE_MAX or len(set(areas)) != len(areas):
        yield (
            "F25_AreaOfOralCavity",
            f"There are {len(areas)} areas; give at most {limits.ORAL_AREAS_PER_LINE_MAX}, each once.",
        )


@line_rule(
    "D107",
    fields=("F25_AreaOfOralCavity", "F29_ProcedureCode"),
    x12="2400/SV3/04",
    kinds=KINDS,
    severity=WARNING,
)
def quadrant_procedures_have_an_area(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A procedure by quadrant comes with the quadrant, or with the teeth."""
    if _BY_QUADRANT.fullmatch(line.F29_ProcedureCode) and not (
        line.F25_AreaOfOralCavity or line.Teeth
    ):
        yield (
            "F25_AreaOfOralCavity",
            f"The procedure {quoted(line.F29_ProcedureCode)} is done by quadrant; payers want 10, 20, 30 or 40.",
        )


@line_rule(
    "D108",
    fields=("F26_ToothSystem",),
    x12="2400/TOO/01",
    kinds=KINDS,
    when_filled=("F26_ToothSystem",),
)
def teeth_are_universal(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Teeth can be sent in universal notation; ISO teeth are converted if each is known."""
    if line.F26_ToothSystem == "JO":
        yield (
            "F26_ToothSystem",
            "A tooth is none of the ISO notation; give 11 to 48, 51 to 85, or use JP.",
        )


@rule(
    "D109",
    fields=("F33_MissingTeeth",),
    x12="2300/DN2/01",
    kinds=KINDS,
    when_filled=("F33_MissingTeeth",),
)
def missing_teeth_are_different(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A missing tooth is given once, and at most 35 are given."""
    teeth = claim.F33_MissingTeeth or ()
    if len(teeth) > limits.MISSING_TEETH_MAX:
        yield (
            "F33_MissingTeeth",
            f"There are {len(teeth)} teeth; at most {limits.MISSING_TEETH_MAX} can be sent.",
        )
    elif len(set(teeth)) != len(teeth):
        yield "F33_MissingTeeth", "A missing tooth is given twice; give each once."


@rule(
    "D110",
    fields=("F33_MissingTeeth",),
    x12="2300/DN2/01",
    kinds=KINDS,
    severity=WARNING,
    when_filled=("F33_MissingTeeth",),
)
def missing_teeth_are_not_treated(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A missing tooth is not filled."""
    missing = set(claim.F33_MissingTeeth or ())
    if not missing:
        return
    for at, line in enumerate(claim.LineItems):
        treated = {tooth.F27_Tooth for tooth in line.Teeth or ()} & missing
        if treated and _FILLING.fullmatch(line.F29_ProcedureCode):
            yield (
                f"LineItems[{at}].Teeth",
                f"Tooth {quoted(min(map(str, treated)))} is missing, and filled; check both.",
            )


@rule(
    "D111",
    fields=("F40_OrthoTreatment", "F41_DateAppliancePlaced", "F42_MonthsTreatment"),
    x12="2300/DN1/01",
    kinds=KINDS,
)
def orthodontics_are_complete(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Orthodontic treatment comes with the day of placement and the months of treatment."""
    if not claim.F40_OrthoTreatment:
        return
    if claim.F41_DateAppliancePlaced is None and not is_predetermination(claim):
        yield (
            "F41_DateAppliancePlaced",
            "The treatment is orthodontic; give the day the appliance was placed.",
        )
    if not claim.F42_MonthsTreatment:
        yield "F42_MonthsTreatment", "The treatment is orthodontic; give the months of treatment."


@rule(
    "D112",
    fields=("F42_MonthsTreatment",),
    x12="2300/DN1/01",
    kinds=KINDS,
    when_filled=("F42_MonthsTreatment",),
)
def months_are_whole(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Months of treatment are whole, and ten years at most."""
    months = claim.F42_MonthsTreatment
    if months is not None and (not is_whole(months) or months > TREATMENT_MONTHS_MAX):
        yield (
            "F42_MonthsTreatment",
            f"Months of treatment are {months}; give a whole number up to {TREATMENT_MONTHS_MAX}.",
        )


@rule(
    "D113",
    fields=("F41_DateAppliancePlaced", "F42_MonthsTreatment"),
    x12="2300/DN1/01",
    kinds=KINDS,
    severity=WARNING,
    when_filled=("F41_DateAppliancePlaced", "F42_MonthsTreatment"),
)
def orthodontic_fields_have_orthodontics(
    claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Fields of orthodontics come with orthodontic treatment; without it they are not sent."""
    if claim.F40_OrthoTreatment:
        return
    if claim.F41_DateAppliancePlaced is not None:
        yield (
            "F41_DateAppliancePlaced",
            "F40_OrthoTreatment is false, so the day of placement is not sent.",
        )
    if claim.F42_MonthsTreatment:
        yield "F42_MonthsTreatment", "F40_OrthoTreatment is false, so the months are not sent."


@rule(
    "D114",
    fields=("F43_Prosthesis", "F44_ProsthesisDateOfPriorPlacement"),
    x12="2400/DTP:441/03",
    kinds=KINDS,
)
def replacement_has_a_prior_placement(
    claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The replacement of a prosthesis comes with the day of the prior placement."""
    if claim.F43_Prosthesis and claim.F44_ProsthesisDateOfPriorPlacement is None:
        yield (
            "F44_ProsthesisDateOfPriorPlacement",
            "A prosthesis is replaced; give the day of the prior placement.",
        )


@rule(
    "D115",
    fields=("F44_ProsthesisDateOfPriorPlacement",),
    x12="2400/DTP:441/03",
    kinds=KINDS,
    severity=WARNING,
    when_filled=("F44_ProsthesisDateOfPriorPlacement",),
)
def prior_placement_has_a_replacement(
    claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A prior placement comes with the replacement of a prosthesis; without it, it is not sent."""
    if not claim.F43_Prosthesis and claim.F44_ProsthesisDateOfPriorPlacement is not None:
        yield (
            "F44_ProsthesisDateOfPriorPlacement",
            "F43_Prosthesis is false, so the day of the prior placement is not sent.",
        )


@rule("D116", fields=("X12_ServiceDate",), x12="2300/CLM/19", kinds=KINDS, severity=WARNING)
def predetermination_has_no_service_date(
    claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A predetermination is about services not yet done; its service dates are not sent."""
    if not is_predetermination(claim):
        return
    if claim.X12_ServiceDate is not None:
        yield "X12_ServiceDate", "The claim is a predetermination, so its service date is not sent."
    for at, line in enumerate(claim.LineItems):
        if line.F24_DateOfServiceFrom is not None or line.F24_DateOfServiceTo is not None:
            yield (
                f"LineItems[{at}].F24_DateOfServiceFrom",
                "The claim is a predetermination, so the line's service date is not sent.",
            )


@line_rule(
    "D117",
    fields=("Teeth",),
    x12="2400/TOO/03",
    kinds=KINDS,
    severity=WARNING,
    when_filled=("Teeth",),
)
def outer_surface_fits_the_tooth(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The outer surface of a front tooth is called facial (F), that of a back tooth buccal (B)."""
    for at, tooth in enumerate(line.Teeth or ()):
        wrong = "B" if tooth.F27_Tooth in FRONT else "F"
        if tooth.F27_Tooth in TEETH and wrong in (tooth.F28_ToothSurface or ()):
            yield (
                f"Teeth[{at}].F28_ToothSurface",
                f"Tooth {tooth.F27_Tooth} has the outer surface {'F' if wrong == 'B' else 'B'}, not {wrong}.",
            )


@rule(
    "D118",
    fields=("F24_DateOfServiceTo",),
    x12="2300/DTP:472/03",
    kinds=KINDS,
)
def lines_with_a_period_share_it(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A period of service is that of every line: an 837D has periods for the claim and days for its lines."""
    if is_predetermination(claim):
        return
    days = [
        (first or claim.X12_ServiceDate, last or first or claim.X12_ServiceDate)
        for first, last in map(FORM.service_days, claim.LineItems)
    ]
    if len(set(days)) == 1:
        return
    for at, (first, last) in enumerate(days):
        if first != last and claim.LineItems[at].F24_DateOfServiceTo is not None:
            yield (
                f"LineItems[{at}].F24_DateOfServiceTo",
                f"The line runs from {first} to {last} and other lines do not; a dental line has one day, so leave "
                "the last day out, or give every line the same period.",
            )
