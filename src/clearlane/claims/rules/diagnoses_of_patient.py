"""C52: whether a diagnosis may come first, and whether it fits the patient's age and sex.

The Medicare Code Editor marks the codes (``adult``, ``manifestation`` and others), and says which ages a mark allows. Dental
claims state diagnoses beside the teeth, not as the reason for the visit: these rules are not about them.
"""

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from clearlane.claims.rules.dates import Span, span
from clearlane.claims.rules.diagnoses import CODES, ICD_10_CM, icd_version
from clearlane.claims.rules.registry import (
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel import limits
from clearlane.x12.codes.dated_codes import DatedCodes, Period

AGES = {"newborn": (0, 0), "pediatric": (0, 17), "maternity": (9, 64), "adult": (15, 124)}
"""The ages in years for which the editor takes a code, by its mark."""
SEXES = {"male": "M", "female": "F"}
MANIFESTATION = "manifestation"
SEQUELA, SEQUELA_AT = "S", 7


class MarkedCode(NamedTuple):
    """A diagnosis that the editor marks on the day of service."""

    at: int
    code: str
    marks: frozenset[str]


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _marked_periods(known: DatedCodes, code: str) -> tuple[Period, ...]:
    return tuple(each for each in known.periods(code) if each.attributes)


class MarkedCodes(NamedTuple):
    """The diagnoses of a claim that have a mark on the last day of service."""

    days: Span
    codes: list[MarkedCode]


def marked_codes(view: ClaimView, inputs: RuleInputs) -> MarkedCodes | None:
    """Return the diagnoses with a mark on the last day of service, or None if there is none."""
    known = inputs.code_lists[ICD_10_CM]
    marked = [
        (at, code, periods)
        for at, code in enumerate(view.diagnoses)
        if code and (periods := _marked_periods(known, code))
    ]
    if not marked or icd_version(view) != "10" or (days := span(view)) is None:
        return None
    found = [
        MarkedCode(at, code, period.attributes)
        for at, code, periods in marked
        for period in periods
        if period.overlaps(days.last, days.last)
    ]
    return MarkedCodes(days, found) if found else None


@rule("C521", paths=CODES, x12="2300/HI/01-02", if_form_lacks=TEETH, reading=marked_codes)
def manifestation_is_not_first(
    view: ClaimView, inputs: RuleInputs, found: MarkedCodes
) -> Iterator[FieldFinding]:
    """A manifestation follows its cause: it is never the principal diagnosis."""
    for at, code, marks in found.codes[:1]:
        if at == 0 and MANIFESTATION in marks:
            yield (
                f"diagnoses[{at}]",
                f"The diagnosis {quoted(code)} is a manifestation of another disease; give that disease first.",
            )


@rule("C522", paths=CODES, x12="2300/HI/01-02", severity=WARNING, if_form_lacks=TEETH)
def sequela_is_not_first(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A sequela (seventh character S) follows the condition that it has led to."""
    first = view.diagnoses[0] if view.diagnoses else None
    if first and len(first) == SEQUELA_AT and first.endswith(SEQUELA) and icd_version(view) == "10":
        yield (
            "diagnoses[0]",
            f"The diagnosis {quoted(first)} is a sequela; give the condition that it has led to first.",
        )


@rule(
    "C523",
    paths=(*CODES, "patient.birth"),
    x12="2300/HI/01-02",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=marked_codes,
)
def diagnosis_fits_the_age(
    view: ClaimView, inputs: RuleInputs, found: MarkedCodes
) -> Iterator[FieldFinding]:
    """A diagnosis of newborns, children, mothers or adults fits the patient's age."""
    days, birth = found.days, view.patient_birth
    if birth is None or birth > days.last:
        return
    youngest, oldest = _age(birth, days.first), _age(birth, days.last)
    for at, code, marks in found.codes:
        for mark in AGES.keys() & marks:
            least, most = AGES[mark]
            if oldest < least or youngest > most:
                yield (
                    f"diagnoses[{at}]",
                    f"The diagnosis {quoted(code)} is for ages {least} to {most} ({mark}), and the patient was {oldest}; "
                    "check the code and the birth date.",
                )


@rule(
    "C524",
    paths=(*CODES, "patient.sex"),
    x12="2300/HI/01-02",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=marked_codes,
)
def diagnosis_fits_the_sex(
    view: ClaimView, inputs: RuleInputs, found: MarkedCodes
) -> Iterator[FieldFinding]:
    """A diagnosis of one sex fits the patient's."""
    sex = view.patient.sex or view.subscriber.sex
    for at, code, marks in found.codes:
        for mark in SEXES.keys() & marks:
            if sex in SEXES.values() and sex != SEXES[mark]:
                yield (
                    f"diagnoses[{at}]",
                    f"The diagnosis {quoted(code)} is one of {mark} patients; check the code and the patient's sex.",
                )


def _age(birth: date, day: date) -> int:
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
