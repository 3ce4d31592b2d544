"""C63: codes of lists that an operator has imported: HCPCS, CPT, CDT, modifiers, taxonomies.

A list that is not there makes its rule silent. So does one that does not cover the day of service, but for a code that it
does not have at all: that one is sent with a warning.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from clearlane.claims.rules.registry import (
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.rules.services import CPT_MODIFIERS, LOCAL_CODE_COVERAGES
from clearlane.claims.view import ClaimView
from clearlane.kernel import limits
from clearlane.x12.codes.dated_codes import DatedCodes

PROCEDURES = ("lines[].procedure",)
HCPCS, CPT, CDT, TAXONOMY = "hcpcs", "cpt", "cdt", "taxonomy"
TITLES = {HCPCS: "HCPCS", CPT: "CPT", CDT: "CDT"}
# What a code is on, by its form. Codes of dentistry are no longer in the file of HCPCS.
_LISTS = (
    (CDT, re.compile(r"D\d{4}", re.ASCII)),
    (HCPCS, re.compile(r"[A-Z]\d{4}", re.ASCII)),
    (CPT, re.compile(r"\d{4}[0-9AFMTU]", re.ASCII)),
)


# Results are remembered by list: a list that an operator has changed is another one.
@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _is_valid(known: DatedCodes, code: str, day: date) -> bool:
    near = known.nearest_day(day)
    return known.is_valid(code, near, near)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _list_of(code: str) -> str | None:
    return next((name for name, form in _LISTS if form.fullmatch(code)), None)


def _wrong(
    view: ClaimView, inputs: RuleInputs, *, is_covered: bool
) -> Iterator[tuple[int, str, str, DatedCodes, date]]:
    """Return the procedures that are not valid on a day that their list covers, or does not."""
    for at, line in enumerate(view.lines):
        name = _list_of(line.procedure)
        known = inputs.code_lists.find(name) if name else None
        if name is None or known is None:
            continue
        day = line.first_day or inputs.today
        if known.covers(day) is is_covered and not _is_valid(known, line.procedure, day):
            yield at, name, line.procedure, known, day


@rule("C631", paths=PROCEDURES, x12="2400/SV1/01-02")
def procedure_is_valid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A procedure code is valid on the day of service, by the HCPCS, CPT or CDT list that the operator has imported."""
    for at, name, code, known, day in _wrong(view, inputs, is_covered=True):
        if view.payer.coverage in LOCAL_CODE_COVERAGES and name == CPT:
            continue
        ended = [period.last_day for period in known.periods(code) if period.last_day < day]
        why = f"ended on {max(ended)}" if ended else f"is not valid on {day}"
        yield (
            f"lines[{at}].procedure",
            f"The {TITLES[name]} code {quoted(code)} {why}; give a code that is valid on the day of service.",
        )


@rule("C632", paths=PROCEDURES, x12="2400/SV1/01-02", severity=WARNING)
def procedure_is_known(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A procedure code that an imported list lacks may be new if the list ends before the service; it is sent with a warning."""
    for at, name, code, known, day in _wrong(view, inputs, is_covered=False):
        yield (
            f"lines[{at}].procedure",
            f"The {TITLES[name]} list ends on {known.nearest_day(day)} and has no {quoted(code)}; it is sent as given. "
            "Check that the code is valid on the day of service.",
        )


@rule(
    "C633",
    paths=("lines[].modifiers",),
    x12="2400/SV1/01-03",
    severity=WARNING,
    if_form_lacks=TEETH,
)
def modifier_is_listed(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A modifier with a letter is one of the HCPCS list that the operator has imported, or one of CPT."""
    known = inputs.code_lists.find(HCPCS)
    if known is None:
        return
    for at, line in enumerate(view.lines):
        day = line.first_day or inputs.today
        for index, modifier in enumerate(line.modifiers):
            if modifier.isdecimal() or modifier in CPT_MODIFIERS or not known.covers(day):
                continue
            if not _is_valid(known, modifier, day):
                yield (
                    f"lines[{at}].modifiers[{index}]",
                    f"There is no modifier {quoted(modifier)} on {day}; check it.",
                )


@rule(
    "C419",
    paths=("billing.taxonomy", "rendering.taxonomy", "lines[].rendering.taxonomy"),
    x12="PRV/03",
    severity=WARNING,
)
def taxonomy_is_listed(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A taxonomy code is in the release of NUCC that the operator has imported."""
    known = inputs.code_lists.find(TAXONOMY)
    if known is None:
        return
    day = known.nearest_day(inputs.today)
    given = [("billing.taxonomy", view.billing.taxonomy)]
    given.append(("rendering.taxonomy", view.rendering.taxonomy))
    given += [
        (f"lines[{at}].rendering.taxonomy", line.rendering.taxonomy)
        for at, line in enumerate(view.lines)
    ]
    for path, code in given:
        if code is not None and not _is_valid(known, code, day):
            yield path, f"The taxonomy code {quoted(code)} is not in the list; check it."
