"""C66: codes by the day of service in lists that an operator imports: NPIs, drugs, procedures, pairs, units, taxonomies.

Each rule asks a list of ``inputs.code_lists``. A list that is not imported has no findings, and neither has one that does
not cover the day: that a list ends before the service is a finding of its own (C513).
"""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from operator import attrgetter
from typing import NamedTuple

from clearlane.claims.cob import ZERO
from clearlane.claims.rules.dates import span
from clearlane.claims.rules.registry import (
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.rules.services import LOCAL_CODE_COVERAGES
from clearlane.claims.view import NO_PROVIDER, ClaimView, ProviderView
from clearlane.kernel import limits
from clearlane.x12.codes.dated_codes import DatedCodes

# The names of the lists.
DEACTIVATED, REGISTRY, DRUGS, PAIRS, UNITS = "nppes-deactivated", "nppes", "ndc", "ncci-ptp", "mue"
HCPCS, CPT, CDT, TAXONOMY, REASONS = "hcpcs", "cpt", "cdt", "taxonomy", "carc"

ROLES = ("billing", "rendering", "referring", "supervising", "ordering", "facility")
_IN_ROLES = attrgetter(*ROLES)
NPIS = tuple(f"{role}.npi" for role in ROLES)
LINE_NPI = "lines[].rendering.npi"
PERSONS = ("rendering", "referring", "supervising", "ordering")
"""Roles that people have."""
TAXONOMIES = tuple(f"{role}.taxonomy" for role in ROLES)
PROCEDURES = ("lines[].procedure",)
MODIFIERS = ("lines[].modifiers",)
DRUG_DIGITS, PRODUCT_DIGITS = 11, 9

FORMS_OF_LISTS = {
    HCPCS: re.compile(r"[A-CE-Z]\d{4}", re.ASCII),
    CPT: re.compile(r"\d{4}[0-9AFMTU]", re.ASCII),
    CDT: re.compile(r"D\d{4}", re.ASCII),
}
# CPT's modifiers that are not two digits: physical status of anesthesia, and performance measures.
_CPT_LETTERS = "P1 P2 P3 P4 P5 P6 1P 2P 3P 8P"
CPT_LETTER_MODIFIERS = frozenset(_CPT_LETTERS.split())
# Modifiers that let a pair pass that is marked so: NCCI policy manual, chapter I, section E.
_PAIRS = """
24 25 27 57 58 59 78 79 91 XE XP XS XU
E1 E2 E3 E4 FA F1 F2 F3 F4 F5 F6 F7 F8 F9 TA T1 T2 T3 T4 T5 T6 T7 T8 T9 LT RT LC LD LM RC RI
"""
PAIR_MODIFIERS = frozenset(_PAIRS.split())
BY_MODIFIER, NEVER = "modifier", "never"
PERSON, ORGANIZATION = "person", "organization"
UNITS_PREFIX, BY_LINE = "units=", "line"


def product_of(drug: str) -> str:
    """Return the first nine digits of a national drug code, labeler and product; empty if it has not eleven."""
    digits = drug.replace("-", "")
    is_whole = len(digits) == DRUG_DIGITS and digits.isascii() and digits.isdecimal()
    return digits[:PRODUCT_DIGITS] if is_whole else ""


class DatedClaim(NamedTuple):
    """What lists are asked about: the days of service of the claim and of its lines, and the providers by path."""

    first: date
    last: date
    lines: list[tuple[date, date]]
    """The first and the last day of each line; a line without days has those of the claim."""
    providers: list[tuple[str, ProviderView]]


def dated_claim(view: ClaimView, inputs: RuleInputs) -> DatedClaim | None:
    """Read what the rules of this family share; None if no list is imported, or the claim has no day of service."""
    days = span(view) if inputs.code_lists.imported else None
    if days is None:
        return None
    every, first_of_all, last_of_all = days
    lines = [(first or last or first_of_all, last or first or last_of_all) for first, last in every]
    return DatedClaim(first_of_all, last_of_all, lines, providers_of(view))


def _why_not_valid(
    known: DatedCodes, what: str, code: str, first: date, last: date, given: str = ""
) -> str:
    """Return why a code is valid on none of these days, and what would pass; empty if it is, or the list does not cover the last.

    ``given`` is what the claim states, if that is longer than the code of the list.
    """
    if known.is_valid(code, first, last) or not known.covers(last):
        return ""
    periods, named = known.periods(code), f"{what} {quoted(given or code)}"
    before = [period.last_day for period in periods if period.last_day < last]
    if before:
        return f"The {named} ended on {max(before)}, before {last}; give one that is valid then."
    if periods:
        return f"The {named} is valid from {periods[0].first_day}, after {last}; give one that was valid then."
    return f"There is no {named} on the list of {last}; give one of the list."


# --- providers -------------------------------------------------------------------------------------------------


def providers_of(view: ClaimView) -> list[tuple[str, ProviderView]]:
    """Return the providers that a claim names, by path."""
    named = [
        (role, provider)
        for role, provider in zip(ROLES, _IN_ROLES(view), strict=True)
        if provider is not NO_PROVIDER
    ]
    named += [
        (f"lines[{at}].rendering", line.rendering)
        for at, line in enumerate(view.lines)
        if line.rendering is not NO_PROVIDER
    ]
    return named


@rule("C661", paths=(*NPIS, LINE_NPI), x12="2010AA/NM1/09", reading=dated_claim)
def npi_is_active(view: ClaimView, inputs: RuleInputs, dated: DatedClaim) -> Iterator[FieldFinding]:
    """An NPI is not deactivated on the day of service, by the list of deactivated NPIs if it is imported."""
    known = inputs.code_lists.find(DEACTIVATED)
    if known is not None:
        for at, provider in dated.providers:
            npi = provider.npi
            if npi and known.is_valid(npi, dated.first, dated.last):
                yield (
                    f"{at}.npi",
                    f"The NPI {quoted(npi)} is deactivated on {dated.last} by the list of NPPES; give one that is active then.",
                )


@rule(
    "C662",
    paths=("rendering.npi", *NPIS, LINE_NPI),
    x12="2310B/NM1/09",
    severity=WARNING,
    reading=dated_claim,
)
def npi_fits_the_role(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """The NPI of one who renders, refers, supervises or orders is a person's, by the NPI registry if it is imported."""
    known = inputs.code_lists.find(REGISTRY)
    if known is None:
        return
    for at, provider in dated.providers:
        role = at.rpartition(".")[2]
        if role in PERSONS and provider.npi:
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
    reading=dated_claim,
)
def taxonomy_is_known(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """A taxonomy code is in NUCC's release of the day, if it is imported."""
    known = inputs.code_lists.find(TAXONOMY)
    if known is not None:
        for at, provider in dated.providers:
            code = provider.taxonomy
            if code and (
                why := _why_not_valid(known, "taxonomy code", code, dated.first, dated.last)
            ):
                yield f"{at}.taxonomy", why


# --- drugs -----------------------------------------------------------------------------------------------------


@rule(
    "C663",
    paths=("lines[].drug.code",),
    x12="2410/LIN/03",
    severity=WARNING,
    reading=dated_claim,
)
def drug_is_marketed(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """A national drug code is in FDA's directory and marketed on the day of service, if the directory is imported."""
    known = inputs.code_lists.find(DRUGS)
    if known is None:
        return
    for at, line in enumerate(view.lines):
        code = line.drug.code
        product = product_of(code) if code else ""
        if code and product:
            why = _why_not_valid(known, "drug", product, *dated.lines[at], given=code)
            if why:
                yield f"lines[{at}].drug.code", why


# --- procedures ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _list_of(procedure: str) -> str:
    """Return the list that a procedure code would be on by its form; empty if none."""
    return next((name for name, form in FORMS_OF_LISTS.items() if form.fullmatch(procedure)), "")


def _procedures(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim, name: str, what: str
) -> Iterator[FieldFinding]:
    """Return the procedures of a list that are not valid on the days of their lines."""
    known = inputs.code_lists.find(name)
    if known is None:
        return
    for at, line in enumerate(view.lines):
        code = line.procedure
        if _list_of(code) == name and (why := _why_not_valid(known, what, code, *dated.lines[at])):
            yield f"lines[{at}].procedure", why


@rule(
    "C666",
    paths=PROCEDURES,
    x12="2400/SV1/01-02",
    if_form_lacks=TEETH,
    reading=dated_claim,
)
def level_ii_code_is_valid(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """A HCPCS level II code is on CMS's list on the day of service, if the list is imported."""
    return _procedures(view, inputs, dated, HCPCS, "HCPCS code")


@rule(
    "C667",
    paths=PROCEDURES,
    x12="2400/SV1/01-02",
    if_form_lacks=TEETH,
    reading=dated_claim,
)
def cpt_code_is_valid(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """A CPT code is valid on the day of service, if the list is imported; auto and work accidents have codes of their own."""
    if view.payer.coverage in LOCAL_CODE_COVERAGES:
        return iter(())
    return _procedures(view, inputs, dated, CPT, "CPT code")


@rule("C668", paths=PROCEDURES, x12="2400/SV3/01-02", if_form_has=TEETH, reading=dated_claim)
def cdt_code_is_valid(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """A CDT code is valid on the day of service, if the list is imported."""
    return _procedures(view, inputs, dated, CDT, "CDT code")


@rule(
    "C671",
    paths=MODIFIERS,
    x12="2400/SV1/01-03",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=dated_claim,
)
def letter_modifier_is_known(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """A modifier with a letter is one of HCPCS on the day of service, if CMS's list is imported, or one of CPT."""
    known = inputs.code_lists.find(HCPCS)
    if known is None:
        return
    for at, line in enumerate(view.lines):
        for place, modifier in enumerate(line.modifiers):
            if modifier.isdecimal() or modifier in CPT_LETTER_MODIFIERS:
                continue
            if why := _why_not_valid(known, "modifier", modifier, *dated.lines[at]):
                yield f"lines[{at}].modifiers[{place}]", why


# --- pairs and units -------------------------------------------------------------------------------------------


@rule(
    "C664",
    paths=PROCEDURES,
    x12="2400/SV1/01-02",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=dated_claim,
)
def procedures_are_paid_together(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """Two procedures of one day are no pair of which Medicare pays only one, by the NCCI edits if they are imported."""
    known = inputs.code_lists.find(PAIRS)
    if known is None:
        return
    for (one, first), (two, second) in combinations(enumerate(view.lines), 2):
        day = dated.lines[one][0]
        if day != dated.lines[two][0] or first.procedure == second.procedure:
            continue
        for paid, at, unpaid in ((first, two, second), (second, one, first)):
            what = known.attributes_on(f"{paid.procedure}-{unpaid.procedure}", day)
            if not what:
                continue
            part = f"{quoted(unpaid.procedure)} is part of {quoted(paid.procedure)} on one day"
            if NEVER in what:
                yield (
                    f"lines[{at}].procedure",
                    f"{part}, and no modifier lets both pass; leave it out.",
                )
            elif BY_MODIFIER in what and PAIR_MODIFIERS.isdisjoint(
                (*paid.modifiers, *unpaid.modifiers)
            ):
                yield (
                    f"lines[{at}].procedure",
                    f"{part}; leave it out, or, if it was a service of its own, add 59, XE, XP, XS, XU or the modifier of "
                    "its place on the body.",
                )


@rule(
    "C665",
    paths=("lines[].units",),
    x12="2400/SV1/04",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=dated_claim,
)
def units_are_likely(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
    """The units of a procedure are as many as CMS thinks likely for a line or a day, by its MUE table if it is imported."""
    known = inputs.code_lists.find(UNITS)
    if known is None:
        return
    by_day: dict[tuple[str, date], Decimal] = {}
    for at, line in enumerate(view.lines):
        units = line.units
        if units is None or line.in_minutes:
            continue
        first, last = dated.lines[at]
        what = known.attributes_on(line.procedure, first)
        limit = _units_limit(what)
        if limit is None:
            continue
        if last > first:
            # Of a line over several days, each day has its part (NCCI policy manual, chapter I, section V).
            units /= (last - first).days + 1
        if BY_LINE not in what:
            key = (line.procedure, first)
            units = by_day[key] = by_day.get(key, ZERO) + units
        if units > limit:
            yield f"lines[{at}].units", _too_many(line.procedure, limit, is_by_line=BY_LINE in what)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _units_limit(what: frozenset[str]) -> int | None:
    """Return the units that attributes of a code give."""
    found = (word.removeprefix(UNITS_PREFIX) for word in what if word.startswith(UNITS_PREFIX))
    return next(map(int, found), None)


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


# --- earlier payers --------------------------------------------------------------------------------------------


@rule("C670", paths=("lines[].decision.paid",), x12="2430/CAS/02", reading=dated_claim)
def adjustment_reason_is_valid(
    view: ClaimView, inputs: RuleInputs, dated: DatedClaim
) -> Iterator[FieldFinding]:
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
                    if not day or not code:
                        continue
                    if why := _why_not_valid(known, "adjustment reason", code, day, day):
                        yield _groups_path(view, at, group), why


def _groups_path(view: ClaimView, at: str, group: str) -> str:
    """Return where a claim states the adjustments of a group."""
    generic = re.sub(r"lines\[\d+\]", "lines[]", at)
    own = f"decision.groups.{group}"
    return f"{at}.{own if view.form.has(f'{generic}.{own}') else 'adjustments'}"
