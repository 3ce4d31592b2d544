"""C5: diagnoses, and which line points to which."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache

from clearlane.claims.fields import Claim, DentalClaim, Line, MedicalClaim, MedicalLine, lines_of
from clearlane.claims.rules.dates import Span, span
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    on_line,
    quoted,
    rule,
)
from clearlane.kernel import limits
from clearlane.x12.codes import icd10

ICD_10_FROM = date(2015, 10, 1)  # 45 CFR 162.1002: services from this day on are coded in ICD-10.
LETTERS = "ABCDEFGHIJKL"

_FORMS = {
    "10": re.compile(r"[A-Z]\d[0-9A-Z][0-9A-Z]{0,4}", re.ASCII),
    "9": re.compile(r"\d{3,5}|V\d{2,4}|E\d{3,4}", re.ASCII),
}
_EXTERNAL_CAUSE = re.compile(r"[VWXY]")
_PLACES = {
    **{letter: place for place, letter in enumerate(LETTERS, start=1)},
    **{str(place): place for place in range(1, len(LETTERS) + 1)},
}
CODES = ("F21_DiagnosisCodes", "F34a_DiagnosisCode")
VERSIONS = ("F21_IcdIndicator", "F34_DiagnosiseCodeQualifier")
POINTERS = ("F24E_DiagnosisPointers", "F29a_DiagnosisPointer")


def diagnoses(claim: Claim) -> Sequence[str | None]:
    """Return the diagnoses by place; a place may be blank."""
    if isinstance(claim, MedicalClaim):
        return claim.F21_DiagnosisCodes
    return claim.F34a_DiagnosisCode.split(",") if claim.F34a_DiagnosisCode else ()


def version(claim: Claim) -> str:
    """Return the ICD version, ``10`` or ``9``; a dental claim without one means ICD-10."""
    if isinstance(claim, MedicalClaim):
        return claim.F21_IcdIndicator
    return claim.F34_DiagnosiseCodeQualifier or "10"


def pointers(line: Line) -> Sequence[str | None]:
    """Return the pointers of a line as given."""
    if isinstance(line, MedicalLine):
        return line.F24E_DiagnosisPointers
    return line.F29a_DiagnosisPointer.split(",") if line.F29a_DiagnosisPointer else ()


def pointed(pointer: str) -> int | None:
    """Return the place a pointer means, from 1: a letter A to L, or a number 1 to 12."""
    return _PLACES.get(pointer)


Each = list[tuple[str, str]]


def each(claim: Claim) -> Each | None:
    """Return every diagnosis with its path; None where there is none."""
    if isinstance(claim, MedicalClaim):
        found = enumerate(claim.F21_DiagnosisCodes)
        return [(f"F21_DiagnosisCodes[{at}]", code) for at, code in found if code is not None]
    return [("F34a_DiagnosisCode", code) for code in diagnoses(claim) if code] or None


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _exists(code: str) -> bool | None:
    return icd10.exists(code)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _billable(code: str) -> bool | None:
    return icd10.is_billable(code)


@rule("C501", fields=VERSIONS, x12="2300/HI/01-01", reading=span)
def version_fits_the_day(claim: Claim, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """Services before October 2015 are coded in ICD-9, later ones in ICD-10."""
    wanted = "10" if days.last >= ICD_10_FROM else "9"
    if version(claim) in _FORMS and version(claim) != wanted and any(diagnoses(claim)):
        yield (
            _pick(claim, VERSIONS),
            f"The diagnoses are said to be ICD-{version(claim)}, but the service was on {days.last}; "
            f"give ICD-{wanted} codes.",
        )


@rule("C502", fields=CODES, x12="2300/HI/01-02", reading=each)
def codes_have_the_form(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """A diagnosis code has the form of its ICD version."""
    form = _FORMS.get(version(claim))
    for path, code in given:
        if form and not form.fullmatch(code):
            yield (
                path,
                f"The diagnosis {quoted(code)} has not the form of an ICD-{version(claim)} code; give "
                f"{'a letter, a digit and up to five more' if version(claim) == '10' else 'three to five'}"
                " characters, with or without the dot.",
            )


@rule("C503", fields=CODES, x12="2300/HI/01-02", reading=each)
def codes_exist(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """An ICD-10 diagnosis code exists."""
    if version(claim) == "10":
        for path, code in given:
            if _FORMS["10"].fullmatch(code) and _exists(code) is False:
                yield path, f"There is no ICD-10-CM code {quoted(code)}; give a code of the list."


@rule("C504", fields=CODES, x12="2300/HI/01-02", severity=WARNING, reading=each)
def codes_are_complete(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """A diagnosis is coded as finely as the list allows."""
    if version(claim) == "10":
        for path, code in given:
            if _exists(code) and _billable(code) is False:
                yield (
                    path,
                    f"The diagnosis {quoted(code)} is a heading; payers want one of its finer codes.",
                )


@rule("C505", fields=CODES, x12="2300/HI", reading=each)
def codes_are_different(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """No diagnosis is given twice."""
    seen: set[str] = set()
    for path, code in given:
        if code in seen:
            yield path, f"The diagnosis {quoted(code)} is given twice; give each once."
        seen.add(code)


@rule("C506", fields=CODES, x12="2300/HI")
def codes_are_few(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A medical claim has at most 12 diagnoses, a dental one 4."""
    medical = isinstance(claim, MedicalClaim)
    most = limits.MEDICAL_DIAGNOSES_MAX if medical else limits.DENTAL_DIAGNOSES_MAX
    count = len(diagnoses(claim))
    if count > most:
        yield _pick(claim, CODES), f"There are {count} diagnoses; at most {most} can be sent."


@rule("C507", fields=CODES, x12="2300/HI/01", kinds=(MEDICAL,))
def first_code_is_given(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The first place of the list holds the principal diagnosis."""
    if claim.F21_DiagnosisCodes[0] is None:
        yield (
            "F21_DiagnosisCodes[0]",
            "The first diagnosis is blank; give the principal diagnosis first.",
        )


@rule("C508", fields=CODES, x12="2300/HI/01-02", severity=WARNING, reading=each)
def external_cause_is_not_first(
    claim: Claim, inputs: RuleInputs, given: Each
) -> Iterator[FieldFinding]:
    """An external cause is never the principal diagnosis."""
    path, code = given[0]
    if version(claim) == "10" and _EXTERNAL_CAUSE.match(code):
        yield path, f"The diagnosis {quoted(code)} is an external cause; give the injury first."


@rule(
    "C509",
    fields=("F34_DiagnosiseCodeQualifier", "F34a_DiagnosisCode"),
    x12="2300/HI",
    kinds=(DENTAL,),
    when_filled=("F34a_DiagnosisCode",),
)
def version_comes_with_codes(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A dental diagnosis says which ICD version it is."""
    if claim.F34a_DiagnosisCode and not claim.F34_DiagnosiseCodeQualifier:
        yield (
            "F34_DiagnosiseCodeQualifier",
            "There is a diagnosis without its version; give AB for ICD-10, B for ICD-9.",
        )


def pointer_lists(claim: Claim) -> list[Sequence[str | None]] | None:
    """Return the pointers of every line; None where no line has one."""
    found = [pointers(line) for line in lines_of(claim)]
    return found if any(found) else None


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def _known(places: tuple[bool, ...]) -> frozenset[str]:
    """Return the pointers that name a filled place."""
    return frozenset(
        pointer for pointer, at in _PLACES.items() if at <= len(places) and places[at - 1]
    )


def _pointer_path(claim: Claim, at: int, index: int | None = None) -> str:
    if isinstance(claim, MedicalClaim):
        return on_line(claim, at, POINTERS[0] + (f"[{index}]" if index is not None else ""))
    return on_line(claim, at, POINTERS[1])


@rule("C510", fields=POINTERS, x12="2400/SV1/07", reading=pointer_lists)
def pointers_point_to_a_diagnosis(
    claim: Claim, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A pointer names a diagnosis of the claim."""
    places = diagnoses(claim)
    known = {
        pointer for pointer, place in _PLACES.items() if place <= len(places) and places[place - 1]
    }
    last = LETTERS[min(len(places), len(LETTERS)) - 1] if places else ""
    pass_with = f"give a letter from A to {last}." if last else "give diagnoses, or leave it out."
    for at, given in enumerate(lists):
        if not known.issuperset(given):
            for index, pointer in enumerate(given):
                if pointer is not None and pointer not in known:
                    yield (
                        _pointer_path(claim, at, index),
                        f"The pointer {quoted(pointer)} names no diagnosis of the claim; {pass_with}",
                    )


@rule("C511", fields=POINTERS, x12="2400/SV1/07", reading=pointer_lists)
def pointers_are_few(
    claim: Claim, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A line has at most four pointers."""
    for at, given in enumerate(lists):
        if len(given) > limits.POINTERS_PER_LINE_MAX:
            yield (
                _pointer_path(claim, at),
                f"There are {len(given)} pointers; at most {limits.POINTERS_PER_LINE_MAX} can be sent.",
            )


@rule("C512", fields=POINTERS, x12="2400/SV1/07", severity=WARNING, reading=pointer_lists)
def pointers_are_different(
    claim: Claim, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A line points to a diagnosis once; a repeated pointer is not sent."""
    for at, given in enumerate(lists):
        if len(given) > 1 and len(set(given)) != len(given):
            yield _pointer_path(claim, at), "A pointer is given twice; give each once."


def _pick(claim: Claim, names: tuple[str, str]) -> str:
    return names[0] if isinstance(claim, MedicalClaim) else names[1]
