"""C5: diagnoses, and which line points to which."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache

from clearlane.claims.codes import POINTED_PLACES, POINTER_LETTERS
from clearlane.claims.fields import Claim, DentalClaim, MedicalClaim, fields_of
from clearlane.claims.forms import AnyForm, form_of, names_of_forms
from clearlane.claims.rules.dates import Span, span
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.kernel import limits
from clearlane.x12.codes import icd10

ICD_10_FROM = date(2015, 10, 1)  # 45 CFR 162.1002: services from this day on are coded in ICD-10.

_FORMS = {
    "10": re.compile(r"[A-Z]\d[0-9A-Z][0-9A-Z]{0,4}", re.ASCII),
    "9": re.compile(r"\d{3,5}|V\d{2,4}|E\d{3,4}", re.ASCII),
}
_EXTERNAL_CAUSE = re.compile(r"[VWXY]")
CODES = names_of_forms(lambda names: names.diagnoses)
VERSIONS = names_of_forms(lambda names: names.icd_version)
POINTERS = names_of_forms(lambda names: names.pointers)

Each = list[tuple[str, str]]


def each(claim: Claim) -> Each | None:
    """Return every diagnosis with its path; None where there is none."""
    return form_of(claim).diagnosis_paths(claim) or None


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _exists(code: str) -> bool | None:
    return icd10.exists(code)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _billable(code: str) -> bool | None:
    return icd10.is_billable(code)


@rule("C501", fields=VERSIONS, x12="2300/HI/01-01", reading=span)
def version_fits_the_day(claim: Claim, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """Services before October 2015 are coded in ICD-9, later ones in ICD-10."""
    form = form_of(claim)
    wanted, version = "10" if days.last >= ICD_10_FROM else "9", form.icd_version(claim)
    if version in _FORMS and version != wanted and any(form.diagnoses(claim)):
        yield (
            form.names.icd_version,
            f"The diagnoses are said to be ICD-{version}, but the service was on {days.last}; "
            f"give ICD-{wanted} codes.",
        )


@rule("C502", fields=CODES, x12="2300/HI/01-02", reading=each)
def codes_have_the_form(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """A diagnosis code has the form of its ICD version."""
    version = form_of(claim).icd_version(claim)
    form = _FORMS.get(version)
    for path, code in given:
        if form and not form.fullmatch(code):
            yield (
                path,
                f"The diagnosis {quoted(code)} has not the form of an ICD-{version} code; give "
                f"{'a letter, a digit and up to five more' if version == '10' else 'three to five'}"
                " characters, with or without the dot.",
            )


@rule("C503", fields=CODES, x12="2300/HI/01-02", reading=each)
def codes_exist(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """An ICD-10 diagnosis code exists: it is on the list, unless the service is later than the list."""
    unknown = _unknown_codes(claim, given)
    if unknown and not _ends_before_service(claim, inputs):
        for path, code in unknown:
            yield path, f"There is no ICD-10-CM code {quoted(code)}; give a code of the list."


@rule("C513", fields=CODES, x12="2300/HI/01-02", severity=WARNING, reading=each)
def codes_are_known(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """A code of a service later than the list of diagnoses may be new; one that the list lacks is sent with a warning."""
    unknown = _unknown_codes(claim, given)
    if unknown and _ends_before_service(claim, inputs):
        for path, code in unknown:
            yield (
                path,
                f"The list of ICD-10-CM codes ends on {icd10.last_day()}, before the service, and has no "
                f"{quoted(code)}; it is sent as given. Check that the code is valid on the day of service.",
            )


def _unknown_codes(claim: Claim, given: Each) -> Each:
    """Return the ICD-10 codes that have the right form and are not on the list."""
    unknown = [(path, code) for path, code in given if _exists(code) is False]
    if unknown and form_of(claim).icd_version(claim) == "10":
        return [(path, code) for path, code in unknown if _FORMS["10"].fullmatch(code)]
    return []


def _ends_before_service(claim: Claim, inputs: RuleInputs) -> bool:
    """Return whether the list ends before the last day of service; a predetermination is about services to come."""
    days, end = span(claim), icd10.last_day()
    return end is not None and (days.last if days else inputs.today) > end


@rule("C504", fields=CODES, x12="2300/HI/01-02", severity=WARNING, reading=each)
def codes_are_complete(claim: Claim, inputs: RuleInputs, given: Each) -> Iterator[FieldFinding]:
    """A diagnosis is coded as finely as the list allows."""
    if form_of(claim).icd_version(claim) == "10":
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
    form = form_of(claim)
    count = len(form.diagnoses(claim))
    if count > form.diagnoses_max:
        yield (
            form.names.diagnoses,
            f"There are {count} diagnoses; at most {form.diagnoses_max} can be sent.",
        )


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
    if form_of(claim).icd_version(claim) == "10" and _EXTERNAL_CAUSE.match(code):
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
    form = form_of(claim)
    found = [form.pointers(line) for line in form.lines(claim)]
    return found if any(found) else None


def _pointer_path(form: AnyForm, at: int, index: int | None = None) -> str:
    """Return the path of a line's pointers, or of one of them where the form has an array of them."""
    name = form.names.pointers
    numbered = index is not None and fields_of(form.line)[name].is_array
    return form.line_path(at, f"{name}[{index}]" if numbered else name)


@rule("C510", fields=POINTERS, x12="2400/SV1/07", reading=pointer_lists)
def pointers_point_to_a_diagnosis(
    claim: Claim, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A pointer names a diagnosis of the claim."""
    form = form_of(claim)
    places = form.diagnoses(claim)
    for at, given in enumerate(lists):
        for index, pointer in enumerate(given):
            if pointer is not None and not _is_pointed(places, pointer):
                yield (
                    _pointer_path(form, at, index),
                    f"The pointer {quoted(pointer)} names no diagnosis of the claim; {_passing(places)}",
                )


def _is_pointed(places: Sequence[str | None], pointer: str) -> bool:
    place = POINTED_PLACES.get(pointer)
    return place is not None and place <= len(places) and bool(places[place - 1])


def _passing(places: Sequence[str | None]) -> str:
    """Return which pointers would pass, as the end of a sentence."""
    if not places:
        return "give diagnoses, or leave it out."
    last = POINTER_LETTERS[min(len(places), len(POINTER_LETTERS)) - 1]
    return f"give a letter from A to {last}."


@rule("C511", fields=POINTERS, x12="2400/SV1/07", reading=pointer_lists)
def pointers_are_few(
    claim: Claim, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A line has at most four pointers."""
    for at, given in enumerate(lists):
        if len(given) > limits.POINTERS_PER_LINE_MAX:
            yield (
                _pointer_path(form_of(claim), at),
                f"There are {len(given)} pointers; at most {limits.POINTERS_PER_LINE_MAX} can be sent.",
            )


@rule("C512", fields=POINTERS, x12="2400/SV1/07", severity=WARNING, reading=pointer_lists)
def pointers_are_different(
    claim: Claim, inputs: RuleInputs, lists: list[Sequence[str | None]]
) -> Iterator[FieldFinding]:
    """A line points to a diagnosis once; a repeated pointer is not sent."""
    for at, given in enumerate(lists):
        if len(given) > 1 and len(set(given)) != len(given):
            yield _pointer_path(form_of(claim), at), "A pointer is given twice; give each once."
