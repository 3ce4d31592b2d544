"""C66: codes by the day of service in lists that an operator imports: NPIs, drugs, procedures, pairs, units, taxonomies.

Each rule asks a list of ``inputs.code_lists``. A list that is not imported has no findings, and neither has one that does
not cover the day. A list that ends before the service cannot know newer codes: what it lacks is then a warning (C672).
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from itertools import combinations

from clearlane.claims.rules.registry import (
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    line_rule,
    quoted,
    rule,
)
from clearlane.claims.rules.services import LOCAL_CODE_COVERAGES
from clearlane.claims.view import ClaimView, LineView, ProviderView
from clearlane.x12.codes.dated_codes import DatedCodes, Period

# The names of the lists.
DEACTIVATED, REGISTRY, DRUGS, PAIRS, UNITS = "nppes-deactivated", "nppes", "ndc", "ncci-ptp", "mue"
HCPCS, CPT, CDT, TAXONOMY, REASONS = "hcpcs", "cpt", "cdt", "taxonomy", "carc"

ROLES = ("billing", "rendering", "referring", "supervising", "ordering", "facility")
NPIS = tuple(f"{role}.npi" for role in ROLES)
LINE_NPI = "lines[].rendering.npi"
PERSONS = ("rendering", "referring", "supervising", "ordering")
"""Roles that people have."""
TAXONOMIES = tuple(f"{role}.taxonomy" for role in ROLES)
PROCEDURES = ("lines[].procedure",)
MODIFIERS = ("lines[].modifiers",)
DRUG_DIGITS, PRODUCT_DIGITS = 11, 9

_LEVEL_II = re.compile(r"[A-CE-Z]\d{4}", re.ASCII)
_CPT = re.compile(r"\d{4}[0-9AFMTU]", re.ASCII)
_CDT = re.compile(r"D\d{4}", re.ASCII)
# CPT's modifiers that are not two digits: physical status of anesthesia, and performance measures.
_CPT_LETTER_MODIFIERS = frozenset(["P1", "P2", "P3", "P4", "P5", "P6", "1P", "2P", "3P", "8P"])
# Modifiers that let a pair pass that is marked so: NCCI policy manual, chapter I, section E.
PAIR_MODIFIERS = frozenset(
    [
        "E1",
        "E2",
        "E3",
        "E4",
        "FA",
        "F1",
        "F2",
        "F3",
        "F4",
        "F5",
        "F6",
        "F7",
        "F8",
        "F9",
        "TA",
        "T1",
        "T2",
        "T3",
        "T4",
        "T5",
        "T6",
        "T7",
        "T8",
        "T9",
        "LT",
        "RT",
        "LC",
        "LD",
        "LM",
        "RC",
        "RI",
        "24",
        "25",
        "27",
        "57",
        "58",
        "59",
        "78",
        "79",
        "91",
        "XE",
        "XP",
        "XS",
        "XU",
    ]
)
BY_MODIFIER, NEVER = "modifier", "never"
PERSON, ORGANIZATION = "person", "organization"
UNITS_PREFIX, BY_LINE, BY_DAY = "units=", "line", "day"


def product_of(drug: str) -> str:
    """Return the first nine digits of a national drug code, labeler and product; empty if it has not eleven."""
    digits = drug.replace("-", "")
    is_whole = len(digits) == DRUG_DIGITS and digits.isascii() and digits.isdecimal()
    return digits[:PRODUCT_DIGITS] if is_whole else ""


def _days(line: LineView, inputs: RuleInputs) -> tuple[date, date]:
    """Return the first and the last day of a line; a service to come is judged by today."""
    first = line.first_day or line.last_day or inputs.today
    return first, line.last_day or first


def _claim_days(view: ClaimView, inputs: RuleInputs) -> tuple[date, date]:
    days = [_days(line, inputs) for line in view.lines]
    if not days:
        return inputs.today, inputs.today
    return min(first for first, _ in days), max(last for _, last in days)


def _why(what: str, code: str, periods: list[Period], day: date) -> str:
    """Return why a code is not valid on a day, and what would pass."""
    before = [period.last_day for period in periods if period.last_day < day]
    if before:
        return f"The {what} {quoted(code)} ended on {max(before)}, before {day}; give one that is valid then."
    if periods:
        return f"The {what} {quoted(code)} is valid from {periods[0].first_day}, after {day}; give one that was valid then."
    return f"There is no {what} {quoted(code)} on the list of {day}; give one of the list."


# --- providers -------------------------------------------------------------------------------------------------


def _providers(view: ClaimView) -> Iterator[tuple[str, ProviderView]]:
    for role in ROLES:
        yield role, getattr(view, role)
    for at, line in enumerate(view.lines):
        yield f"lines[{at}].rendering", line.rendering


@rule("C661", paths=(*NPIS, LINE_NPI), x12="2010AA/NM1/09")
def npi_is_active(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An NPI is not deactivated on the day of service, by the list of deactivated NPIs if it is imported."""
    known = inputs.code_lists.find(DEACTIVATED)
    if known is None:
        return
    first, last = _claim_days(view, inputs)
    for at, provider in _providers(view):
        npi = provider.npi
        if npi and known.is_valid(npi, first, last):
            yield (
                f"{at}.npi",
                f"The NPI {quoted(npi)} is deactivated on {last} by the list of NPPES; give one that is active then.",
            )


@rule("C662", paths=("rendering.npi", *NPIS, LINE_NPI), x12="2310B/NM1/09", severity=WARNING)
def npi_fits_the_role(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The NPI of one who renders, refers, supervises or orders is a person's, by the NPI registry if it is imported."""
    known = inputs.code_lists.find(REGISTRY)
    if known is None:
        return
    for at, provider in _providers(view):
        role = at.rpartition(".")[2]
        if role not in PERSONS or not provider.npi:
            continue
        periods = known.periods(provider.npi)
        if periods and ORGANIZATION in periods[-1].attributes:
            yield (
                f"{at}.npi",
                f"The NPI {quoted(provider.npi)} of the {role} provider is an organization's; give the person's own.",
            )


@rule(
    "C669",
    paths=TAXONOMIES,
    x12="2000A/PRV/03",
    severity=WARNING,
)
def taxonomy_is_known(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A taxonomy code is in NUCC's release of the day, if it is imported."""
    known = inputs.code_lists.find(TAXONOMY)
    if known is None:
        return
    first, last = _claim_days(view, inputs)
    for at, provider in _providers(view):
        code = provider.taxonomy
        if code and known.covers(last) and not known.is_valid(code, first, last):
            yield f"{at}.taxonomy", _why("taxonomy code", code, known.periods(code), last)


# --- drugs -----------------------------------------------------------------------------------------------------


@line_rule(
    "C663", paths=("drug.code",), x12="2410/LIN/03", severity=WARNING, when_filled=("drug.code",)
)
def drug_is_marketed(line: LineView, view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A national drug code is in FDA's directory and marketed on the day of service, if the directory is imported."""
    known = inputs.code_lists.find(DRUGS)
    product = product_of(line.drug.code or "")
    if known is None or not product:
        return
    first, last = _days(line, inputs)
    if known.covers(last) and not known.is_valid(product, first, last):
        yield "drug.code", _why("drug", line.drug.code or "", known.periods(product), last)


# --- procedures ------------------------------------------------------------------------------------------------


def _not_valid(
    view: ClaimView,
    inputs: RuleInputs,
    known: DatedCodes,
    form: re.Pattern[str],
    *,
    is_covered: bool,
) -> Iterator[tuple[int, str, date]]:
    """Return the procedures of a form that are not valid, of lines whose day the list covers, or does not."""
    for at, line in enumerate(view.lines):
        code = line.procedure
        if form.fullmatch(code):
            first, last = _days(line, inputs)
            if known.covers(last) is not is_covered:
                continue
            if not is_covered:
                first = last = known.nearest_day(last)
            if not known.is_valid(code, first, last):
                yield at, code, last


def _procedures(
    view: ClaimView, inputs: RuleInputs, name: str, form: re.Pattern[str], what: str
) -> Iterator[FieldFinding]:
    known = inputs.code_lists.find(name)
    if known is not None:
        for at, code, day in _not_valid(view, inputs, known, form, is_covered=True):
            yield f"lines[{at}].procedure", _why(what, code, known.periods(code), day)


@rule("C666", paths=PROCEDURES, x12="2400/SV1/01-02", if_form_lacks=TEETH)
def level_ii_code_is_valid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A HCPCS level II code is on CMS's list on the day of service, if the list is imported."""
    return _procedures(view, inputs, HCPCS, _LEVEL_II, "HCPCS code")


@rule("C667", paths=PROCEDURES, x12="2400/SV1/01-02", if_form_lacks=TEETH)
def cpt_code_is_valid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A CPT code is valid on the day of service, if the list is imported; auto and work accidents have codes of their own."""
    if view.payer.coverage in LOCAL_CODE_COVERAGES:
        return iter(())
    return _procedures(view, inputs, CPT, _CPT, "CPT code")


@rule("C668", paths=PROCEDURES, x12="2400/SV3/01-02", if_form_has=TEETH)
def cdt_code_is_valid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A CDT code is valid on the day of service, if the list is imported."""
    return _procedures(view, inputs, CDT, _CDT, "CDT code")


LISTED = ((HCPCS, _LEVEL_II, "HCPCS"), (CPT, _CPT, "CPT"), (CDT, _CDT, "CDT"))


@rule("C672", paths=PROCEDURES, x12="2400/SV1/01-02", severity=WARNING)
def procedure_is_in_the_last_list(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A procedure of a day that an imported list does not cover may be new; one that the list lacks is sent with a warning."""
    for name, form, what in LISTED:
        known = inputs.code_lists.find(name)
        if known is None:
            continue
        for at, code, day in _not_valid(view, inputs, known, form, is_covered=False):
            yield (
                f"lines[{at}].procedure",
                f"The list of {what} codes does not cover the service, and has no {quoted(code)} on {day}; it is sent as given. "
                "Check that the code is valid on the day of service.",
            )


@rule("C671", paths=MODIFIERS, x12="2400/SV1/01-03", severity=WARNING, if_form_lacks=TEETH)
def letter_modifier_is_known(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A modifier with a letter is one of HCPCS on the day of service, if CMS's list is imported, or one of CPT."""
    known = inputs.code_lists.find(HCPCS)
    if known is None:
        return
    for at, line in enumerate(view.lines):
        for place, modifier in enumerate(line.modifiers):
            if modifier.isdecimal() or modifier in _CPT_LETTER_MODIFIERS:
                continue
            first, last = _days(line, inputs)
            if known.covers(last) and not known.is_valid(modifier, first, last):
                periods = known.periods(modifier)
                yield f"lines[{at}].modifiers[{place}]", _why("modifier", modifier, periods, last)


# --- pairs and units -------------------------------------------------------------------------------------------


@rule("C664", paths=PROCEDURES, x12="2400/SV1/01-02", severity=WARNING, if_form_lacks=TEETH)
def procedures_are_paid_together(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Two procedures of one day are no pair of which Medicare pays only one, by the NCCI edits if they are imported."""
    known = inputs.code_lists.find(PAIRS)
    if known is None:
        return
    for (one, first), (two, second) in combinations(enumerate(view.lines), 2):
        day, other_day = _days(first, inputs)[0], _days(second, inputs)[0]
        if day != other_day or first.procedure == second.procedure:
            continue
        for paid, at, unpaid in ((first, two, second), (second, one, first)):
            what = _attributes(known, f"{paid.procedure}-{unpaid.procedure}", day)
            if NEVER in what:
                yield (
                    f"lines[{at}].procedure",
                    f"{quoted(unpaid.procedure)} is part of {quoted(paid.procedure)} on one day, and no modifier lets both pass; "
                    "leave it out.",
                )
            elif BY_MODIFIER in what and PAIR_MODIFIERS.isdisjoint(
                (*paid.modifiers, *unpaid.modifiers)
            ):
                yield (
                    f"lines[{at}].procedure",
                    f"{quoted(unpaid.procedure)} is part of {quoted(paid.procedure)} on one day; leave it out, or, if it was a "
                    "service of its own, add 59, XE, XP, XS, XU or the modifier of its place on the body.",
                )


@rule("C665", paths=("lines[].units",), x12="2400/SV1/04", severity=WARNING, if_form_lacks=TEETH)
def units_are_likely(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The units of a procedure are as many as CMS thinks likely for a line or a day, by its MUE table if it is imported."""
    known = inputs.code_lists.find(UNITS)
    if known is None:
        return
    by_day: defaultdict[tuple[str, date], Decimal] = defaultdict(Decimal)
    for at, line in enumerate(view.lines):
        if line.units is None or line.in_minutes:
            continue
        first, last = _days(line, inputs)
        what = _attributes(known, line.procedure, first)
        most = next((word for word in what if word.startswith(UNITS_PREFIX)), "")
        if not most:
            continue
        limit = int(most.removeprefix(UNITS_PREFIX))
        # Of a line over several days, each day has its part (NCCI policy manual, chapter I, section V).
        units = line.units / max((last - first).days + 1, 1)
        key = (line.procedure, first)
        by_day[key] += units
        if (units if BY_LINE in what else by_day[key]) > limit:
            yield f"lines[{at}].units", _too_many(line.procedure, limit, is_by_line=BY_LINE in what)


def _too_many(code: str, limit: int, *, is_by_line: bool) -> str:
    if is_by_line:
        return (
            f"More than {limit} units of {quoted(code)} on one line are unlikely; give the rest on another line with 59, 76, 77, "
            "91 or the modifier of its place on the body, if they were done."
        )
    return (
        f"More than {limit} units of {quoted(code)} on one day are unlikely, and no modifier lets them pass; check the units and "
        "the days."
    )


def _attributes(known: DatedCodes, code: str, day: date) -> frozenset[str]:
    """Return what a list says of a code on a day; nothing if the code is not valid then."""
    periods = known.periods(code)
    return next((one.attributes for one in periods if one.overlaps(day, day)), frozenset())


# --- earlier payers --------------------------------------------------------------------------------------------


@rule(
    "C670",
    paths=("lines[].decision.paid",),
    x12="2430/CAS/02",
)
def adjustment_reason_is_valid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A reason of an earlier payer's adjustment is valid on the day of its decision, if the list of reasons is imported."""
    known = inputs.code_lists.find(REASONS)
    if known is None:
        return
    for index, other in enumerate(view.other_payers):
        decision = other.decision
        if decision is None:
            continue
        parts = [(f"other_payers[{index}]", decision.groups, decision.day)]
        parts += [
            (f"lines[{at}]", line.groups, line.day or decision.day)
            for at, line in enumerate(decision.lines)
            if line
        ]
        for at, groups, day in parts:
            for group, adjustments in groups.items():
                for code in dict.fromkeys(each.reason or "" for each in adjustments):
                    if day and code and known.covers(day) and not known.is_valid(code, day, day):
                        yield (
                            _groups_path(view, at, group),
                            _why("adjustment reason", code, known.periods(code), day),
                        )


def _groups_path(view: ClaimView, at: str, group: str) -> str:
    """Return where a claim states the adjustments of a group."""
    generic = re.sub(r"lines\[\d+\]", "lines[]", at)
    own = f"decision.groups.{group}"
    return f"{at}.{own if view.form.has(f'{generic}.{own}') else 'adjustments'}"
