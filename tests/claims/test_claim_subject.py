"""Whom and what claims are about, in both kinds of claim.

Also tests `claims/header`.
"""

import json
from datetime import date, timedelta

import pytest

from clearlane.claims.claim_subject import SubjectComparison, compare_subjects
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.header import decode_header, encode_header, header_of
from clearlane.claims.read.decode import read_claim
from clearlane.claims.read.repairs import repair
from tests.cases import every_case

DAY = date(2025, 3, 14)
SAME = SubjectComparison()


def subject(kind=V3_MEDICAL, payer="P1", line=None, lines=1, **own):
    document = samples.document(kind, day=DAY, full=False)
    (claim,) = document["Claims"]
    name = kind.lines_field
    claim |= own | {name: [claim[name][0] | (line or {})] * lines}
    content = json.dumps({k: v for k, v in claim.items() if v is not None}, default=str).encode()
    read = read_claim(kind, content, "Claims[0]")
    assert read.claim, read.findings
    repaired, _ = repair(read.claim)
    return header_of(kind.view(repaired)), payer


def compare(later, earlier):
    """What a claim has in common with an earlier one, whose header was stored."""
    header, payer = earlier
    return compare_subjects(*later, decode_header(encode_header(header)), payer)


def days(first, last=None):
    return {
        "F24A_DateOfServiceFrom": DAY + timedelta(days=first),
        "F24A_DateOfServiceTo": DAY + timedelta(days=first if last is None else last),
    }


@every_case(
    ("earlier", "later", "differs"),
    [
        ({}, {}, {}),
        ({}, {"F19_ClaimSupplementalInfoNoteText": "ANOTHER"}, {}),
        ({}, {"payer": "P2"}, {"same_payer": False}),
        ({}, {"F01A_InsuredId": "OTHER99"}, {"same_insured": False}),
        ({"F01A_InsuredId": "ABC-123"}, {"F01A_InsuredId": "abc 123"}, {}),
        ({}, {"F02_PatientNameFirst": "Twin"}, {"same_patient": False}),
        ({"F02_PatientNameLast": "O'Hara"}, {"F02_PatientNameLast": "OHARA"}, {}),
        ({}, {"F03_PatientDob": "1999-01-01"}, {"same_patient": False}),
        # Days: periods that touch have one in common.
        ({"line": days(0)}, {"line": days(1)}, {"common_day": False}),
        ({"line": days(-5, 0)}, {"line": days(0, 3)}, {}),
        ({"line": days(-5, 5)}, {"line": days(1)}, {}),
        ({"line": days(-5, -1)}, {"line": days(0, 3)}, {"common_day": False}),
        ({}, {"X12_ClaimPrimaryPayerPaidAmount": "10.00"}, {"is_secondary": True}),
        ({"X12_ClaimPrimaryPayerPaidAmount": "10.00"}, {}, {}),
    ],
)
def test_what_two_claims_have_in_common(earlier, later, differs):
    assert compare(subject(**later), subject(**earlier)) == SubjectComparison(**differs)


@pytest.mark.parametrize("kind", FORMS.values())
def test_claims_of_every_kind_are_compared(kind):
    assert compare(subject(kind), subject(kind)) == SAME
    assert compare(subject(kind, payer="P2"), subject(kind)).differences() == "The payer differs"


def test_a_predetermination_has_no_day_in_common_with_the_claim_that_follows_it():
    asked = subject(
        V3_DENTAL,
        F01_TypeOfTransaction="Predetermination",
        line={"F24_DateOfServiceFrom": None},
    )
    compared = compare(subject(V3_DENTAL), asked)
    assert not compared.same_purpose
    assert not compared.common_day


@pytest.mark.parametrize("kind", FORMS.values())
def test_a_header_is_stored_whole_and_shows_nobody(kind):
    header, _ = subject(kind)
    assert decode_header(encode_header(header)) == header
    assert header.last_name
    assert header.last_name not in repr(header)
