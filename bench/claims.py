"""How fast a stored claim becomes the text of an 837, beside pyx12's writer on the same segments."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

from bench.harness import Measure, bench, seconds, side_by_side
from clearlane.claims import fields
from clearlane.claims.forms import UB04, V3_MEDICAL, form_of, ub04_samples
from clearlane.claims.forms.samples import minimal_claim
from clearlane.claims.read import decode
from clearlane.claims.read.repairs import repair
from clearlane.claims.write.write_837 import Envelope, OutgoingClaim, TradingPartner, write_claims

KIND = V3_MEDICAL
DAY = date(2026, 4, 10)
CLAIMS, LINES = 1_000, 6
ENVELOPE = Envelope(
    sender="CLEARLANE", receiver="MEADOW", control=17, moment=datetime(2026, 4, 15, tzinfo=UTC)
)
SUBMITTER = TradingPartner(name="Clearlane", id="CL0001", phone="2065550100")
RECEIVER = TradingPartner(name="Meadow Mutual", id="MM001")

# What an ordinary office visit says beside the required fields.
USUAL = {
    "F00_PayerAddress1": "1200 Meadow Lane", "F00_PayerCity": "Austin", "F00_PayerState": "TX",
    "F00_PayerZip": "787010042", "F01_ClaimType": "Group", "F11_InsuredsPolicyGroupOrFecaNumber": "GRP0042",
    "F13_InsuredAuthorization": "Y", "F14_DateOfCurrentIllnessOrSymptom": "2026-04-01",
    "F17_ReferringProviderNameLast": "Fenn", "F17_ReferringProviderNameFirst": "Oskar",
    "F17B_ReferringProviderNpi": "1679576722", "F19_ClaimSupplementalInfoNoteText": "Follow up after first visit",
    "F21_DiagnosisCodes": ["E11.9", "I10", "M54.50"], "F27_AcceptAssignment": "Assigned",
    "F28_TotalCharge": f"{100 * LINES}.00", "F32_FacilityName": "Larkspur Clinic",
    "F32_FacilityAddress1": "9 Lark Street", "F32_FacilityCity": "Madison", "F32_FacilityState": "WI",
    "F32_FacilityZip": "537031020", "F32A_FacilityNpi": "1679576722", "F33_BillingProviderZip": "787011234",
    "F33_BillingProviderPhoneNumber": "5125550142", "F33A_BillingProviderNpi": "1234567893",
    "F33B_BillingProviderTaxonomyCode": "207Q00000X", "X12_RendProviderNameLast": "Birch",
    "X12_RendProviderNameFirst": "Nora", "X12_RendProviderTaxonomyCode": "207Q00000X",
    "X12_RenderingNPI": "1679576722",
}  # fmt: skip


def outgoing(number: int) -> OutgoingClaim:
    """A claim of six lines, as the store gives it back."""
    lines = [
        {
            "F24A_DateOfServiceFrom": f"2026-04-{at + 1:02}", "F24B_PlaceOfServiceCode": "11",
            "F24D_HcpcsProcedureCode": f"9921{at % 5 + 1}", "F24D_Modifiers": "25",
            "F24E_DiagnosisPointers": ["A", "B"], "F24F_Charges": "100.00", "F24G_DaysOrUnits": 1,
        }
        for at in range(LINES)
    ]  # fmt: skip
    own = {
        "F01A_InsuredId": f"M{number:08}", "F23_PriorAuthorizationNumber": f"AUTH{number:07}",
        "F26_PatientAcctNumber": f"A{number}", "F24_ClaimLines": lines,
    }  # fmt: skip
    raw = json.dumps(minimal_claim(KIND, DAY) | USUAL | own).encode()
    read = decode.read_claim(KIND, raw, "Claims[0]")
    assert read.claim is not None, "the claim of the measurement is a valid one"
    claim = decode.restore(KIND, fields.encode(repair(read.claim)[0]))
    return OutgoingClaim(
        claim=claim, number=f"C{number:018}", payer_id="MM001", account_as_number=True
    )


@bench("claims.to837p")
def to_837p() -> Measure:
    """Restored claims to the bytes of an interchange, against pyx12's writer on the same segments."""
    claims = [outgoing(number) for number in range(1, CLAIMS + 1)]

    def ours() -> bytes:
        return b"".join(write_claims(claims, ENVELOPE, SUBMITTER, RECEIVER))

    rows = ours().decode().rstrip("~").split("~")
    assert sum(row.startswith("CLM*") for row in rows) == CLAIMS, "every claim is written"
    mine, peer = side_by_side(ours, lambda: _pyx12_write(rows), runs=5)
    return Measure("claims.to837p", CLAIMS / mine, "claims/s", peer / mine, "pyx12")


@bench("claims.to837i")
def to_837i() -> Measure:
    """Restored institutional claims to bytes, against the professional ones, segment by segment: at least 0.8 of their speed."""
    stays = [stay(number) for number in range(1, CLAIMS + 1)]
    visits = [outgoing(number) for number in range(1, CLAIMS + 1)]

    def write(claims: list[OutgoingClaim]) -> bytes:
        return b"".join(write_claims(claims, ENVELOPE, SUBMITTER, RECEIVER))

    sizes = [write(claims).count(b"~") for claims in (stays, visits)]
    mine, theirs = side_by_side(lambda: write(stays), lambda: write(visits), runs=5)
    ratio = (sizes[0] / mine) / (sizes[1] / theirs)
    return Measure("claims.to837i", CLAIMS / mine, "claims/s", ratio, "to837p a segment")


def stay(number: int) -> OutgoingClaim:
    """An institutional claim of six lines, as the store gives it back."""
    raw = ub04_samples.bill("111", DAY)
    bed, *others = raw["FL42_ServiceLines"]
    raw["FL42_ServiceLines"] = lines = [bed, *others * 2, others[0]]
    total = sum(Decimal(line["FL47_TotalCharges"]) for line in lines)
    raw |= {
        "FL47_ClaimTotalCharges": str(total), "FL60_InsuredId": f"M{number:08}", "FL03a_PatientControlNumber": f"A{number}",
    }  # fmt: skip
    read = decode.read_claim(UB04, json.dumps(raw).encode(), "Claims[0]")
    assert read.claim is not None, "the claim of the measurement can be read"
    claim = decode.restore(UB04, fields.encode(repair(read.claim)[0]))
    return OutgoingClaim(
        claim=claim, number=f"C{number:018}", payer_id="MM001", account_as_number=True
    )


def _pyx12_write(rows: list[str]) -> None:
    from pyx12.segment import Segment
    from pyx12.x12file import X12Writer

    out = X12Writer(io.StringIO(), "~", "*", ":", "", "^")
    for row in rows:
        out.Write(Segment(row, "~", "*", ":"))


@bench("claims.view")
def view() -> Measure:
    """The view of a claim, against decoding and all rules, which build it too: at most 0.15 of their time."""
    from bench.submit import a_document, in_process

    (raw, *_) = json.loads(a_document(1))["Claims"]
    read = decode.read_claim(KIND, json.dumps(raw).encode(), "Claims[0]")
    assert read.claim is not None, "the claim of the measurement is a valid one"
    claim = repair(read.claim)[0]
    form = form_of(claim)
    taken = seconds(lambda: [form.view(claim) for _ in range(CLAIMS)]) / CLAIMS
    return Measure("claims.view", 1 / taken, "claims/s", taken * in_process(50), "decode+rules")
