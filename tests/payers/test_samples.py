"""The sandbox starts with the document's test payers and a directory that shows every value."""

from clearlane.payers.fields import PAYER_FIELDS, read_payer
from clearlane.payers.merge import merge
from clearlane.payers.model import ERAS, PAYER_TYPES
from clearlane.payers.samples import LIVE_PAYERS, RESERVED_IDS, TEST_PAYERS
from clearlane.payers.transfer import as_wire


def test_the_test_payers_are_those_of_the_interface_document():
    medical = {p.payer_id for p in TEST_PAYERS if p.type == "Medical"}
    dental = {p.payer_id for p in TEST_PAYERS if p.type == "Dental"}
    assert medical == {"TST01", "TST1E", "TST2E", "TST3E"}
    assert dental == {"TST02"}
    assert all(p.offers_eligibility and p.is_test and p.has_route for p in TEST_PAYERS)
    assert {p.payer_id.casefold() for p in TEST_PAYERS} == RESERVED_IDS


def test_the_live_directory_shows_every_value_for_both_types():
    for type in PAYER_TYPES:
        mine = [p for p in LIVE_PAYERS if p.type == type]
        assert {p.era_availability for p in mine} == set(ERAS)
        for shown in (
            {p.offers_eligibility for p in mine},
            {p.claim_enrollment_required for p in mine},
            {bool(p.national_payer_id) for p in mine},
            {p.svc_payer_id == p.payer_id for p in mine},
            {bool(p.aliases) for p in mine},
        ):
            assert shown == {True, False}
    types: dict[str, set[str]] = {}
    for payer in LIVE_PAYERS:
        types.setdefault(payer.payer_id, set()).add(payer.type)
    assert set(PAYER_TYPES) in types.values()


def test_the_samples_pass_the_checks_of_an_import():
    for payer in LIVE_PAYERS:
        values = as_wire(payer) | {"Aliases": list(payer.aliases)}
        read, findings = read_payer(values)
        assert findings == []
        assert all(getattr(read, c.attribute) == getattr(payer, c.attribute) for c in PAYER_FIELDS)
    assert merge([], list(enumerate(LIVE_PAYERS)), drop_others=False).findings == ()
