"""What a payer says of the bill of a facility: read, in words, as JSON, on the terminal and in the EOB."""

from clearlane.cli.payment.payment_output import claim_payment_lines
from clearlane.payments import wording
from clearlane.payments.as_json import claim_payment_object
from clearlane.payments.facility import AMOUNTS
from clearlane.payments.payment import FacilityAmount, FacilityDecision
from clearlane.x12.views.shared_types import AdjudicationView
from tests.claims.answers import paid, payment
from tests.payments.whole_835 import read_payments

STAY = [
    "MIA*3*784**6720*MA18*1*2*3*4*5*6*7*8*9*3*10*11*12*13*N115***MA67*14",
    "SVC*NU:0120*1000*600**3", "CAS*CO*45*400",
    "SVC*HC:80053*96*20*0300*2", "DTM*472*20260303", "CAS*CO*45*76",
]  # fmt: skip


def read(*rows: str, grouped: str = ""):
    clp, *rest = paid("C1", "1", "1096", "620", *rows)
    one, *_ = read_payments(payment([clp + grouped, *rest]))
    return one


def test_a_stay_is_read_with_days_group_and_every_amount_by_name():
    one = read(*STAY)
    facility = one.facility
    assert (facility.covered_days, facility.cost_report_days, facility.rate) == ("3", "3", "")
    assert [remark.code for remark in one.remarks] == ["MA18", "N115", "MA67"]
    named = {each.name: each.amount for each in facility.amounts}
    assert named["drg_amount"] == 6720_00
    assert named["operating_outlier"] == 784_00
    # Every amount of the segment has a name, and only amounts that the payer states are listed.
    numbers = {"covered_days", "psychiatric_days", "cost_report_days", "rate", "remarks"}
    assert AMOUNTS.keys() == set(AdjudicationView.__struct_fields__) - numbers
    assert named.keys() == AMOUNTS.keys() - {"payable", "renal_disease"}
    notes = wording.claim_payment_notes(one)
    assert notes[:2] == ("3 days covered.", "3 days counted for the cost report.")
    assert "Outlier amount, operating (MIA02): 784.00." in notes
    assert [wording.procedure_words(line) for line in one.lines] == [
        "0120 Semi-private room",
        "0300 Laboratory 80053",
    ]
    stated = claim_payment_object(one)
    assert stated["facility"]["amounts"][0] == {
        "name": "drg_amount",
        "text": "Amount of the diagnosis related group (MIA04)",
        "amount": "6720.00",
    }
    assert [line["revenue_code"] for line in stated["lines"]] == ["0120", "0300"]
    shown = "\n".join(claim_payment_lines(one))
    assert "3 days covered." in shown
    assert "0300 Laboratory 80053" in shown


def test_an_outpatient_has_a_rate_and_a_claim_without_either_has_nothing():
    visit = read("MOA*0.55*420***", "SVC*HC:99284*1096*620*0450*1", "CAS*CO*45*476")
    assert visit.facility == FacilityDecision(
        rate="0.55",
        amounts=(FacilityAmount(name="payable", text=AMOUNTS["payable"], amount=420_00),),
    )
    assert wording.claim_payment_notes(visit) == (
        "Reimbursement rate 0.55.",
        "Payable by procedure codes (MOA02): 420.00.",
    )
    plain = read("MOA***MA01", "SVC*HC:99213*1096*620**1", "CAS*CO*45*476")
    assert plain.facility is None
    assert claim_payment_object(plain)["facility"] is None


def test_the_group_is_said_with_its_weight_and_part():
    half = read("MIA*1", *STAY[1:], grouped="**194*0.96*0.5")
    assert wording.claim_payment_notes(half) == (
        "Priced by diagnosis related group 194, weight 0.96; 0.5 of it is paid.",
        "1 day covered.",
    )
    whole = read("MIA*0", *STAY[1:], grouped="**194*0.96*1")
    assert wording.claim_payment_notes(whole) == (
        "Priced by diagnosis related group 194, weight 0.96.",
    )
