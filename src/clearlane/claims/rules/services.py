"""C6: service lines: procedures, modifiers, units, control numbers, measurements, contracts."""

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter

from clearlane.claims.rules.registry import (
    BILL_TYPE,
    GUIDE_LIMITS,
    GUIDE_REQUIRES,
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    is_whole,
    line_rule,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView, LineView
from clearlane.kernel import limits
from clearlane.x12.rules.claims_lines import ANESTHESIA_IN_UNITS

LINES_PER_CLAIM_MAX = 50
AMBULANCE = frozenset({"41", "42"})
ANESTHESIA_MINUTES_MAX = 2_880


# The ranges of CPT category I. Categories II and III, and codes with a letter, have other forms.
CPT_RANGES = (
    ("00100", "01999"),
    ("10004", "69990"),
    ("70010", "79999"),
    ("80047", "89398"),
    ("90281", "99607"),
)
LOCAL_CODE_COVERAGES = frozenset({"AM", "WC"})
"""Automobile medical and workers' compensation (SBR09)."""
_CPT_MODIFIERS = """
22 23 24 25 26 27 32 33 47 50 51 52 53 54 55 56 57 58 59 62 63 66 73 74 76 77 78 79 80 81 82 90 91 92 93
95 96 97 99
"""
CPT_MODIFIERS = frozenset(_CPT_MODIFIERS.split())

MEASUREMENT = ("reference", "qualifier", "value")

_FIVE_DIGITS = re.compile(r"\d{5}", re.ASCII)
# Visits, of which there is one on a day: office, hospital, nursing facility, home, and chiropractic treatment.
_VISIT = re.compile(r"992\d\d|993[0-4]\d|99350|9894[0-3]", re.ASCII)
_CDT = re.compile(r"D(?!00)\d{4}", re.ASCII)
_ANESTHESIA = re.compile(r"0[01]\d{3}", re.ASCII)
# With these modifiers of anesthesia some payers take the code of the operation, in minutes.
ANESTHESIA_MODIFIERS = ("AA", "AD", "QK", "QX", "QY", "QZ")
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


@line_rule(
    "C601",
    paths=("procedure",),
    x12="2400/SV3/01-02",
    if_form_has=TEETH,
    covers=("X837-PROCEDURE",),
)
def dental_procedure_is_cdt(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A dental procedure is a CDT code: D0100 to D9999."""
    if not _CDT.fullmatch(line.procedure):
        yield (
            "procedure",
            f"The procedure {quoted(line.procedure)} is no CDT code; give one of D0100 to D9999.",
        )


@rule(
    "C602",
    paths=("lines",),
    if_form_lacks=BILL_TYPE,
    x12="2400/LX/01",
    not_in_files=GUIDE_LIMITS,
)
def lines_are_few(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim has at most 50 lines."""
    count = len(view.lines)
    if count > LINES_PER_CLAIM_MAX:
        yield (
            "lines",
            f"There are {count} lines; at most {LINES_PER_CLAIM_MAX} fit one claim, so split it.",
        )


@rule(
    "C603",
    paths=("lines[].procedure", "lines[].description"),
    x12="2400/SV1/01-07",
    not_in_files="The guide leaves a description to the submitter, and takes a note: X837-UNLISTED warns.",
)
def unlisted_procedure_is_described(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A procedure code that names no procedure comes with a description."""
    for at, line in enumerate(view.lines):
        if is_unlisted(line.procedure) and line.description is None:
            yield (
                f"lines[{at}].description",
                f"The procedure {quoted(line.procedure)} is an unlisted one; describe the service in "
                f"{view.form.name_of('lines[].description')}.",
            )


@rule(
    "C604", paths=("lines[].control_number",), x12="2400/REF:6R/02", covers=("X837-LINE-CONTROL",)
)
def control_numbers_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """No two lines of a claim have the same control number."""
    seen: dict[str, int] = {}
    for at, line in enumerate(view.lines):
        number = line.control_number
        if number is not None and seen.setdefault(number, at) != at:
            yield (
                f"lines[{at}].control_number",
                f"The control number {quoted(number)} is also that of "
                f"{view.form.locate(f'lines[{seen[number]}]')}; "
                "give each line its own, or none.",
            )


@line_rule("C605", paths=("in_minutes", "units"), x12="2400/SV1/04", when_filled=("in_minutes",))
def anesthesia_is_counted_in_minutes(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Anesthesia is counted in whole minutes."""
    if not line.in_minutes or not _may_have_minutes(line):
        return
    minutes = line.units
    if minutes is None:
        yield (
            "units",
            "Anesthesia is counted in minutes; give the minutes in "
            f"{view.form.name_of('lines[].units')}.",
        )
    elif not is_whole(minutes) or minutes > ANESTHESIA_MINUTES_MAX:
        yield (
            "units",
            f"Anesthesia of {minutes} minutes was found; give whole minutes up to "
            f"{ANESTHESIA_MINUTES_MAX}.",
        )


def _has_minutes(code: str) -> bool:
    """Return whether a code is of anesthesia that is counted in minutes."""
    is_one = code[:1] == "0" and _ANESTHESIA.fullmatch(code) is not None
    return is_one and code not in ANESTHESIA_IN_UNITS


def _may_have_minutes(line: LineView) -> bool:
    return _has_minutes(line.procedure) or any(
        modifier in line.modifiers for modifier in ANESTHESIA_MODIFIERS
    )


@rule(
    "C606",
    paths=("lines[].in_minutes", "lines[].procedure"),
    x12="2400/SV1/03",
    severity=WARNING,
    covers=("X837-MINUTES",),
)
def anesthesia_is_marked(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An anesthesia code comes with the anesthesia mark, and is then counted in minutes."""
    for at, line in enumerate(view.lines):
        if _has_minutes(line.procedure) and not line.in_minutes:
            name_of = view.form.name_of
            yield (
                f"lines[{at}].in_minutes",
                f"The procedure {quoted(line.procedure)} is an anesthesia code, and is sent in units; set "
                f"{name_of('lines[].in_minutes')} and give minutes in {name_of('lines[].units')}.",
            )


@line_rule(
    "C613",
    paths=("in_minutes", "procedure"),
    x12="2400/SV1/03",
    when_filled=("in_minutes",),
    covers=("X837-MINUTES",),
)
def only_anesthesia_has_minutes(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Only anesthesia is counted in minutes: by its code, or by a modifier of anesthesia."""
    if line.in_minutes and not _may_have_minutes(line):
        yield (
            "in_minutes",
            f"The procedure {quoted(line.procedure)} is not counted in minutes; leave "
            f"{view.form.name_of('lines[].in_minutes')} out "
            f"and give units, or give an anesthesia code (00100 to 01999 without {' and '.join(sorted(ANESTHESIA_IN_UNITS))}) "
            f"or a modifier of anesthesia ({', '.join(ANESTHESIA_MODIFIERS)}).",
        )


@line_rule(
    "C607",
    paths=[f"measurement.{name}" for name in MEASUREMENT],
    x12="2400/MEA",
    when_filled=("measurement",),
    not_in_files=GUIDE_REQUIRES,
)
def measurement_is_complete(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A measurement has a reference, a qualifier and a value."""
    missing = [name for name in MEASUREMENT if getattr(line.measurement, name) is None]
    # A value of 0 alone is a caller that fills every number.
    begun = line.measurement.value or len(missing) < 2
    for name in missing if begun else ():
        own = view.form.name_of(f"lines[].measurement.{name}")
        yield (
            f"measurement.{name}",
            f"The measurement is begun but {own} is missing; give all three or none.",
        )


@line_rule(
    "C608",
    paths=("contract.type", "contract.amount"),
    x12="2400/CN1/01",
    when_filled=("contract.amount",),
    not_in_files=GUIDE_REQUIRES,
)
def line_contract_has_a_type(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A contract amount of a line comes with the contract's type."""
    if line.contract.amount and line.contract.type is None:
        yield (
            "contract.type",
            f"There is a contract amount without a type; give {view.form.name_of('lines[].contract.type')}.",
        )


@rule(
    "C609",
    paths=("contract.type", "contract.amount", "contract.code"),
    x12="2300/CN1/01",
    when_filled=("contract.amount", "contract.code"),
    not_in_files=GUIDE_REQUIRES,
)
def claim_contract_has_a_type(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A contract amount or code of the claim comes with the contract's type."""
    contract = view.contract
    if (contract.amount or contract.code) and contract.type is None:
        yield (
            "contract.type",
            f"There is a contract amount or code without a type; give {view.form.name_of('contract.type')}.",
        )


@rule("C610", paths=("lines[].modifiers",), x12="2400/SV1/01-03")
def modifiers_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A modifier is given once."""
    for at, line in enumerate(view.lines):
        given = line.modifiers
        if len(given) > 1 and len(set(given)) != len(given):
            yield (
                f"lines[{at}].modifiers",
                f"The modifiers {quoted(','.join(given))} repeat one; give each once.",
            )


@line_rule("C611", paths=("units",), x12="2400/SV3/06", if_form_has=TEETH, when_filled=("units",))
def dental_quantity_is_whole(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A dental quantity is a whole number."""
    if line.units is not None and not is_whole(line.units):
        yield (
            "units",
            f"The quantity {line.units} is not whole; give a whole number.",
        )


@rule("C612", paths=("lines[].procedure",), x12="2400/SV1", severity=WARNING)
def lines_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Two equal lines look like a mistake to a payer."""
    lines = view.lines
    if not view.form.duplicate_paths or len({line.procedure for line in lines}) == len(lines):
        return
    compared = attrgetter(*view.form.duplicate_paths)
    seen: dict[object, int] = {}
    for at, line in enumerate(lines):
        first = seen.setdefault(compared(line), at)
        if first != at and line.procedure:
            yield (
                f"lines[{at}].procedure",
                f"The line repeats line {first + 1}; raise its units, or add a modifier that tells them apart.",
            )


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _is_in_a_range(code: str) -> bool:
    """Return whether a code is in a range of CPT; one that is not five digits has another form."""
    return not _FIVE_DIGITS.fullmatch(code) or any(
        first <= code <= last for first, last in CPT_RANGES
    )


@line_rule(
    "C616",
    paths=("procedure",),
    x12="2400/SV1/01-02",
    severity=WARNING,
    if_form_lacks=TEETH,
)
def local_procedure_is_known(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A procedure code in no range of CPT is a local code of workers' compensation or of an auto payer."""
    if not _is_in_a_range(line.procedure) and view.payer.coverage in LOCAL_CODE_COVERAGES:
        yield (
            "procedure",
            f"The procedure {quoted(line.procedure)} is in no range of CPT; check that it is a local code of the payer.",
        )


@line_rule(
    "C617",
    paths=("units", "last_day"),
    x12="2400/SV1/04",
    severity=WARNING,
    if_form_lacks=TEETH,
    when_filled=("last_day",),
)
def visits_fit_the_span_of_days(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The visits of a span of days are more than one, and no more than its days."""
    if not (line.first_day and line.last_day and _VISIT.fullmatch(line.procedure)):
        return
    days, visits = (line.last_day - line.first_day).days + 1, line.units or 1
    if days > 1 and not 1 < visits <= days:
        yield (
            "units",
            f"The line has units {visits} for a span of {days} days; give the visits on all these days, or the day of the only one.",
        )


@line_rule("C614", paths=("procedure",), x12="2400/SV1/01-02", if_form_lacks=TEETH)
def procedure_is_in_a_range(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A procedure code of five digits is in a range of CPT; workers' compensation and auto payers have codes of their own."""
    code = line.procedure
    if not _is_in_a_range(code) and view.payer.coverage not in LOCAL_CODE_COVERAGES:
        yield (
            "procedure",
            f"The procedure {quoted(code)} is in no range of CPT; give a code of the list.",
        )


@line_rule("C615", paths=("modifiers",), x12="2400/SV1/01-03", severity=WARNING)
def modifier_is_known(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A modifier of two digits is one of CPT's."""
    for at, modifier in enumerate(line.modifiers):
        if modifier.isdecimal() and modifier not in CPT_MODIFIERS:
            yield (
                f"modifiers[{at}]",
                f"There is no CPT modifier {quoted(modifier)}; check it.",
            )


@rule(
    "C618",
    paths=("transport_reason", "pick_up.street", "drop_off.street", "lines[].place"),
    x12="2300/CR1/04",
    severity=WARNING,
)
def ambulance_has_its_journey(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A transport by ambulance (place 41 or 42) comes with its reason (CR1), and where it began and ended."""
    if not any(line.place in AMBULANCE and line.procedure.startswith("A0") for line in view.lines):
        return
    for path, value in (
        ("transport_reason", view.transport_reason),
        ("pick_up.street", view.pick_up.city),
        ("drop_off.street", view.drop_off.city),
    ):
        if value is None:
            yield (
                path,
                f"The service is a transport by ambulance; give {view.form.name_of(path)}.",
            )
