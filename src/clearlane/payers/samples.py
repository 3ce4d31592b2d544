"""The payers that a sandbox starts with.

The test payers are those of the interface document. The live ones are invented, and together have every field
and value of a payer list.
"""

from clearlane.payers.hops import Hop, HopPayer
from clearlane.payers.model import Payer


def _test(type: str, payer_id: str, name: str, era: str, *, accepts_claims: bool = True) -> Payer:
    return Payer(
        type=type,
        name=name,
        svc_payer_id=payer_id,
        payer_id=payer_id,
        era_availability=era,
        offers_eligibility=True,
        is_test=True,
        has_route=True,
        accepts_claims=accepts_claims,
    )


# TST01 and TST02 take claims and inquiries, the others inquiries only; the list of test payers
# holds them all.
TEST_PAYERS = (
    _test("Medical", "TST01", "Sandbox Medical", "Available"),
    _test("Dental", "TST02", "Sandbox Dental", "Available"),
    _test(
        "Medical", "TST1E", "Sandbox Medical Eligibility One", "NotAvailable", accepts_claims=False
    ),
    _test(
        "Medical", "TST2E", "Sandbox Medical Eligibility Two", "NotAvailable", accepts_claims=False
    ),
    _test(
        "Medical",
        "TST3E",
        "Sandbox Medical Eligibility Three",
        "NotAvailable",
        accepts_claims=False,
    ),
)
# Reserved on every installation, so that a directory can move between a sandbox and production.
RESERVED_IDS = frozenset(payer.payer_id.casefold() for payer in TEST_PAYERS)

_A, _R, _N = "Available", "RequiresEnrollment", "NotAvailable"

# type, PayerId, SvcPayerId, NationalPayerId, name, ERA, eligibility, enrollment, aliases
_LIVE = (
    ("Medical", "MDW10", "MM010", "", "Meadow Mutual", _R, True, False, ("Meadow", "MMIC")),
    ("Medical", "HHP20", "HHP20", "7900000205", "Harbor Health Plan", _A, True, False, ("HHP",)),
    ("Dental", "HHP20", "HHP20", "7900000205", "Harbor Health Plan", _N, False, False, ("HHP",)),
    ("Medical", "HHP2M", "00421", "7900000213", "Harbor Health Plan Medicaid", _R, True, True, ()),
    ("Medical", "BLU31", "BLU31", "", "Bluestem Benefit Trust", _N, False, False, ()),
    ("Medical", "FBK40", "FC400", "7900000403", "Fernbank Health Cooperative", _A, True, True, ()),
    ("Medical", "QRY52", "QRY52", "", "Quarry Ridge Casualty", _N, False, True, ("Quarry Auto",)),
    (
        "Medical",
        "TWL61",
        "TWL61",
        "7900000619",
        "Three Willows Senior Advantage",
        _R,
        True,
        False,
        (),
    ),
    ("Medical", "CPR77", "07700", "", "Copper Basin Employees Fund", _A, False, False, ("CBEF",)),
    ("Dental", "SMD05", "SD005", "7900000056", "Summit Dental", _R, True, False, ("Summit",)),
    ("Dental", "SMD06", "SMD06", "7900000064", "Summit Dental Children", _R, True, True, ()),
    ("Dental", "LKD15", "LKD15", "", "Lakeside Dental Guild", _A, True, False, ("LDG",)),
    ("Dental", "PNE28", "08228", "", "Pinecrest Smile Plan", _A, False, True, ()),
    ("Dental", "MDW1D", "MM01D", "", "Meadow Mutual Dental", _N, False, False, ("Meadow Dental",)),
)
INSTITUTIONAL_IDS = {"TWL61": "TWL6I"}
"""A payer that has an id of its own for institutional claims."""
LIVE_PAYERS = tuple(
    Payer(
        type=type,
        name=name,
        svc_payer_id=svc_payer_id,
        payer_id=payer_id,
        national_payer_id=national_payer_id,
        era_availability=era,
        offers_eligibility=eligibility,
        claim_enrollment_required=enrollment,
        aliases=aliases,
        has_route=True,
        institutional_payer_id=INSTITUTIONAL_IDS.get(payer_id, ""),
    )
    for type, payer_id, svc_payer_id, national_payer_id, name, era, eligibility, enrollment, aliases in _LIVE
)

SANDBOX_HOP = Hop(
    "EASTGATE",
    "Eastgate Clearing",
    (
        HopPayer("Medical", "BLU31", "60131"),
        HopPayer("Medical", "CPR77", "60177"),
        HopPayer("Dental", "MDW1D", "60110"),
    ),
)
"""The upstream clearinghouse of every sandbox. The payers that it serves are reached in no other way."""
