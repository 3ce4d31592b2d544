"""Institutional claims by form locator: judged as the file of the same claim, and written as it.

Also tests `claims/forms/ub04`, `claims/forms/ub04_fields`, `claims/forms/ub04_view`, `claims/forms/ub04_samples` and
`claims/write/placements_837i`.
"""

import json
import re

import pytest

from clearlane.claims.fields import encode, fields_of
from clearlane.claims.forms import UB04, samples, ub04_samples
from clearlane.claims.forms.sample_variation import SampleWish, sample_claim
from clearlane.claims.forms.ub04_fields import InstitutionalClaim
from clearlane.claims.header import header_of
from clearlane.claims.read.decode import read_claim
from clearlane.claims.rules import RULES, repair_and_check
from clearlane.claims.rules.institutional.bill_types import BILL_TYPES
from clearlane.claims.write.write_837 import context_of
from clearlane.x12.checker.check import check
from tests.cases import every_case
from tests.claims.institutional_claims import BILLS, TODAY
from tests.claims.institutional_faults import FAULTS, OF_FIELDS
from tests.claims.institutional_variety import bill_types
from tests.claims.outgoing import (
    DAY,
    extended,
    outgoing,
    random_claims,
    refusals,
    segments,
    stored,
    written,
)
from tests.claims.test_institutional_rules import INPUTS, NOTES, known_of
from tests.claims.ub04_of_file import ub04_of
from tests.x12.x12sdk_witness import refusals_of_837i

NOTICES = ("81A", "82A", "81B", "82B", "32A")
NOT_IN_JSON = {
    "a type of bill with its frequency": "The type of bill has its frequency.",
    "a rate code elsewhere": "The revenue code says which list a code is of.",
    "accommodation in units": "The revenue code says what is counted.",
    "a decision on an outpatient for a stay": "The form has no MIA and no MOA.",
    "two kinds of decision": "The form has no MIA and no MOA.",
}
"""Faults of files that the form cannot state, and why."""


def judged(raw):
    read = read_claim(UB04, json.dumps(raw).encode(), "Claims[0]")
    if read.claim is None:
        return None, {one.location for one in read.findings}
    known = known_of(INPUTS, UB04.view(read.claim))
    result = repair_and_check(read.claim, known)
    return result, {
        one.rule for one in result.findings if one.severity != "info" or one.rule in NOTES
    }


IN_FILES = re.compile(r"[A-Z]{2,3}[0-9]?\*|SV20|CLM0|PRV0|\bloop\b|component")
"""What only senders of files understand."""


def with_fields(given):
    return judged(ub04_of(BILLS["131 laboratory"].file()) | given)


def of_type(bill_type):
    result, rules = with_fields({"FL04_TypeOfBill": bill_type})
    return result.claim.FL04_TypeOfBill, rules


@pytest.mark.parametrize("rule", OF_FIELDS)
def test_a_rule_of_fields_alone_has_its_examples(rule):
    fails, passes = OF_FIELDS[rule]
    assert [rule in with_fields(given)[1] for given in (fails, passes)] == [True, False]


def test_a_type_of_bill_is_read_as_paper_has_it_and_has_a_frequency_that_exists():
    assert of_type("0131") == of_type("131") == ("131", set())
    assert of_type("13") == ("13", {"I102"})
    assert of_type("13r") == ("13R", {"I102"})
    assert of_type("01311")[1] == {"I101", "I102"}


def test_bills_written_by_hand_are_clean_as_json_and_written_as_they_were():
    said, differ = {}, {}
    for name, bill in BILLS.items():
        result, rules = judged(ub04_of(bill.file()))
        if rules:
            said[name] = rules
        if result is None:
            continue
        sent = segments(result.claim, account_as_number=True)
        own = [
            row for row in sent if not row.startswith(("REF*D9", "HL*", "SBR*", "NM1*PR", "REF*6R"))
        ]
        given = [
            row
            for row in bill.segments()
            if not row.startswith(("HL*", "SBR*", "NM1*PR", "REF*6R"))
        ]
        at = next(at for at, row in enumerate(own) if row.startswith("CLM*"))
        if sorted(numbers(own[at:])) != sorted(numbers(given)):
            differ[name] = set(numbers(own[at:])) ^ set(numbers(given))
    assert (said, differ) == ({}, {})


def numbers(rows):
    """The segments without what only this file or that has: the account, and what is computed for an earlier decision."""
    return [
        "CLM*" + row.split("*", 2)[2].replace(".50*", ".5*")
        if row.startswith("CLM*")
        else row.replace(".50*", ".5*")
        for row in rows
        if not row.startswith("AMT*EAF")
    ]


def test_faults_of_files_are_found_in_json_too():
    missed, of_files = {}, {}
    for name, fault in FAULTS.items():
        first = fault.rules.split()[0]
        rule = RULES.get(first)
        # What only some payers want needs the directory.
        if rule is None or not rule.applies_to(UB04) or rule.edit or name in NOT_IN_JSON:
            continue
        result, rules = judged(ub04_of(fault.file()))
        if first not in rules and result is not None:
            missed[name] = (first, rules)
        for one in result.findings if result else ():
            if one.rule.startswith("I") and IN_FILES.search(one.message):
                of_files[one.rule] = one.message
    assert missed == {}
    assert of_files == {}, "sentences for senders of files, told to senders of fields"


@pytest.mark.slow
def test_samples_of_every_type_of_bill_are_clean_by_us_and_by_two_witnesses(caplog):
    assert ub04_samples.SAMPLES.keys() == BILL_TYPES.keys()
    claims = []
    for kind in (*bill_types(), *NOTICES):
        result, rules = judged(ub04_samples.bill(kind, DAY))
        assert rules == set(), kind
        assert result.claim.FL04_TypeOfBill == kind
        claims.append(result.claim)
    claims += [extended(UB04), *random_claims(UB04, 60)]
    data = written([outgoing(claim, at) for at, claim in enumerate(claims)])
    assert [one for one in check(data).findings if one.severity != "info"] == []
    assert refusals(data, caplog) == []
    assert refusals_of_837i(data) == set()


def test_a_type_of_bill_without_a_sample_is_refused():
    for wrong in ("991", "11", "132", "319", ""):
        with pytest.raises(ValueError, match="such as 111"):
            ub04_samples.bill(wrong, DAY)
    assert samples.document(UB04, day=DAY, bill_type="811")["Claims"][0]["FL04_TypeOfBill"] == "811"


@every_case("kind", NOTICES)
def test_the_sample_of_a_notice_asks_for_no_money_and_is_in_time(kind):
    claim = sample_claim(UB04, "NOTICE-1", SampleWish(bill_type=kind), today=TODAY)
    result, rules = judged(claim)
    assert rules == set()
    header = header_of(UB04.view(result.claim))
    assert (header.charge, header.billed_as) == (0, kind)
    assert header.notice_due is not None
    assert header.notice_due > TODAY


def test_the_day_of_service_of_a_stay_is_the_first_of_its_statement():
    """The lines of its accommodation have no days; the first that has one is a day later."""
    claim = judged(ub04_samples.bill("111", DAY))[0].claim
    header = header_of(UB04.view(claim))
    assert header.service_day == claim.FL06_StatementFrom
    assert [one.FL45_ServiceDate for one in claim.FL42_ServiceLines if one.FL45_ServiceDate] != [
        claim.FL06_StatementFrom
    ]
    assert header.last_day == DAY


def test_the_catalogue_has_the_locators_of_the_form():
    locators = {int(name[2:4]) for name in fields_of(InstitutionalClaim) if name[:2] == "FL"}
    # Others are reserved, or continue the lists of these.
    assert locators >= {
        *range(1, 7),
        *range(8, 19),
        29,
        31,
        35,
        38,
        39,
        42,
        47,
        50,
        52,
        53,
        56,
        57,
        58,
        59,
    }
    assert locators >= {*range(60, 68), *range(69, 73), 74, *range(76, 82)}
    assert all(row.box for name, row in fields_of(InstitutionalClaim).items() if name[:2] == "FL")


def test_lists_are_limited_as_the_form_and_every_fault_is_named():
    claim = ub04_samples.bill("111", DAY)
    claim["FL18_ConditionCodes"] = [{"FL18_Code": "C5"}] * 25
    claim["FL50_OtherPayers"] = [{}] * 3
    claim["FL67_Diagnoses"] = [{"FL67_Code": "I10"}] * 26
    claim["FL42_ServiceLines"][0].pop("FL42_RevenueCode")
    read = read_claim(UB04, json.dumps(claim).encode(), "Claims[0]")
    found = {one.location: one.message for one in read.findings}
    assert found["Claims[0].FL18_ConditionCodes"] == (
        "The FL18_ConditionCodes field has more items than the 24 that fit; leave out the others."
    )
    assert "the 25 that fit" in found["Claims[0].FL67_Diagnoses"]
    assert "Claims[0].FL42_ServiceLines[0].FL42_RevenueCode" in found
    del claim["FL76_AttendingNameLast"]
    found = {one.location for one in read_claim(UB04, json.dumps(claim).encode(), "").findings}
    assert ".FL76_AttendingNameLast" in found


def test_a_list_of_more_than_twelve_codes_has_a_second_segment():
    claim = ub04_samples.bill("111", DAY)
    claim["FL39_ValueCodes"] += [
        {"FL39_Code": f"{at:02}", "FL39_Amount": "1"} for at in range(1, 24)
    ]
    claim["FL67_Diagnoses"] += [{"FL67_Code": "I10"}] * 22
    rows = [row for row in segments(stored(UB04, claim)) if row.startswith("HI*")]
    assert [row.count("*") for row in rows if row.startswith("HI*BE")] == [12, 12]
    assert [row.count("*") for row in rows if row.startswith("HI*ABF")] == [12, 12]
    assert rows[0] == "HI*ABK:J189:::::::Y"


def test_payers_that_decided_come_before_the_one_that_the_claim_goes_to():
    claim = extended(UB04)
    context = context_of(outgoing(claim, other_payer_id="DIR01"))
    assert [other.order for other in context.others] == ["P", "S"]
    rows = segments(claim)
    assert [row[:5] for row in rows if row.startswith("SBR*")] == ["SBR*T", "SBR*P", "SBR*S"]
    raw = json.loads(encode(claim))
    for payer in raw["FL50_OtherPayers"]:
        for name in ("FL54_PriorPayments", "X12_AdjudicationDate", "X12_Adjustments"):
            payer.pop(name, None)
        payer.pop("FL51_HealthPlanId")
    for line in raw["FL42_ServiceLines"]:
        del line["X12_PayerDecisions"]
    undecided = stored(UB04, raw)
    rows = segments(undecided, other_payer_id="DIR01")
    assert [row[:5] for row in rows if row.startswith("SBR*")] == ["SBR*P", "SBR*S", "SBR*T"]
    ids = [row.rpartition("*")[2] for row in rows if row.startswith("NM1*PR")]
    assert ids[1:] == ["DIR01", "SUMMITHEALTH"]
    assert not any(row.startswith(("SVD", "AMT*D", "CAS")) for row in rows)


def test_a_change_by_a_path_of_the_view_is_one_of_the_form():
    claim = stored(UB04, ub04_samples.bill("111", DAY))
    changed = UB04.with_changes(
        claim, {"frequency": "7", "original_reference": "H1", "lines[0].charge": TODAY.day}
    )
    assert (changed.FL04_TypeOfBill, changed.FL64_DocumentControlNumber) == ("117", "H1")
    assert UB04.view(changed).frequency == "7"
    assert UB04.name_of("frequency") == "the third character of FL04_TypeOfBill"
    assert UB04.locate("institutional.diagnoses[1]") == "FL67_Diagnoses[1].FL67_Code"
    assert UB04.locate("lines[2].decision.groups.PR").endswith(
        "X12_PayerDecisions[0].X12_Adjustments"
    )
