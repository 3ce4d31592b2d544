"""The rules of institutional claims: clean bills of every type stay clean, every known fault is found and nothing else.

Also tests `claims/institutional_view`, `claims/forms/x12_institutional`, `claims/rules/institutional/bill_types`,
`claims/rules/institutional/facility_codes`, `claims/rules/institutional/stay`, `claims/rules/institutional/claim_codes`,
`claims/rules/institutional/care_providers`, `claims/rules/institutional/revenue_lines` and
`claims/rules/institutional/medicare`.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

import pytest

from clearlane.claims.forms import UB04, form_of
from clearlane.claims.forms.x12_form import FORMS_BY_TRANSACTION
from clearlane.claims.rules import RULES, RuleInputs
from clearlane.claims.rules.file_findings import FileFindings, find_in_claim
from clearlane.claims.rules.institutional.bill_types import (
    BILL_TYPES,
    USAGES,
    BillElement,
    Usage,
    usage,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer
from clearlane.x12.checker.check import check
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from clearlane.x12.rules import RULES as X12_RULES
from clearlane.x12.rules import SET, rules_for
from tests.cases import every_case
from tests.claims.bill_edges import EDGES
from tests.claims.institutional_claims import ATTENDING, BILLS, OPERATING, TODAY, Bill, file_of
from tests.claims.institutional_faults import DEMANDING_PAYER, FAULTS, OF_FIELDS, PROFESSIONAL_PAYER
from tests.claims.outgoing import medical, refusals
from tests.claims.rules_837i import BESIDE, ERRORS, GUIDE, NOT, OF_THE_GUIDE, TRADE_EDITS
from tests.claims.test_x12_form import views_in
from tests.corpus import corpus_files

INPUTS = RuleInputs(today=TODAY, available=frozenset())
NOTES = frozenset({"I112", "I156", "I164", "I167", "I168"})
EDITS = {
    PROFESSIONAL_PAYER: frozenset({"professional_only"}),
    DEMANDING_PAYER: frozenset({"drg", "attending_taxonomy"}),
}
OWN = sorted(id for id in RULES if id.startswith("I"))
IN_FILES = sorted(id for id in OWN if id not in OF_FIELDS)


def known_of(inputs: RuleInputs, view: ClaimView) -> RuleInputs:
    """Return what is known of the payer: one takes professional claims alone, one wants more than others."""
    return replace(inputs, edits=EDITS.get(view.payer.id or "", frozenset()))


def findings(data: bytes) -> list:
    found = check(data, findings_of=FileFindings(TODAY, known_of)).findings
    return [one for one in found if one.severity is not Severity.INFO or one.rule in NOTES]


def test_every_type_of_bill_has_a_clean_claim_by_us_and_by_the_witness(caplog):
    assert {bill.type[:2] for bill in BILLS.values()} == BILL_TYPES.keys()
    assert len(BILLS) >= 40
    said = {
        name: [(one.rule, one.message) for one in findings(bill.file())]
        for name, bill in BILLS.items()
    }
    assert {name: one for name, one in said.items() if one} == {}
    every = [bill.but(number=f"RH-{at}") for at, bill in enumerate(BILLS.values())]
    assert refusals(file_of(*every).encode(), caplog) == []


@pytest.mark.parametrize("sample", corpus_files("837I", clean=True))
def test_clean_samples_and_public_files_stay_clean(sample):
    """What is said of them is not about institutional claims: invented NPIs and phones."""
    assert {
        one.rule for one in findings(sample.path.read_bytes()) if one.severity is not Severity.INFO
    } <= {"C304", "VAL-PHONE"}


def test_every_known_fault_is_found_at_its_level_and_nothing_else():
    missed = {}
    for name, fault in FAULTS.items():
        found = {(one.rule, one.severity) for one in findings(fault.file())}
        first, *others = fault.rules.split()
        if (first, fault.severity) not in found or not {rule for rule, _ in found} <= {
            first,
            *others,
        }:
            missed[name] = found
    assert missed == {}
    assert len(FAULTS) >= 33
    named = {rule for fault in FAULTS.values() for rule in fault.rules.split()}
    assert set(IN_FILES) <= named, "a rule without a fault"


@every_case("edge", EDGES, ids=lambda edge: edge.rule)
def test_a_bill_just_beyond_a_limit_breaks_the_rule_and_one_just_within_keeps_it(edge):
    found = [{one.rule for one in findings(bill.file())} for bill in (edge.beyond, edge.within)]
    assert [edge.rule in rules for rules in found] == [True, False]


# --- the table of types of bill ----------------------------------------------------------------------------------


class Variation(NamedTuple):
    """How a claim has an element and lacks it, and the rules that find it missing, or there."""

    given: Callable[[Bill], Bill]
    left_out: Callable[[Bill], Bill]
    missing: str = ""
    excess: str = ""


def with_code(code: str, *, on: bool) -> Callable[[Bill], Bill]:
    listed = code.partition(":")[0]

    def change(bill: Bill) -> Bill:
        others = tuple(one for one in bill.codes if not one.startswith(f"{listed}:"))
        return bill.but(codes=(*others[:1], code, *others[1:]) if on else others)

    return change


def codes(code: str, **rules: str) -> Variation:
    return Variation(with_code(code, on=True), with_code(code, on=False), **rules)


def field(name: str, given: object, left_out: object, **rules: str) -> Variation:
    return Variation(
        lambda bill: bill.but(**{name: given}), lambda bill: bill.but(**{name: left_out}), **rules
    )


def cl1(at: int, given: str, left_out: str, **rules: str) -> Variation:
    def change(value: str) -> Callable[[Bill], Bill]:
        def changed(bill: Bill) -> Bill:
            words = bill.cl1.split("*")
            return bill.but(cl1="*".join([*words[:at], value, *words[at + 1 :]]))

        return changed

    return Variation(change(given), change(left_out), **rules)


DAY = "20260310"
BED, SERVICE = f"0120**100*DA*1 {DAY}", f"0300*HC:80053*100*UN*1 {DAY}"


def decision(kind: str) -> tuple[str, ...]:
    """Return another payer with what it said of a stay (MIA) or of an outpatient (MOA)."""
    return tuple(
        segment
        for one in BILLS["111 second payer"].other
        for segment in ((one, kind) if one.startswith("OI*") else (one,))
    )


DIED = with_code(f"BH:55:D8:{DAY}", on=True)
VARIATIONS: dict[BillElement, Variation] = {
    BillElement.ADMISSION_DATE: field(
        "admission", "202603101015", "", missing="I110", excess="I112"
    ),
    BillElement.ADMISSION_HOUR: field("admission", "202603101015", DAY, missing="I111"),
    BillElement.ADMISSION_ON_FIRST_DAY: field(
        "admission", "202603101015", "202602101015", missing="I213"
    ),
    BillElement.DISCHARGE_HOUR: field("discharge", "1100", "", missing="I114"),
    BillElement.DISCHARGE: cl1(2, "01", "30", missing="I123"),
    BillElement.ADMISSION_TYPE: cl1(0, "3", "", missing="I119"),
    BillElement.ORIGIN: cl1(1, "1", "", missing="I122"),
    BillElement.ADMITTING_DIAGNOSIS: codes("ABJ:R0602", missing="I133", excess="I133"),
    BillElement.VISIT_REASON: Variation(
        lambda bill: with_code("APR:R079", on=True)(
            bill.but(cl1="1*1*01", lines=(f"0450*HC:99284*100*UN*1 {DAY}",))
        ),
        lambda bill: with_code("APR:R079", on=False)(
            bill.but(cl1="1*1*01", lines=(f"0450*HC:99284*100*UN*1 {DAY}",))
        ),
        missing="I134",
        excess="I135",
    ),
    BillElement.PRESENT_ON_ADMISSION: Variation(
        lambda bill: bill.but(codes=("ABK:J189:::::::Y", *bill.codes[1:])),
        lambda bill: bill.but(codes=("ABK:J189", *bill.codes[1:])),
        missing="I136",
        excess="I138",
    ),
    BillElement.PRINCIPAL_DIAGNOSIS: Variation(
        lambda bill: bill,
        lambda bill: bill.but(codes=("ABK:Z7902", *bill.codes[1:])),
        missing="I132",
    ),
    BillElement.ICD_PROCEDURE: codes(f"BBR:4A023N7:D8:{DAY}", excess="I144"),
    BillElement.ACCOMMODATION: field("lines", (BED,), (SERVICE,), missing="I177", excess="I178"),
    BillElement.COVERED_DAYS: codes("BE:80:::1", missing="I153"),
    BillElement.LINE_DATE: field(
        "lines", (SERVICE,), (SERVICE.split(maxsplit=1)[0],), missing="I272"
    ),
    BillElement.LINE_PROCEDURE: field(
        "lines", (SERVICE,), (f"0300**100*UN*1 {DAY}",), missing="I170"
    ),
    BillElement.REFERRING: field(
        "people",
        (ATTENDING, "NM1*DN*1*BIRCH*NORA****XX*1000000012"),
        (ATTENDING,),
        excess="I163",
    ),
    BillElement.INTERIM: Variation(
        lambda bill: bill.but(type=f"{bill.type[:2]}3"), lambda bill: bill, excess="I103"
    ),
    BillElement.NOTICE: Variation(
        lambda bill: bill.but(type=f"{bill.type[:2]}A"), lambda bill: bill, excess="I103"
    ),
    BillElement.FINAL_EPISODE: Variation(
        lambda bill: bill.but(type=f"{bill.type[:2]}9"), lambda bill: bill, excess="I103"
    ),
    BillElement.DIALYSIS_MEASURES: codes("BE:A8:::70*BE:A9:::170", missing="I157"),
    BillElement.HOSPICE_DEATH: Variation(
        lambda bill: DIED(bill.but(cl1="3*1*40")), DIED, excess="I125"
    ),
    BillElement.STAY_DECISION: Variation(
        lambda bill: bill.but(other=decision("MIA*1")), lambda bill: bill, excess="I191"
    ),
    BillElement.OUTPATIENT_DECISION: Variation(
        lambda bill: bill.but(other=decision("MOA***MA01")), lambda bill: bill, excess="I191"
    ),
    BillElement.FACILITY_ADDRESS: Variation(
        lambda bill: bill.but(address="N3*700 ORCHARD AVENUE~N4*AUSTIN*TX*787010042"),
        lambda bill: bill,
        excess="I168",
    ),
    BillElement.TREATMENT_CODE: Variation(
        lambda bill: with_code("TC:11IL11AA11FG11", on=True)(bill.but(days="20190310-20190310")),
        lambda bill: bill,
        excess="I156",
    ),
    BillElement.SAME_DAY_TRANSFER: Variation(
        lambda bill: with_code("BG:40", on=True)(bill.but(cl1="3*1*02", admission="202603101015")),
        lambda bill: bill.but(cl1="3*1*02", admission="202603101015"),
        missing="I126",
    ),
}


def finds(rule: str, bill: Bill) -> bool:
    if not rule:
        return False
    (view,) = views_in(bill.file())
    found = find_in_claim(FORMS_BY_TRANSACTION["837I"], view, INPUTS)
    return rule in {one.rule.id for one in found}


def plain(bill_type: str) -> Bill:
    """Return a bill of one day that has what its type requires."""
    has_bed = usage(BillElement.ACCOMMODATION, bill_type) is Usage.REQUIRED
    return Bill(type=f"{bill_type}1", codes=("ABK:J189",), lines=(BED if has_bed else SERVICE,))


def test_the_table_of_types_of_bill_is_what_the_rules_say():
    """Each element with each type: required, allowed or not, as the table has it."""
    assert VARIATIONS.keys() == USAGES.keys() == set(BillElement)
    wrong = {}
    for element, variation in VARIATIONS.items():
        for bill_type, known in USAGES[element].items():
            bill = plain(bill_type)
            is_required = finds(variation.missing, variation.left_out(bill))
            is_excess = not is_required and finds(variation.excess, variation.given(bill))
            said = Usage.REQUIRED if is_required else Usage.NOT if is_excess else Usage.ALLOWED
            if said is not known:
                wrong[element, bill_type] = said, known
    assert wrong == {}


def test_an_element_of_an_unknown_type_of_bill_is_allowed():
    assert {usage(element, "99") for element in BillElement} == {Usage.ALLOWED}
    assert {usage(element, None) for element in BillElement} == {Usage.ALLOWED}


# --- the view ----------------------------------------------------------------------------------------------------


def test_the_view_has_what_the_bill_states():
    (view,) = views_in(BILLS["211 nursing"].file())
    stay = view.institutional
    assert (stay.bill_type, view.frequency, stay.status, stay.origin) == ("21", "1", "06", "4")
    assert (stay.first_day, stay.last_day) == (date(2026, 3, 2), date(2026, 3, 16))
    assert (stay.admission_time, stay.discharge_hour) == ("20260302", None)
    assert [one.code for one in stay.admitting_diagnosis] == ["I69354"]
    (span,) = stay.occurrence_spans
    assert (span.code, span.first_day, span.last_day) == (
        "70",
        date(2026, 2, 23),
        date(2026, 2, 27),
    )
    assert stay.amount_of("80") == Decimal(14)
    assert stay.amount_of("81") is None
    rate, bed, _ = view.lines
    assert (rate.revenue_code, rate.procedure_type, rate.procedure) == ("0022", "HP", "KAQD1")
    assert (bed.revenue_code, bed.unit, bed.units) == ("0120", "DA", Decimal(14))
    assert view.attending.npi == "1679576722"
    (surgery,) = views_in(BILLS["111 appendectomy"].file())
    assert OPERATING.startswith(f"NM1*72*1*{surgery.operating.last_name}")
    (procedure,) = surgery.institutional.procedures
    assert (procedure.code, procedure.first_day) == ("0DTJ4ZZ", date(2026, 3, 8))
    assert surgery.institutional.diagnoses[0].present_on_admission == "Y"
    place = surgery.form.locate("institutional.procedures[0]")
    assert place.startswith("2300/HI01-2 (segment ")
    # What a claim lacks is at its first segment.
    assert view.form.locate("institutional.drg").startswith("2300/CLM (segment ")
    assert view.form.name_of("institutional.status") == "the claim's patient status (CL103)"


def test_a_claim_of_another_kind_states_none_of_it():
    claim = medical()
    form = form_of(claim)
    assert form.view(claim).institutional.bill_type is None
    assert not form.has("institutional.bill_type")
    assert {one for id in OWN for one in RULES[id].forms} == {UB04}


def test_a_report_of_an_encounter_asks_for_no_money():
    """With BHT06 RP charges may be 0, and what an earlier payer paid may be left out; a claim to be paid is told both."""
    paid = {"AMT*D*1556.5~": "", "CAS*PR*1*250~": "CAS*PR*1*1806.5~"}
    free = {
        "SV2*0300*HC:80053*96*": "SV2*0300*HC:80053*0*",
        "CLM*RH-3001*1806.50*": "CLM*RH-3001*1710.50*",
    }
    for bill, changes, rules in (
        ("111 second payer", paid, {"X837-COB-PAID"}),
        ("111 pneumonia", free, {"I180"}),
    ):
        text = BILLS[bill].text()
        for old, new in changes.items():
            assert old in text, (bill, old)
            text = text.replace(old, new)
        rows = text.split("~")
        at = next(at for at, row in enumerate(rows) if row.startswith("SE*"))
        text = text.replace(rows[at], f"SE*{at - 1}*0001")
        assert {one.rule for one in findings(text.encode())} == rules
        report = text.replace("*0925*CH~", "*0925*RP~")
        assert findings(report.encode()) == []


def test_a_reopening_is_not_late():
    """Frequency Q is for claims whose filing limit is over."""
    payer = Payer("Medical", "Harbor Health Plan", "HHP20", "HHP20", filing_days=90)
    late = TODAY + timedelta(days=400)
    known = RuleInputs(today=late, payer=payer, edits=frozenset({"filing_limit"}))
    found = []
    for frequency in "1Q":
        (view,) = views_in(BILLS["117 replacement"].but(type=f"11{frequency}").file())
        found.append({one.rule.id for one in find_in_claim(view.form, view, known)})
    assert ["C151" in rules for rules in found] == [True, False]


def test_every_edit_of_the_trade_has_a_rule_or_a_reason():
    rules_for("837I", SET)  # asking for the rules of a guide is what loads them
    known = {*RULES, *X12_RULES, *FINDING_TYPES}
    rules = {
        number: text.split()
        for number, text in TRADE_EDITS.items()
        if not text.startswith((GUIDE, NOT))
    }
    assert [*TRADE_EDITS] == [*range(1, 97)]
    assert {number: ids for number, ids in rules.items() if not set(ids) <= known} == {}
    assert {id for ids in rules.values() for id in ids if id in OWN} | BESIDE == set(OWN)
    assert set(ERRORS) == {id for id in OWN if RULES[id].severity is Severity.ERROR}
    # A rule of ours has the number of its edit.
    assert {id for number, ids in rules.items() for id in ids if id in OWN and int(id[2:]) != number} == {
        "I170", "I180", "I192", "I249",
    }  # fmt: skip


@pytest.mark.parametrize("number", OF_THE_GUIDE)
def test_what_the_guide_says_already_is_found(number):
    bill, old, new = OF_THE_GUIDE[number]
    text = BILLS[bill].text()
    assert old in text
    rows = text.replace(old, new).split("~")
    at = next(at for at, row in enumerate(rows) if row.startswith("SE*"))
    rows[at] = f"SE*{at - 1}*0001"
    assert {one.rule for one in findings("~".join(rows).encode())} & set(
        TRADE_EDITS[number].split()
    )
