"""Sample documents and random claims are valid, and together they show every field."""

import json
from collections import Counter
from datetime import date
from random import Random

import pytest

from clearlane.claims import codes
from clearlane.claims.fields import encode, fields_of, nested_parts
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.read.decode import read_claim, restore
from clearlane.claims.rules import RuleInputs, repair_and_check
from tests.cases import by_profile
from tests.claims.variety import random_claim

DAY = date(2025, 3, 14)
FACTS = RuleInputs(today=DAY, available=frozenset())
RUN = by_profile(thorough=500, usual=250, quick=250)


def test_the_minimal_document_holds_the_required_fields_only():
    for kind in FORMS.values():
        claim = samples.minimal_claim(kind, DAY)
        allowed = {
            row.name for row in fields_of(kind.claim).values() if row.required or row.required_when
        }
        assert set(claim) <= allowed
        assert {row.name for row in fields_of(kind.claim).values() if row.required} <= set(claim)


def names_in(claim, part, prefix=""):
    for name, value in claim.items():
        yield prefix + name, value
        if name in nested_parts(part):
            for inner in value or ():
                yield from names_in(inner, nested_parts(part)[name], f"{prefix}{name}.")


NOT_SHOWN = {
    # Earlier payers decided the sample's lines, so what the patient still owes is not an amount of the claim.
    "X12_ClaimRemainingPatientLiability",
    "FL50_OtherPayers.X12_RemainingPatientLiability",
    # A stay has neither a reason for a visit nor a referring provider.
    "FL70_ReasonsForVisit",
    "FL70_ReasonsForVisit.FL70_Code",
    *(f"FL79_Referring{name}" for name in ("NameLast", "NameFirst", "NameMiddle", "Suffix", "Npi")),
    *(f"FL42_ServiceLines.X12_Referring{name}" for name in ("NameLast", "NameFirst", "Npi")),
}


@pytest.mark.parametrize("kind", FORMS.values())
def test_the_extended_document_shows_every_field_with_a_value(kind):
    shown = {
        name
        for name, value in names_in(samples.extended_claim(kind, DAY), kind.claim)
        if value is not None
    }
    wanted = set()
    paths = [("", kind.claim)]
    for prefix, part in paths:
        wanted |= {prefix + name for name in fields_of(part)}
        paths += [(f"{prefix}{name}.", inner) for name, inner in nested_parts(part).items()]
    assert wanted - NOT_SHOWN == shown


def test_a_document_can_be_given_an_insured_id_and_a_claim_id():
    for kind, member in (
        (V3_MEDICAL, "F01A_InsuredId"),
        (V3_DENTAL, "F15_InsuredID"),
    ):
        document = samples.document(kind, day=DAY, insured_id="3003", claim_id="C-9")
        assert document["DocumentType"] == kind.document_type
        assert document["Claims"][0][member] == "3003"
        assert document["Claims"][0]["Svc_VendorClaimId"] == "C-9"


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.slow
def test_random_claims_are_accepted_and_show_every_field_and_relationship(kind):
    seen, relationships = Counter(), set()
    for seed in range(RUN):
        raw = json.dumps(random_claim(kind, Random(seed), DAY)).encode()
        found = read_claim(kind, raw, "Claims[0]")
        assert found.findings == (), (seed, [(f.location, f.message) for f in found.findings])
        checked = repair_and_check(found.claim, FACTS)
        assert checked.accepted, (
            seed,
            [(f.rule, f.location, f.message) for f in checked.findings],
        )
        assert restore(kind, encode(checked.claim)) == checked.claim
        claim = checked.claim
        relationships.add(kind.value(claim, "subscriber.relationship"))
        for name, _ in names_in(json.loads(encode(claim)), kind.claim):
            seen[name] += 1
    paths = [("", kind.claim)]
    for prefix, part in paths:
        assert not {prefix + name for name in fields_of(part)} - set(seen)
        paths += [(f"{prefix}{name}.", inner) for name, inner in nested_parts(part).items()]
    assert relationships == set(codes.meanings("relationship"))


def test_a_random_claim_is_a_pure_function_of_the_generator():
    for kind in FORMS.values():
        assert random_claim(kind, Random(7), DAY) == random_claim(kind, Random(7), DAY)
