"""All that is read of invented remittances, and all that is said of it, as a list that a run writes.

``recorded_payments.txt`` has every filled field of every payment, claim payment, line and adjustment, by both readings, as
JSON and as CSV, and the sentences. Write it again when one changes, and read the difference::

    .venv/bin/python -m tests.payments.recorded_payments
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec

from clearlane.payments import as_json, explain, read_835, wording
from clearlane.payments.balance import balance_warnings
from clearlane.payments.deposit import Deposit, DepositState
from clearlane.payments.payment import ClaimPayment, Payment, PaymentSummary, ProviderAdjustment
from clearlane.payments.payment_csv import payment_csv
from clearlane.payments.read_payment import as_void_answer
from tests.claims.answers import paid, payment, sealed
from tests.corpus import OWN
from tests.payments.invented import ADJUSTMENTS, CLAIM_PAYMENTS, PAYMENT
from tests.payments.whole_835 import read_one_payment, read_payments
from tests.recorded_list import RecordedList

VISIT = [
    "DTM*232*20261001", "DTM*233*20261003", "DTM*050*20261005", "AMT*I*2.10", "MOA***MA01", "REF*F8*OLD77", "REF*D9*C1",
    "NM1*IL*1*ARDEN*ROSA****MI*M900", "NM1*82*1*QUILL*HANA****XX*1234567893",
    "NM1*74*1*ARDEN-LOWE*RUTH*J**JR*C*M124", "NM1*TT*2*HARBOR HEALTH*****PI*HH1",
    "SVC*HC:99213:25:59*100*60**1*HC:99214*2", "DTM*472*20261001", "CAS*CO*45*20", "CAS*PR*1*5*1*2*10**3*5", "REF*6R*C1-1",
    "AMT*B6*80", "LQ*HE*N130",
    "SVC*HC:85025*50*0", "DTM*150*20261002", "DTM*151*20261004", "CAS*CO*97*50*0.50",
]  # fmt: skip
STAY = [
    "MIA*3*784*2*6720*MA18*1*2*3*4*5*6*7*8*9*4*10*11*12*13*N115***MA67*14", "DTM*232*20261101",
    "SVC*NU:0120*1000*600**3", "CAS*CO*45*400", "SVC*HC:80053*96*20*0300*2", "DTM*472*20261103", "CAS*OA*23*70",
    "CAS*PI*16*6",
]  # fmt: skip
GROUPED = "**194*0.960*0.5"
CLINIC = [
    "MOA*0.55*420*MA01*N115*****30*40",
    "SVC*HC:99284*96*20*0450*1",
    "DTM*150*20261104",
    "CAS*PR*96*76",
]
OTHERS = [
    paid("C3", "22", "-100", "-80", "CAS*CO*45*-20", payer_number="P3"),
    paid("C3", "1", "100", "60", "CAS*CO*45*40", payer_number="P4"),
    paid("C4", "4", "100", "0", "MOA***MA130", "CAS*CO*16*100"),
    paid("C4", "1", "100", "0", "MIA*1****MA130", "SVC*HC:99213*100*0", "CAS*CO*16*100"),
    paid("C4", "1", "100", "0", "SVC*HC:99213*100*0", "CAS*CO*16*100", "LQ*HE*MA130"),
    paid("C5", "19", "100", "0", "CAS*PR*2*100", "NM1*TT*2*HARBOR HEALTH"),
    paid("C6", "77", "1OO", "", "CAS*CO*45*X"),
    paid("C7", "1", "100", "100", "SVC*HC:99213*60*61**1", "SVC*HC:99213*40*39**1"),
    paid("C8", "25", "100", "0", "CAS*OA*101*100"),
    paid("C9", "2", "0", "0", "NM1*74*1******C*M9"),
]  # fmt: skip
LEDGER = [
    "PLB*1234567893*20261231*WO:9:X*30.5*L6*-2.10*CS*?", "PLB*1111111112*2026*ZZ:A*1*:*2", "PLB*1*20261231**",
]  # fmt: skip


def _stay() -> list[str]:
    clp, *rest = paid("C2", "1", "1096", "620", *STAY)
    return [clp + GROUPED, *rest]


def _with_usual_separators(content: bytes) -> bytes:
    for old, new in (
        (b"C-1", b"C*1"), (b"EFT-2", b"EFT:2"), (b"MEADOW MUTUAL", b"MEADOW*MUTUAL"), (b"FERNHILL FAMILY", b"FERNHILL~FAMILY"),
        (b"C1-1", b"C1^1"), (b">9>X|", b">9>X:*|"),
    ):  # fmt: skip
        assert old in content, old
        content = content.replace(old, new)
    return content


PLAIN = paid("A1", "1", "10", "10", "REF*D9*A1")
HEADINGS = {
    "a check for a payee with a tax number": [
        "835", "BPR*I*10*D*CHK************20261114", "TRN*1*K1*9512345678*SUPP", "DTM*405*20261113", "N1*PR*MEADOW MUTUAL",
        "REF*2U*OWN8", "REF*NF*NAIC9", "PER*BL*HELP*TE*5125550100", "N1*PE*FERNHILL*FI*123456789", "LX*1", *PLAIN,
    ],
    "a notice for a payee known by reference": [
        "835", "BPR*H*0*C*NON************20261114", "TRN*1*K2", "N1*PR*MEADOW MUTUAL*XV*PLAN7", "N1*PE*FERNHILL*XX*1234567893",
        "REF*PQ*77", "REF*TJ*987654321", "LX*1", *paid("A1", "1", "10", "0", "CAS*CO*45*10"),
    ],
    "hardly anything": ["835", "BPR", "N1*PE*FERNHILL", "LX*1", "CLP*A1"],
    "nobody": ["835", "LX*1", *PLAIN],
}  # fmt: skip
REMITTANCES: dict[str, bytes] = {
    "all that can be said": payment(
        paid("C1", "1", "150", "60", *VISIT), _stay(), paid("C2", "1", "96", "20", *CLINIC), *OTHERS,
        plb=LEDGER, amount="802.75",
    ),
    "with other separators, and the usual ones in values": _with_usual_separators(
        payment(
            paid("C-1", "1", "150", "60", *VISIT), reference="EFT-2", plb=LEDGER, separators="|>!\n"
        )
    ),
    "a sample": (OWN / "835" / "paid_denied_and_reversed.x12").read_bytes(),
    **{name: sealed("HP", "005010X221A1", rows) for name, rows in HEADINGS.items()},
}  # fmt: skip


EMPTY = ("", None, "0.00", 0)


def filled(value: object, path: str = "") -> Iterator[str]:
    """Yield each value with its path; what is empty is left out."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from filled(one, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)):
        for at, one in enumerate(value):
            yield from filled(one, f"{path}[{at}]")
    elif value not in EMPTY:
        yield f"  {path}: {value}"


def _as_json() -> Iterator[str]:
    deposit = Deposit(
        state=DepositState.DIFFERS, expected=69_910, day=date(2026, 12, 5), amount=69_000
    )
    seen = datetime(2026, 12, 4, 8, 30, tzinfo=UTC)
    known = {"duplicate_of": "P1", "differs_from": "P2", "fetched_at": seen, "seen_at": seen}
    yield "invented"
    yield from filled(
        as_json.own_payment_object(msgspec.structs.replace(PAYMENT, deposit=deposit, **known))
    )
    for invented in CLAIM_PAYMENTS[3:]:
        yield f" claim payment {invented.number}"
        yield from filled(as_json.claim_payment_object(invented))
    for name, content in REMITTANCES.items():
        yield name
        for one in read_payments(content):
            if isinstance(one, ClaimPayment):
                yield f" claim payment {one.number}"
                yield from filled(as_json.claim_payment_object(one))
                continue
            yield " payment"
            yield from filled(as_json.own_payment_object(one.payment))
            for adjustment in one.adjustments:
                yield f" adjustment {adjustment.number}"
                yield from filled(as_json.adjustment_object(adjustment))


def _voided() -> Iterator[str]:
    for one in read_payments(REMITTANCES["all that can be said"]):
        if isinstance(one, ClaimPayment) and one.denied:
            yield f"claim payment {one.number}"
            yield from filled(as_json.claim_payment_object(as_void_answer(one)))


def _facts() -> Iterator[str]:
    for name, content in REMITTANCES.items():
        yield name
        for one in read_835.read(content):
            if isinstance(one, read_835.PaymentStart):
                yield f" start of {one.set}, from {', '.join(one.payer_ids)}"
                yield from filled(msgspec.to_builtins(one.heading))
            elif isinstance(one, read_835.ClaimPaymentLoop):
                fact = one.claim_payment
                yield f" claim payment, identity {fact.identity}"
                yield from filled(msgspec.to_builtins(msgspec.structs.replace(fact, payment=None)))
                yield f"  {explain.describe_claim_payment(fact)}"
                yield f"  {explain.describe_claim_payment(fact, is_voided=True)}"
            elif isinstance(one, PaymentSummary):
                yield f" end, balance {one.balance}"
                yield from filled(msgspec.to_builtins(msgspec.structs.replace(one, payment=None)))
                yield f"  {explain.describe_payment(one.payment)}"
                yield from (f"  {sentence}" for sentence in balance_warnings(one))


def _whole() -> Iterator[
    tuple[str, Payment, tuple[ProviderAdjustment, ...], tuple[ClaimPayment, ...]]
]:
    yield "invented", PAYMENT, ADJUSTMENTS, CLAIM_PAYMENTS
    for name, content in REMITTANCES.items():
        record, claims = read_one_payment(content)
        yield name, record.payment, record.adjustments, tuple(claims)


def _csv() -> Iterator[str]:
    for at, (name, one, adjustments, claims) in enumerate(_whole()):
        header, *rows = payment_csv(one, adjustments, claims)
        if not at:
            yield header.rstrip()
        yield name
        yield from (f"  {row.rstrip()}" for row in rows)


def _words() -> Iterator[str]:
    for name, one, adjustments, claims in _whole():
        yield f"{name}: {wording.amount_words(one)}"
        yield from (f"  {label}: {amount}" for label, amount in wording.equation(one, adjustments))
        yield from (f"  {sentence}" for sentence in wording.notices(one))
        for claim in claims:
            yield from _words_of(claim)


def _words_of(claim: ClaimPayment) -> Iterator[str]:
    yield f" {claim.number} {wording.patient_name(claim)}: {wording.claim_payment_words(claim)}"
    yield f"  {', '.join(wording.claim_payment_numbers(claim))}"
    yield from (f"  {one}" for one in wording.claim_payment_warnings(claim))
    yield from (f"  {one}" for one in wording.claim_payment_notes(claim))
    yield from (f"  {label}: {amount}" for label, amount in wording.patient_parts(claim))
    yield f"  otherwise adjusted: {wording.claim_payment_other_part(claim)}"
    for line in claim.lines:
        yield f"  {wording.procedure_words(line)}: {wording.units_words(line)}, adjusted {line.adjusted}"
        yield from (f"   {wording.adjustment_words(one)}" for one in line.adjustments)
        yield from (f"   {wording.remark_words(one)}" for one in line.remarks)


RECORDED = RecordedList(
    Path(__file__).with_suffix(".txt"),
    {
        "read whole, as JSON": _as_json,
        "void": _voided,
        "read for posting": _facts,
        "as CSV": _csv,
        "in words": _words,
    },
)

if __name__ == "__main__":
    RECORDED.write()
