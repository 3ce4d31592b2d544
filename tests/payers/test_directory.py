"""Payer lists from memory: who is in which, and the exact bytes."""

import gzip
import hashlib
import json

import pytest
from msgspec.structs import replace

from clearlane.claims.kinds import ClaimKind, id_in_claims
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS

ALL = (*LIVE_PAYERS, *TEST_PAYERS)


@pytest.fixture(scope="module")
def sandbox() -> PayerDirectory:
    return PayerDirectory(ALL, sandbox=True)


@pytest.fixture(scope="module")
def production() -> PayerDirectory:
    return PayerDirectory(ALL, sandbox=False)


def ids(payers: PayerDirectory, which, type) -> set[str]:
    return {row["PayerId"] for row in json.loads(payers.payer_list(which, type).body)}


def test_a_row_holds_the_fields_of_the_interface_in_its_order():
    payers = PayerDirectory(
        [Payer("Dental", "Summit \u00c9", "SD005", "SMD05", "", "Available", True)], sandbox=True
    )
    assert (
        payers.payer_list("live", "Dental").body
        == (
            '[{"Type":"Dental","Name":"Summit \u00c9","SvcPayerId":"SD005","PayerId":"SMD05",'
            '"NationalPayerId":"","EraAvailability":"Available","OffersEligibility":true,'
            '"ClaimEnrollmentRequired":false}]'
        ).encode()
    )


LISTS_BEFORE_INSTITUTIONAL_CLAIMS = {
    ("live", "Medical"): "62ad3a7b525d63ed",
    ("live", "Dental"): "e9a914755cc8caea",
    ("test", "Medical"): "746c3aea9fc9dc20",
    ("test", "Dental"): "7ed388f93a1ed323",
    ("eligibility", "Medical"): "5f7e5c6ea2621098",
    ("eligibility", "Dental"): "28e23e1d83a79a2f",
}
"""What the lists of V3 hashed to before there was a third kind of claim, for these payers."""


def test_the_lists_of_v3_are_what_they_were_before_institutional_claims(sandbox):
    """What a payer wants of institutional claims is a column of the directory, and no list of V3 shows it."""
    changed = [
        replace(p, institutional_payer_id=f"{p.payer_id}I", edits=("professional_only",))
        for p in ALL
    ]
    for payers in (sandbox, PayerDirectory(changed, sandbox=True)):
        assert {
            key: hashlib.sha256(payers.payer_list(*key).body).hexdigest()[:16]
            for key in LISTS_BEFORE_INSTITUTIONAL_CLAIMS
        } == LISTS_BEFORE_INSTITUTIONAL_CLAIMS


def test_a_payer_is_found_by_the_id_of_its_institutional_claims(sandbox):
    found = sandbox.find("twl6i", "Medical")
    assert found is not None
    assert (found.payer_id, id_in_claims(found, ClaimKind.INSTITUTIONAL)) == ("TWL61", "TWL6I")
    assert id_in_claims(found, ClaimKind.MEDICAL) == "TWL61"
    other = sandbox.find("MDW10", "Medical")
    assert other is not None
    assert id_in_claims(other, ClaimKind.INSTITUTIONAL) == "MDW10"


def test_the_live_list_holds_active_live_payers_of_the_type(sandbox):
    for type in ("Medical", "Dental"):
        expected = {p.payer_id for p in LIVE_PAYERS if p.type == type}
        assert ids(sandbox, "live", type) == expected


def test_an_inactive_payer_is_in_no_list_and_still_found():
    asleep = replace(LIVE_PAYERS[0], active=False)
    payers = PayerDirectory([asleep], sandbox=True)
    for which in ("live", "test", "eligibility"):
        assert payers.payer_list(which, asleep.type).body == b"[]"
    assert payers.find(asleep.payer_id, asleep.type) == asleep


@pytest.mark.parametrize(
    ("name", "type", "payer_id"),
    [
        ("Meadow Mutual", "Medical", "MDW10"),
        ("MEADOW-MUTUAL", "Medical", "MDW10"),
        ("mmic", "Medical", "MDW10"),
        ("Harbor Health Plan", "Dental", "HHP20"),
        ("Summit", "Medical", "SMD05"),  # of the other type, if its own has none
        ("Meadow Mutua", "Medical", None),
        ("", "Medical", None),
    ],
)
def test_a_payer_is_found_by_its_whole_name_or_alias(sandbox, name, type, payer_id):
    found = sandbox.find_by_name(name, type)
    assert (found and found.payer_id) == payer_id


def test_a_name_that_several_payers_share_finds_none_of_them():
    twin = replace(LIVE_PAYERS[0], payer_id="TWIN1", aliases=("Twin",))
    payers = PayerDirectory([LIVE_PAYERS[0], twin], sandbox=True)
    assert payers.find_by_name("Meadow Mutual", "Medical") is None
    assert payers.find_by_name("twin", "Medical") == twin
    payers.compress()


def test_the_test_list_holds_the_sandbox_payers(sandbox):
    assert ids(sandbox, "test", "Medical") == {"TST01", "TST1E", "TST2E", "TST3E"}
    assert ids(sandbox, "test", "Dental") == {"TST02"}


def test_the_eligibility_list_of_a_sandbox_holds_test_payers_too(sandbox):
    medical = {p.payer_id for p in LIVE_PAYERS if p.type == "Medical" and p.offers_eligibility}
    assert ids(sandbox, "eligibility", "Medical") == medical | {"TST01", "TST1E", "TST2E", "TST3E"}
    dental = {p.payer_id for p in LIVE_PAYERS if p.type == "Dental" and p.offers_eligibility}
    assert ids(sandbox, "eligibility", "Dental") == dental | {"TST02"}


def test_production_has_no_test_payers_anywhere(production):
    for type in ("Medical", "Dental"):
        assert production.payer_list("test", type).body == b"[]"
        assert not any(id.startswith("TST") for id in ids(production, "eligibility", type))
    assert production.find("TST01", "Medical") is None
    assert production.search("TST01") == []


def test_lists_are_ordered_by_name_and_compressed_once(sandbox):
    listing = sandbox.payer_list("live", "Medical")
    names = [row["Name"] for row in json.loads(listing.body)]
    assert names == sorted(names, key=str.casefold)
    assert listing.count == len(names)
    assert gzip.decompress(listing.gzipped) == listing.body
    assert listing.gzipped is listing.gzipped
    sandbox.compress()


def test_two_nodes_compress_a_list_to_the_same_bytes():
    one, other = (PayerDirectory(ALL, sandbox=True).payer_list("live", "Dental") for _ in range(2))
    assert one.gzipped == other.gzipped


@pytest.mark.parametrize("id", ["MDW10", "mdw10", "MM010", "mm010"])
def test_a_payer_is_found_by_either_id_in_any_case(sandbox, id):
    assert sandbox.find(id, "Medical").name == "Meadow Mutual"
    assert sandbox.find(id, "Dental") is None
    assert sandbox.find(id, "Vision") is None


def test_a_payer_is_found_by_its_national_id(sandbox):
    assert sandbox.find("7900000205", "Medical").payer_id == "HHP20"
    assert sandbox.find("7900000205", "Dental").payer_id == "HHP20"
    assert sandbox.find("", "Medical") is None


def test_the_preferred_id_wins_over_the_legacy_and_the_national_one():
    national = Payer("Medical", "National", "N1", "N", "X")
    legacy = Payer("Medical", "Legacy", "X", "L")
    preferred = Payer("Medical", "Preferred", "P1", "X")
    assert PayerDirectory([national], sandbox=True).find("x", "Medical") is national
    assert PayerDirectory([legacy, national], sandbox=True).find("x", "Medical") is legacy
    assert (
        PayerDirectory([preferred, legacy, national], sandbox=True).find("x", "Medical")
        is preferred
    )


def test_a_national_id_of_two_payers_names_neither():
    one, other = (Payer("Medical", "Plan", id, id, "79") for id in "AB")
    assert PayerDirectory([one, other], sandbox=True).find("79", "Medical") is None
