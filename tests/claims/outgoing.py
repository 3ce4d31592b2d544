"""Claims on their way to a payer, for the tests of the placements."""

import json
import logging
from datetime import UTC, date, datetime
from functools import cache
from random import Random
from typing import Any

from clearlane.claims import fields
from clearlane.claims.fields import Claim
from clearlane.claims.forms import UB04, V3_DENTAL, V3_MEDICAL, AnyForm
from clearlane.claims.forms.samples import extended_claim, minimal_claim
from clearlane.claims.read import decode
from clearlane.claims.read.repairs import repair
from clearlane.claims.write.write_837 import Envelope, OutgoingClaim, TradingPartner, write_claims
from clearlane.x12.reader.reader import parse
from clearlane.x12.tree import Loop
from tests.claims.variety import random_claim
from tests.x12.pyx12_witness import is_accepted

DAY = date(2026, 4, 10)
MOMENT = datetime(2026, 4, 15, 12, 30, tzinfo=UTC)
ENVELOPE = Envelope(sender="CLEARLANE", receiver="MEADOW", control=17, moment=MOMENT)
SUBMITTER = TradingPartner(
    name="Clearlane", id="CL0001", contact="Service Desk", phone="2065550100"
)
RECEIVER = TradingPartner(name="Meadow Mutual", id="MM001")


@cache
def random_claims(kind: AnyForm, count: int, seed: int = 7) -> tuple[Claim, ...]:
    """Random valid claims as they come out of the store."""
    rng = Random(seed)
    return tuple(stored(kind, random_claim(kind, rng, DAY)) for _ in range(count))


def stored(kind: AnyForm, raw: dict) -> Claim:
    """A claim as the store gives it back."""
    read = decode.read_claim(kind, json.dumps(raw).encode(), "Claims[0]")
    assert read.claim is not None, read.findings
    return decode.restore(kind, fields.encode(repair(read.claim)[0]))


def medical(line: dict | None = None, **own: object) -> Claim:
    """A minimal medical claim with some fields of its own; None leaves a field out."""
    return _claim(V3_MEDICAL, line, own)


def dental(line: dict | None = None, **own: object) -> Claim:
    """A minimal dental claim with some fields of its own; None leaves a field out."""
    return _claim(V3_DENTAL, line, own)


def _claim(kind: AnyForm, line: dict | None, own: dict) -> Claim:
    raw = minimal_claim(kind, DAY) | own
    lines = raw[kind.lines_field]
    raw[kind.lines_field] = [each | (line or {}) for each in lines]
    return stored(kind, raw)


def extended(kind: AnyForm) -> Claim:
    """A claim in which every field appears."""
    return stored(kind, extended_claim(kind, DAY))


PAID = ("F29_PayerAmountPaid", "X12_ClaimPrimaryPayerPaidAmount")
ONE_LINE: dict[AnyForm, dict[str, Any]] = {
    V3_MEDICAL: {"F28_TotalCharge": "100.00"} | dict.fromkeys(PAID, "55.00"),
    V3_DENTAL: {"F32_TotalFee": "100.00"},
    UB04: {
        "FL47_ClaimTotalCharges": "1500.00",
        "FL50_OtherPayers": None,
        "FL79_ReferringNameLast": "Lund",
    },
}
"""The amounts of a claim of which one line is left."""


def extended_claim_of_one_line(kind: AnyForm, day: date) -> dict:
    """Return the extended claim with its first line alone; what only later lines hold is left out."""
    claim = extended_claim(kind, day)
    line = claim[kind.lines_field][0]
    # Other fields of a provider need the name.
    line |= (
        {"X12_RenderingNameLast": "Lund", "X12_ReferringNameLast": "Lund"} if kind is UB04 else {}
    )
    return claim | ONE_LINE[kind] | {kind.lines_field: [line]}


def outgoing(claim: Claim, number: int = 1, **more: Any) -> OutgoingClaim:
    return OutgoingClaim(claim=claim, number=f"C{number:018}", payer_id="MM001", **more)


def written(outs: list[OutgoingClaim], envelope: Envelope = ENVELOPE) -> bytes:
    return b"".join(write_claims(outs, envelope, SUBMITTER, RECEIVER))


def segments(claim: Claim, **more: Any) -> list[str]:
    """The segments of one claim's file, from the first level to the end."""
    out = outgoing(claim, **more)
    rows = written([out]).decode().split("~")
    return rows[next(at for at, row in enumerate(rows) if row.startswith("HL*")) : -4]


def root_of(data: bytes) -> Loop:
    """The tree of a file's first set."""
    return next(parse(data, check=False).sets()).root


def refusals(data: bytes, caplog) -> list[str]:
    """What pyx12 says against an interchange."""
    with caplog.at_level(logging.ERROR):
        caplog.clear()
        accepted = is_accepted(data)
        said = [record.getMessage() for record in caplog.records]
    return said if said or accepted else ["refused without a word"]
