"""C6: service lines: procedures, modifiers, units, control numbers, measurements, contracts."""

import re
from collections.abc import Iterator

from clearlane.claims.fields import Claim, DentalClaim, DentalLine, MedicalClaim, MedicalLine
from clearlane.claims.forms import FORMS, form_of, names_of_forms
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    is_whole,
    line_rule,
    on_line,
    quoted,
    rule,
)
from clearlane.x12.rules.claims_lines import ANAESTHESIA_IN_UNITS

LINES_PER_CLAIM_MAX = 50
ANAESTHESIA_MINUTES_MAX = 2_880


PROCEDURES = names_of_forms(lambda names: names.procedure)
DESCRIPTIONS = names_of_forms(lambda names: names.description)
CONTROL_NUMBERS = names_of_forms(lambda names: names.line_control)
MEASUREMENT = ("X12_MeasurementId", "X12_MeasurementQualifier", "X12_MeasurementValue")

_CDT = re.compile(r"D\d{4}", re.ASCII)
_ANAESTHESIA = re.compile(r"0[01]\d{3}", re.ASCII)
# With these modifiers of anaesthesia some payers take the code of the operation, in minutes.
ANAESTHESIA_MODIFIERS = ("AA", "AD", "QK", "QX", "QY", "QZ")
# Codes that say only "something else": the service must be described. CPT's unlisted procedures, the
# "not otherwise classified" codes of HCPCS, and in CDT every code that ends in 999.
_UNLISTED = """
15999 17999 19499 20999 21089 21299 21499 21899 22899 22999 23929 24999 25999 26989 27299 27599 27899
28899 29799 29999 30999 31299 31599 31899 32999 33999 36299 37501 37799 38129 38589 38999 39499 39599
40799 40899 41599 41899 42299 42699 42999 43289 43499 43659 43999 44238 44799 44899 44979 45399 45499
45999 46999 47379 47399 47579 47999 48999 49329 49659 49999 50549 50949 51999 53899 54699 55559 55899
58578 58579 58679 58999 59897 59898 59899 60659 60699 64999 66999 67299 67399 67599 67999 68399 68899
69399 69799 69949 69979 76496 76497 76498 76499 76999 77299 77399 77499 77799 78099 78199 78299 78399
78499 78599 78699 78799 78999 79999 81099 81479 81599 84999 85999 86486 86849 86999 87999 88099 88199
88299 88399 88749 89240 89398 90399 90749 90899 90999 91299 92499 92700 93799 93998 94799 95199 95999
96379 96549 96999 97039 97139 97799 99199 99429 99499 99600
A0999 A4649 A9698 A9699 A9999 B9998 B9999 C9399 E0769 E0770 E1399 E1699 J3490 J3590 J7199 J7599 J7699
J7799 J7999 J8498 J8499 J8597 J8999 J9999 K0108 K0812 K0898 K0899 L0999 L1499 L2999 L3649 L3999 L5999
L7499 L8039 L8499 L8699 Q4050 Q4051 Q4100 T5999 V2199 V2799 V5298 V5299
"""
UNLISTED = frozenset(_UNLISTED.split())


def is_unlisted(code: str) -> bool:
    """Return whether a procedure code has no meaning without a description."""
    return code in UNLISTED or (code.startswith("D") and code.endswith("999"))


@line_rule("C601", fields=("F29_ProcedureCode",), x12="2400/SV3/01-02", kinds=(DENTAL,))
def dental_procedure_is_cdt(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A dental procedure is a CDT code: D and four digits."""
    code = line.F29_ProcedureCode
    if not _CDT.fullmatch(code):
        yield (
            "F29_ProcedureCode",
            f"The procedure {quoted(code)} is no CDT code; give D and four digits.",
        )


@rule("C602", fields=[form.lines_field for form in FORMS.values()], x12="2400/LX/01")
def lines_are_few(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim has at most 50 lines."""
    form = form_of(claim)
    count = len(form.lines(claim))
    if count > LINES_PER_CLAIM_MAX:
        yield (
            form.lines_field,
            f"There are {count} lines; at most {LINES_PER_CLAIM_MAX} fit one claim, so split it.",
        )


@rule("C603", fields=(*PROCEDURES, *DESCRIPTIONS), x12="2400/SV1/01-07")
def unlisted_procedure_is_described(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A procedure code that names no procedure comes with a description."""
    form = form_of(claim)
    name = form.names.description
    for at, line in enumerate(form.lines(claim)):
        code = form.procedure(line)
        if is_unlisted(code) and name not in line.__dict__:
            yield (
                form.line_path(at, name),
                f"The procedure {quoted(code)} is an unlisted one; describe the service in {name}.",
            )


@rule("C604", fields=CONTROL_NUMBERS, x12="2400/REF:6R/02")
def control_numbers_are_different(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """No two lines of a claim have the same control number."""
    form = form_of(claim)
    name = form.names.line_control
    seen: dict[str, int] = {}
    for at, line in enumerate(form.lines(claim)):
        number = line.__dict__.get(name)
        if number is not None and seen.setdefault(number, at) != at:
            yield (
                form.line_path(at, name),
                f"The control number {quoted(number)} is also that of "
                f"{form.lines_field}[{seen[number]}]; "
                "give each line its own, or none.",
            )


@line_rule(
    "C605",
    fields=("X12_Anesthesia", "F24G_DaysOrUnits"),
    x12="2400/SV1/04",
    kinds=(MEDICAL,),
    when_filled=("X12_Anesthesia",),
)
def anaesthesia_is_counted_in_minutes(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Anaesthesia is counted in whole minutes."""
    if not line.X12_Anesthesia or not _may_have_minutes(line):
        return
    minutes = line.F24G_DaysOrUnits
    if minutes is None:
        yield (
            "F24G_DaysOrUnits",
            "Anaesthesia is counted in minutes; give the minutes in F24G_DaysOrUnits.",
        )
    elif not is_whole(minutes) or minutes > ANAESTHESIA_MINUTES_MAX:
        yield (
            "F24G_DaysOrUnits",
            f"Anaesthesia of {minutes} minutes was found; give whole minutes up to "
            f"{ANAESTHESIA_MINUTES_MAX}.",
        )


def _has_minutes(code: str) -> bool:
    """Return whether a code is of anaesthesia that is counted in minutes."""
    is_one = code[0] == "0" and _ANAESTHESIA.fullmatch(code) is not None
    return is_one and code not in ANAESTHESIA_IN_UNITS


def _may_have_minutes(line: MedicalLine) -> bool:
    given = (line.F24D_Modifiers or "").split(",")
    return _has_minutes(line.F24D_HcpcsProcedureCode) or any(
        modifier in given for modifier in ANAESTHESIA_MODIFIERS
    )


@rule(
    "C606",
    fields=("X12_Anesthesia", "F24D_HcpcsProcedureCode"),
    x12="2400/SV1/03",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def anaesthesia_is_marked(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An anaesthesia code comes with the anaesthesia mark, and is then counted in minutes."""
    for at, line in enumerate(claim.F24_ClaimLines):
        code = line.F24D_HcpcsProcedureCode
        if not line.X12_Anesthesia and _has_minutes(code):
            yield (
                on_line(claim, at, "X12_Anesthesia"),
                f"The procedure {quoted(code)} is an anaesthesia code, and is sent in units; set X12_Anesthesia "
                "and give minutes in F24G_DaysOrUnits.",
            )


@line_rule(
    "C613",
    fields=("X12_Anesthesia", "F24D_HcpcsProcedureCode"),
    x12="2400/SV1/03",
    kinds=(MEDICAL,),
    when_filled=("X12_Anesthesia",),
)
def only_anaesthesia_has_minutes(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Only anaesthesia is counted in minutes: by its code, or by a modifier of anaesthesia."""
    if line.X12_Anesthesia and not _may_have_minutes(line):
        yield (
            "X12_Anesthesia",
            f"The procedure {quoted(line.F24D_HcpcsProcedureCode)} is not counted in minutes; leave X12_Anesthesia out "
            f"and give units, or give an anaesthesia code (00100 to 01999 without {' and '.join(sorted(ANAESTHESIA_IN_UNITS))}) "
            f"or a modifier of anaesthesia ({', '.join(ANAESTHESIA_MODIFIERS)}).",
        )


@line_rule("C607", fields=MEASUREMENT, x12="2400/MEA", kinds=(MEDICAL,), when_filled=MEASUREMENT)
def measurement_is_complete(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A measurement has a reference, a qualifier and a value."""
    given = line.__dict__
    missing = [name for name in MEASUREMENT if given.get(name) is None]
    # A value of 0 alone is a caller that fills every number.
    begun = given.get("X12_MeasurementValue") or len(missing) < 2
    if begun:
        for name in missing:
            yield name, f"The measurement is begun but {name} is missing; give all three or none."


@line_rule(
    "C608",
    fields=("X12_ContractTypeCode", "X12_ContractMonetaryAmount"),
    x12="2400/CN1/01",
    kinds=(MEDICAL,),
    when_filled=("X12_ContractMonetaryAmount",),
)
def line_contract_has_a_type(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A contract amount of a line comes with the contract's type."""
    if line.X12_ContractMonetaryAmount and line.X12_ContractTypeCode is None:
        yield (
            "X12_ContractTypeCode",
            "There is a contract amount without a type; give X12_ContractTypeCode.",
        )


@rule(
    "C609",
    fields=(
        "X12_ClaimContractTypeCode",
        "X12_ClaimContractMonetaryAmount",
        "X12_ClaimContractCode",
    ),
    x12="2300/CN1/01",
    kinds=(MEDICAL,),
    when_filled=("X12_ClaimContractMonetaryAmount", "X12_ClaimContractCode"),
)
def claim_contract_has_a_type(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A contract amount or code of the claim comes with the contract's type."""
    begun = claim.X12_ClaimContractMonetaryAmount or claim.X12_ClaimContractCode
    if begun and claim.X12_ClaimContractTypeCode is None:
        yield (
            "X12_ClaimContractTypeCode",
            "There is a contract amount or code without a type; give X12_ClaimContractTypeCode.",
        )


@rule("C610", fields=("F24D_Modifiers",), x12="2400/SV1/01-03", kinds=(MEDICAL,), severity=WARNING)
def modifiers_are_different(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A modifier is given once."""
    for at, line in enumerate(claim.F24_ClaimLines):
        given = line.F24D_Modifiers
        if (
            given is not None
            and len(given) > 2
            and len(set(words := given.split(","))) != len(words)
        ):
            yield (
                on_line(claim, at, "F24D_Modifiers"),
                f"The modifiers {quoted(given)} repeat one; give each once.",
            )


@line_rule(
    "C611",
    fields=("F29b_Quantity",),
    x12="2400/SV3/06",
    kinds=(DENTAL,),
    when_filled=("F29b_Quantity",),
)
def dental_quantity_is_whole(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A dental quantity is a whole number."""
    if line.F29b_Quantity is not None and not is_whole(line.F29b_Quantity):
        yield (
            "F29b_Quantity",
            f"The quantity {line.F29b_Quantity} is not whole; give a whole number.",
        )


@rule("C612", fields=PROCEDURES, x12="2400/SV1", severity=WARNING)
def lines_are_different(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Two equal lines look like a mistake to a payer."""
    form = form_of(claim)
    lines = form.lines(claim)
    if len({form.procedure(line) for line in lines}) == len(lines):
        return
    seen: dict[object, int] = {}
    for at, line in enumerate(lines):
        first = seen.setdefault(form.duplicate_key(line), at)
        if first != at:
            yield (
                form.line_path(at, form.names.procedure),
                f"The line repeats {form.lines_field}[{first}]; raise its units, or add a modifier that "
                "tells them apart.",
            )
