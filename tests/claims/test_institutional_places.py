"""Places of payers' codes in an 837I: each is a place of its guide."""

import pytest

from clearlane.claims.forms.institutional_places import LOOPS, STATUS_PLACES, places_in_837i
from clearlane.claims.forms.x12_segments import elements_at
from clearlane.claims.responses import code_advice
from clearlane.x12 import codes
from tests.claims.file_claims import claims_in
from tests.claims.institutional_claims import BILLS, OPERATING


def test_a_charge_a_procedure_and_a_provider_are_where_an_837i_has_them():
    assert places_in_837i(("2400/{line}/01-2", "2400/{line}/02", "2400/SV1/04")) == [
        "2400/SV2/02-2", "2400/SV2/03", "2400/SV2/05",
    ]  # fmt: skip
    assert places_in_837i(("{e}/NM1/09",), "71") == ["2310A/NM1/09"]
    assert places_in_837i(("{e}/NM1/09",), "82") == ["2310D/NM1/09"]
    assert places_in_837i(("2300/HI", "2300/HI/01")) == [
        "2300/HI:ABK/01", "2300/HI:ABF", "2300/HI:ABK/01",
    ]  # fmt: skip
    assert places_in_837i((), status="234") == ["2300/CL1/03"]
    assert STATUS_PLACES.keys() <= codes.load("statuses").keys()
    assert LOOPS.keys() <= codes.load("entities").keys()


@pytest.mark.parametrize(
    ("status", "entity", "text"),
    [("234", "", "06"), ("455", "", "0120"), ("562", "72", "1000000012"), ("465", "", "0DTJ4ZZ")],
)
def test_a_status_is_traced_to_what_the_bill_states(status, entity, text):
    (claim,) = claims_in(BILLS["111 appendectomy"].file())
    assert "1000000012" in OPERATING
    places = places_in_837i(code_advice.STATUS_PLACES.get(status, ()), entity, status)
    found = [one.text for place in places for one in elements_at(claim, place)]
    assert any(text in one for one in found), found
