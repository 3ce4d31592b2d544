"""D1: teeth, surfaces, oral cavity, orthodontics, prostheses, predeterminations."""

import re
from collections import Counter
from collections.abc import Iterator

from clearlane.claims import codes
from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    OUR_WRITER,
    V3_ALONE,
    WARNING,
    FieldFinding,
    RuleInputs,
    is_whole,
    line_rule,
    quoted,
    rule,
)
from clearlane.claims.teeth import BACK_ONLY, FRONT, FRONT_ONLY, TEETH
from clearlane.claims.view import ClaimView, LineView
from clearlane.kernel import limits

SURFACES_PER_TOOTH_MAX = 5
TREATMENT_MONTHS_MAX = 120


_TOOTH = re.compile(r"D27[1-9]\d|D7111|D7140|D72[1-5]\d", re.ASCII)
"""Crowns and extractions."""
_ORTHODONTICS = re.compile(r"D80[1-9]0", re.ASCII)
_FILLING = re.compile(r"D2(1[456]\d|33\d|39[1-4])", re.ASCII)
_BY_QUADRANT = re.compile(r"D4(2[16]\d|341|342)|D7[2-3][1-2]\d", re.ASCII)


# A payer's edit, not the guide's: receivers take such a claim, so it is no reason to refuse it.
@line_rule(
    "D101",
    paths=("teeth",),
    x12="2400/TOO/03",
    severity=WARNING,
    when_filled=("teeth",),
    covers=("X837D-SURFACE",),
)
def surfaces_are_on_the_tooth(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A front tooth has an edge (I) and no chewing face (O); a back tooth the other way round."""
    for at, tooth in enumerate(line.teeth):
        if tooth.number not in TEETH:
            continue
        front = tooth.number in FRONT
        wrong, right = (BACK_ONLY, FRONT_ONLY) if front else (FRONT_ONLY, BACK_ONLY)
        for index, surface in enumerate(tooth.surfaces):
            if surface == wrong:
                yield (
                    f"teeth[{at}].surfaces[{index}]",
                    f"Tooth {tooth.number} is a {'front' if front else 'back'} tooth and has no surface "
                    f"{wrong}; give {right}, or another surface.",
                )


@line_rule(
    "D102", paths=("teeth",), x12="2400/TOO/03", when_filled=("teeth",), covers=("X837D-SURFACE",)
)
def surfaces_are_different(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A surface is given once for a tooth, and at most five are given."""
    for at, tooth in enumerate(line.teeth):
        surfaces = tooth.surfaces
        if len(set(surfaces)) != len(surfaces):
            yield (
                f"teeth[{at}].surfaces",
                "A surface is given twice for the tooth; give each once.",
            )
        elif len(surfaces) > SURFACES_PER_TOOTH_MAX:
            yield (
                f"teeth[{at}].surfaces",
                f"There are {len(surfaces)} surfaces; a tooth has at most {SURFACES_PER_TOOTH_MAX}.",
            )


@line_rule("D103", paths=("teeth",), x12="2400/TOO/02", when_filled=("teeth",))
def surfaces_have_a_tooth(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Surfaces belong to a tooth."""
    for at, tooth in enumerate(line.teeth):
        if tooth.surfaces and tooth.number is None:
            name = view.form.name_of("lines[].teeth[].number")
            yield f"teeth[{at}].number", f"There are surfaces without a tooth; give {name}."


@line_rule(
    "D104",
    paths=("teeth",),
    x12="2400/TOO/02",
    when_filled=("teeth",),
    covers=("X837D-TOOTH-TWICE",),
)
def teeth_are_different(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A tooth is given once on a line, and at most 32 are given."""
    named = [tooth.number for tooth in line.teeth if tooth.number]
    if len(named) > limits.TEETH_PER_LINE_MAX:
        yield (
            "teeth",
            f"There are {len(named)} teeth; at most {limits.TEETH_PER_LINE_MAX} fit one line.",
        )
    for tooth, count in Counter(named).items() if len(set(named)) < len(named) else ():
        if count > 1:
            yield (
                "teeth",
                f"Tooth {quoted(tooth)} is given {count} times on the line; give it once.",
            )


@line_rule("D105", paths=("teeth", "procedure"), x12="2400/TOO", severity=WARNING)
def fillings_have_surfaces(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A filling is in a surface of a tooth."""
    if _FILLING.fullmatch(line.procedure) and not any(
        tooth.number and tooth.surfaces for tooth in line.teeth
    ):
        yield (
            "teeth",
            f"The procedure {quoted(line.procedure)} is a filling; payers want tooth and surfaces.",
        )


@line_rule("D119", paths=("teeth", "procedure"), x12="2400/TOO/02", severity=WARNING)
def crowns_and_extractions_have_a_tooth(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A crown is on a tooth, and an extraction is of one."""
    if _TOOTH.fullmatch(line.procedure) and not any(tooth.number for tooth in line.teeth):
        yield (
            "teeth",
            f"The procedure {quoted(line.procedure)} is a crown or an extraction; payers want the tooth.",
        )


@rule(
    "D120",
    paths=("orthodontic_months", "lines[].procedure"),
    x12="2300/DN1/01",
    severity=WARNING,
    not_in_files="X837D-ORTHODONTICS warns of it.",
)
def orthodontics_has_months(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Orthodontic treatment (D8010 to D8090) comes with its months."""
    # A claim that is marked as orthodontic must state them (D111).
    if view.orthodontic_months is None and not view.is_orthodontic:
        code = next(
            (c for c in (line.procedure for line in view.lines) if _ORTHODONTICS.fullmatch(c)), None
        )
        if code is not None:
            yield (
                "orthodontic_months",
                f"The procedure {quoted(code)} is orthodontic treatment; payers want its months: mark the claim as "
                f"orthodontic, and give {view.form.name_of('orthodontic_months')}.",
            )


@line_rule("D106", paths=("areas",), x12="2400/SV3/04", when_filled=("areas",), fixed=GUIDE_FIXES)
def areas_are_few(line: LineView, view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A line names at most five areas of the mouth, each once."""
    areas = line.areas
    if len(areas) > limits.ORAL_AREAS_PER_LINE_MAX or len(set(areas)) != len(areas):
        yield (
            "areas",
            f"There are {len(areas)} areas; give at most {limits.ORAL_AREAS_PER_LINE_MAX}, each once.",
        )


@line_rule(
    "D107",
    paths=("areas", "procedure"),
    x12="2400/SV3/04",
    severity=WARNING,
)
def quadrant_procedures_have_an_area(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A procedure by quadrant comes with the quadrant, or with the teeth."""
    if _BY_QUADRANT.fullmatch(line.procedure) and not (line.areas or line.teeth):
        yield (
            "areas",
            f"The procedure {quoted(line.procedure)} is done by quadrant; payers want 10, 20, 30 or 40.",
        )


@line_rule(
    "D108",
    paths=("tooth_system",),
    x12="2400/TOO/01",
    when_filled=("tooth_system",),
    not_in_files=V3_ALONE,
)
def teeth_are_universal(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Teeth can be sent in universal notation; ISO teeth are converted if each is known."""
    if line.tooth_system == codes.ISO_TEETH:
        yield (
            "tooth_system",
            "A tooth is none of the ISO notation; give 11 to 48, 51 to 85, or use JP.",
        )


@rule(
    "D109",
    paths=("missing_teeth",),
    x12="2300/DN2/01",
    when_filled=("missing_teeth",),
    covers=("X837D-MISSING-TWICE",),
)
def missing_teeth_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A missing tooth is given once, and at most 35 are given."""
    teeth = view.missing_teeth
    if len(teeth) > limits.MISSING_TEETH_MAX:
        yield (
            "missing_teeth",
            f"There are {len(teeth)} teeth; at most {limits.MISSING_TEETH_MAX} can be sent.",
        )
    elif len(set(teeth)) != len(teeth):
        yield "missing_teeth", "A missing tooth is given twice; give each once."


@rule(
    "D110",
    paths=("missing_teeth",),
    x12="2300/DN2/01",
    severity=WARNING,
    when_filled=("missing_teeth",),
)
def missing_teeth_are_not_treated(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A missing tooth is not filled."""
    missing = set(view.missing_teeth)
    if not missing:
        return
    for at, line in enumerate(view.lines):
        treated = {tooth.number for tooth in line.teeth} & missing
        if treated and _FILLING.fullmatch(line.procedure):
            yield (
                f"lines[{at}].teeth",
                f"Tooth {quoted(min(map(str, treated)))} is missing, and filled; check both.",
            )


@rule(
    "D111",
    paths=("is_orthodontic", "dates.appliance_placed", "orthodontic_months"),
    x12="2300/DN1/01",
    not_in_files="The guide leaves both to the payer: X837D-ORTHODONTICS warns.",
)
def orthodontics_are_complete(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Orthodontic treatment comes with the day of placement and the months of treatment."""
    if not view.is_orthodontic:
        return
    if view.dates.appliance_placed is None and not view.is_predetermination:
        yield (
            "dates.appliance_placed",
            "The treatment is orthodontic; give the day the appliance was placed.",
        )
    if not view.orthodontic_months:
        yield "orthodontic_months", "The treatment is orthodontic; give the months of treatment."


@rule(
    "D112",
    paths=("orthodontic_months",),
    x12="2300/DN1/01",
    when_filled=("orthodontic_months",),
)
def months_are_whole(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Months of treatment are whole, and ten years at most."""
    months = view.orthodontic_months
    if months is not None and (not is_whole(months) or months > TREATMENT_MONTHS_MAX):
        yield (
            "orthodontic_months",
            f"Months of treatment are {months}; give a whole number up to {TREATMENT_MONTHS_MAX}.",
        )


@rule(
    "D113",
    paths=("dates.appliance_placed", "orthodontic_months"),
    x12="2300/DN1/01",
    severity=WARNING,
    when_filled=("dates.appliance_placed", "orthodontic_months"),
    not_in_files=OUR_WRITER,
)
def orthodontic_fields_have_orthodontics(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Fields of orthodontics come with orthodontic treatment; without it they are not sent."""
    if view.is_orthodontic:
        return
    mark = view.form.name_of("is_orthodontic")
    if view.dates.appliance_placed is not None:
        yield (
            "dates.appliance_placed",
            f"{mark} is false, so the day of placement is not sent.",
        )
    if view.orthodontic_months:
        yield "orthodontic_months", f"{mark} is false, so the months are not sent."


@rule(
    "D114",
    paths=("replaces_prosthesis", "dates.prior_placement"),
    x12="2400/DTP:441/03",
    not_in_files="An 837D states a replacement by line: X837D-PRIOR checks each.",
)
def replacement_has_a_prior_placement(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The replacement of a prosthesis comes with the day of the prior placement."""
    if view.replaces_prosthesis and view.dates.prior_placement is None:
        yield (
            "dates.prior_placement",
            "A prosthesis is replaced; give the day of the prior placement.",
        )


@rule(
    "D115",
    paths=("dates.prior_placement",),
    x12="2400/DTP:441/03",
    severity=WARNING,
    when_filled=("dates.prior_placement",),
    not_in_files=OUR_WRITER,
)
def prior_placement_has_a_replacement(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A prior placement comes with the replacement of a prosthesis; without it, it is not sent."""
    if not view.replaces_prosthesis and view.dates.prior_placement is not None:
        yield (
            "dates.prior_placement",
            f"{view.form.name_of('replaces_prosthesis')} is false, so the day of the prior placement is not sent.",
        )


@rule(
    "D116", paths=("dates.service",), x12="2300/CLM/19", severity=WARNING, not_in_files=OUR_WRITER
)
def predetermination_has_no_service_date(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A predetermination is about services not yet done; its service dates are not sent."""
    if not view.is_predetermination:
        return
    if view.dates.service is not None:
        yield "dates.service", "The claim is a predetermination, so its service date is not sent."
    for at, line in enumerate(view.lines):
        if line.first_day is not None or line.last_day is not None:
            yield (
                f"lines[{at}].first_day",
                "The claim is a predetermination, so the line's service date is not sent.",
            )


@line_rule(
    "D117",
    paths=("teeth",),
    x12="2400/TOO/03",
    severity=WARNING,
    when_filled=("teeth",),
    covers=("X837D-SURFACE",),
)
def outer_surface_fits_the_tooth(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The outer surface of a front tooth is called facial (F), that of a back tooth buccal (B)."""
    for at, tooth in enumerate(line.teeth):
        wrong = "B" if tooth.number in FRONT else "F"
        if tooth.number in TEETH and wrong in tooth.surfaces:
            yield (
                f"teeth[{at}].surfaces",
                f"Tooth {tooth.number} has the outer surface {'F' if wrong == 'B' else 'B'}, not {wrong}.",
            )


@rule(
    "D118",
    paths=("lines[].last_day",),
    x12="2300/DTP:472/03",
    if_form_has="lines[].teeth",
    not_in_files=V3_ALONE,
)
def lines_with_a_period_share_it(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A period of service is that of every line: an 837D has periods for the claim and days for its lines."""
    if view.is_predetermination:
        return
    days = [
        (first or view.dates.service, last or first or view.dates.service)
        for first, last in [(line.first_day, line.last_day) for line in view.lines]
    ]
    if len(set(days)) == 1:
        return
    for at, (first, last) in enumerate(days):
        if first != last and view.lines[at].last_day is not None:
            yield (
                f"lines[{at}].last_day",
                f"The line runs from {first} to {last} and other lines do not; a dental line has one day, so leave "
                "the last day out, or give every line the same period.",
            )
