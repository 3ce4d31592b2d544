"""C5: diagnoses, and which line points to which."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from clearlane.claims.codes import POINTED_PLACES
from clearlane.claims.rules.dates import Span, span
from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    GUIDE_LIMITS,
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

ICD_10_CM = "icd-10-cm"
CODES_SUGGESTED_MAX = 4
MARKS = frozenset({"newborn", "pediatric", "maternity", "adult", "male", "female", "manifestation"})
"""The marks that rules ask for. The publisher's list has more, for inpatient stays."""
NEVER = Period(date.max, date.min)
ICD_10_FROM = date(2015, 10, 1)  # 45 CFR 162.1002: services from this day on are coded in ICD-10.

# Second after the letter is a digit, or an A if digits ran out: QA0 is there since October 2025.
_FORMS = {
    "10": re.compile(r"[A-Z][0-9A][0-9A-Z][0-9A-Z]{0,4}", re.ASCII),
    "9": re.compile(r"\d{3,5}|V\d{2,4}|E\d{3,4}", re.ASCII),
}
_EXTERNAL_CAUSE = re.compile(r"[VWXY]")
CODES = ("diagnoses",)
VERSION = ("icd_version",)
POINTERS = ("lines[].pointers",)

Each = list[tuple[int, str]]


def each(view: ClaimView) -> Each | None:
    """Return every diagnosis with its place in the list, or None if there is none."""
    return [(at, code) for at, code in enumerate(view.diagnoses) if code] or None


def icd_version(view: ClaimView) -> str:
    """Return the ICD version, ``10`` or ``9``; a claim without one means ICD-10."""
    return view.icd_version or "10"


def dotted(code: str) -> str:
    """Return a code of ICD-10-CM as people write it, such as I42.0."""
    return f"{code[:3]}.{code[3:]}" if len(code) > 3 and "." not in code else code


# Results are remembered by list: a list that an operator has changed is another one.
@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _plain_since(known: DatedCodes, code: str) -> date:
    """Return the day since which a code is valid without a mark until the list ends; the last of all days if it is not."""
    last = (known.periods(code) or [NEVER])[-1]
    ends_with_list = len(known.days) == 1 and last.last_day == known.last_day
    return last.first_day if ends_with_list and MARKS.isdisjoint(last.attributes) else date.max


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _is_valid(known: DatedCodes, code: str, first: date, last: date) -> bool:
    return known.is_valid(code, first, last)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _marks(known: DatedCodes, code: str, day: date) -> frozenset[str]:
    return known.attributes_on(code, day) & MARKS


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _finer(known: DatedCodes, code: str, first: date, last: date) -> tuple[str, ...]:
    """Return the first codes below a heading, as people write them."""
    found = known.finer(code, first, last)
    return tuple(map(dotted, islice(found, CODES_SUGGESTED_MAX)))


@rule("C501", paths=VERSION, x12="2300/HI/01-01", reading=span, covers=("X837-ICD-DAY",))
def version_fits_the_day(view: ClaimView, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """Services before October 2015 are coded in ICD-9, later ones in ICD-10."""
    wanted, version = "10" if days.last >= ICD_10_FROM else "9", icd_version(view)
    if version in _FORMS and version != wanted and any(view.diagnoses):
        yield (
            "icd_version",
            f"The diagnoses are said to be ICD-{version}, but the service was on {days.last}; "
            f"give ICD-{wanted} codes.",
        )


@rule("C502", paths=CODES, x12="2300/HI/01-02", reading=each, covers=("X837-ICD-FORM",))
def codes_have_the_form(view: ClaimView, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """A diagnosis code has the form of its ICD version."""
    version = icd_version(view)
    form = _FORMS.get(version)
    for at, code in given:
        if form and not form.fullmatch(code):
            yield (
                f"diagnoses[{at}]",
                f"The diagnosis {quoted(code)} has not the form of an ICD-{version} code; give "
                f"{'a letter, a digit and up to five more' if version == '10' else 'three to five'}"
                " characters, with or without the dot.",
            )


class MarkedCode(NamedTuple):
    """A diagnosis that the publisher marks on the day of service."""

    at: int
    code: str
    marks: frozenset[str]


class JudgedCodes(NamedTuple):
    """What the list of ICD-10-CM says of the diagnoses of a claim on the days of service."""

    first: date
    last: date
    wrong: Each
    """The codes that are not valid."""
    marked: list[MarkedCode]


def judged_codes(view: ClaimView, inputs: RuleInputs) -> JudgedCodes | None:
    """Return what the list says of the diagnoses; None if all are valid without a mark, or it does not cover the service.

    A predetermination is about services to come: it is judged by today. Three ways out come first, for speed: nearly all
    claims have only codes that are valid on every day of the list.
    """
    known = inputs.code_lists[ICD_10_CM]
    given = [(at, code) for at, code in enumerate(view.diagnoses) if code]
    since = max([_plain_since(known, code) for _, code in given], default=known.first_day)
    if since <= known.first_day or icd_version(view) != "10":
        return None
    starts = [line.first_day for line in view.lines]
    if starts and min([day or date.min for day in starts]) >= since:
        return None
    days = span(view)
    first, last = (days.first, days.last) if days else (inputs.today, inputs.today)
    if not known.covers(last):
        return None
    wrong = [
        (at, code)
        for at, code in given
        if not _is_valid(known, code, first, last) and _FORMS["10"].fullmatch(code)
    ]
    marked = [
        MarkedCode(at, code, marks) for at, code in given if (marks := _marks(known, code, last))
    ]
    return JudgedCodes(first, last, wrong, marked) if wrong or marked else None


@rule("C503", paths=CODES, x12="2300/HI/01-02", reading=judged_codes)
def codes_are_valid(
    view: ClaimView, inputs: RuleInputs, judged: JudgedCodes
) -> Iterator[FieldFinding]:
    """An ICD-10 diagnosis code is valid on the day of service, unless the service is later than the list."""
    known = inputs.code_lists[ICD_10_CM]
    for at, code in judged.wrong:
        periods, finer = known.periods(code), _finer(known, code, judged.first, judged.last)
        if periods or not finer:
            yield f"diagnoses[{at}]", _why_not_valid(code, periods, judged.last, finer)


def _why_not_valid(code: str, periods: Sequence[Period], day: date, finer: Sequence[str]) -> str:
    """Return why a code is not valid on the day of service, and what would pass."""
    before = [period.last_day for period in periods if period.last_day < day]
    if before:
        what = (
            f"one of its finer codes: {', '.join(finer)}" if finer else "a code that is valid then"
        )
        return f"The ICD-10-CM code {quoted(dotted(code))} ended on {max(before)}, before the service on {day}; give {what}."
    if periods:
        return (
            f"The ICD-10-CM code {quoted(dotted(code))} is valid from {periods[0].first_day}, after the service on {day}; "
            "give a code that was valid then."
        )
    return f"There is no ICD-10-CM code {quoted(dotted(code))}; give a code of the list."


@rule("C504", paths=CODES, x12="2300/HI/01-02", reading=judged_codes)
def codes_are_complete(
    view: ClaimView, inputs: RuleInputs, judged: JudgedCodes
) -> Iterator[FieldFinding]:
    """A diagnosis is coded as finely as the list of the day allows."""
    known = inputs.code_lists[ICD_10_CM]
    for at, code in judged.wrong:
        finer = _finer(known, code, judged.first, judged.last)
        if finer and not known.periods(code):
            yield (
                f"diagnoses[{at}]",
                f"The diagnosis {quoted(dotted(code))} is a heading; give one of its finer codes, such as {finer[0]}.",
            )


@rule("C505", paths=CODES, x12="2300/HI", reading=each, covers=("X837-ICD-TWICE",))
def codes_are_different(view: ClaimView, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """No diagnosis is given twice."""
    seen: set[str] = set()
    for at, code in given:
        if code in seen:
            shown = dotted(code) if icd_version(view) == "10" else code
            yield (
                f"diagnoses[{at}]",
                f"The diagnosis {quoted(shown)} is given twice; give each once.",
            )
        seen.add(code)


@rule("C506", paths=CODES, x12="2300/HI", not_in_files=GUIDE_LIMITS)
def codes_are_few(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A medical claim has at most 12 diagnoses, a dental one 4."""
    count, most = len(view.diagnoses), view.form.diagnoses_max
    if count > most:
        yield (
            "diagnoses",
            f"There are {count} diagnoses; at most {most} can be sent.",
        )


@rule("C507", paths=CODES, x12="2300/HI/01", fixed=GUIDE_FIXES)
def first_code_is_given(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The first place of the list holds the principal diagnosis."""
    if view.diagnoses and view.diagnoses[0] is None:
        yield (
            "diagnoses[0]",
            "The first diagnosis is blank; give the principal diagnosis first.",
        )


@rule("C508", paths=CODES, x12="2300/HI/01-02", if_form_lacks=TEETH, reading=each)
def external_cause_is_not_first(
    view: ClaimView, inputs: RuleInputs, given: Each
) -> Iterator[FieldFinding]:
    """An external cause (V00 to Y99) is never the principal diagnosis."""
    at, code = given[0]
    if icd_version(view) == "10" and _EXTERNAL_CAUSE.match(code):
        yield (
            f"diagnoses[{at}]",
            f"The diagnosis {quoted(dotted(code))} is an external cause; give the injury first.",
        )


@rule(
    "C509", paths=("icd_version", "diagnoses"), x12="2300/HI", when_filled=CODES, fixed=GUIDE_FIXES
)
def version_comes_with_codes(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A diagnosis says which ICD version it is."""
    if view.diagnoses and not view.icd_version:
        yield (
            "icd_version",
            "There is a diagnosis without its version; give AB for ICD-10, B for ICD-9.",
        )


def pointer_lists(view: ClaimView) -> list[Sequence[str | None]] | None:
    """Return the pointers of every line, or None if no line has one."""
    found: list[Sequence[str | None]] = [line.pointers for line in view.lines]
    return found if any(found) else None


@rule("C510", paths=POINTERS, x12="2400/SV1/07", reading=pointer_lists, covers=("X837-POINTER",))
def pointers_point_to_a_diagnosis(
    view: ClaimView, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A pointer names a diagnosis of the claim."""
    places = view.diagnoses
    if not places and not view.form.has(TEETH):
        return  # Only dental claims need none; of others it is reported already.
    for at, given in enumerate(lists):
        for index, pointer in enumerate(given):
            if pointer is not None and not _is_pointed(places, pointer):
                yield (
                    f"lines[{at}].pointers[{index}]",
                    f"The pointer {quoted(pointer)} names no diagnosis of the claim; {_passing(view)}",
                )


def _is_pointed(places: Sequence[str | None], pointer: str) -> bool:
    place = POINTED_PLACES.get(pointer)
    return place is not None and place <= len(places) and bool(places[place - 1])


def _passing(view: ClaimView) -> str:
    """Return which pointers would pass, as the end of a sentence."""
    if not view.diagnoses:
        return "give diagnoses, or leave it out."
    first, *_ = pointers = view.form.pointers[: len(view.diagnoses)]
    what = "letter" if first.isalpha() else "number"
    return f"give a {what} from {first} to {pointers[-1]}."


@rule("C511", paths=POINTERS, x12="2400/SV1/07", reading=pointer_lists, fixed=GUIDE_FIXES)
def pointers_are_few(
    view: ClaimView, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A line has at most four pointers."""
    for at, given in enumerate(lists):
        if len(given) > limits.POINTERS_PER_LINE_MAX:
            yield (
                f"lines[{at}].pointers",
                f"There are {len(given)} pointers; at most {limits.POINTERS_PER_LINE_MAX} can be sent.",
            )


@rule(
    "C512",
    paths=POINTERS,
    x12="2400/SV1/07",
    severity=WARNING,
    reading=pointer_lists,
    covers=("X837-POINTER",),
)
def pointers_are_different(
    view: ClaimView, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A line points to a diagnosis once; a repeated pointer is not sent."""
    for at, given in enumerate(lists):
        if len(given) > 1 and len(set(given)) != len(given):
            yield f"lines[{at}].pointers", "A pointer is given twice; give each once."
