"""A remittance cut between sites: each part balances and passes the check, and together they are the whole."""

import re

import pytest

from clearlane.kernel.finding import Severity
from clearlane.payments.cut_remittance import (
    PaidClaim,
    cut_remittance,
    decode_part,
    encode_part,
    plan_parts,
    shows_another_vendor,
)
from clearlane.x12.checker.check import check
from tests.claims.answers import paid, payment

OWNER, OTHER, THIRD, STRANGER = (1, 1), (1, 2), (1, 3), (2, 9)
SITES = (OWNER, OTHER, THIRD)
OFF = "CAS*CO*45*20"
PLB = "PLB*1234567893*20261231*WO:OLD*10"


def rows(content, *starts):
    return [row.strip() for row in content.decode().split("~") if row.strip().startswith(starts)]


def errors(content):
    return [one for one in check(content).findings if one.severity is Severity.ERROR]


@pytest.mark.parametrize("line_end", ["", "\r\n"])
def test_the_parts_of_a_payment_balance_and_are_the_whole_together(line_end):
    whole = payment(
        paid("A-1", "1", "100", "80", OFF), paid("B-1", "1", "100", "80", OFF), paid("OLD-7", "1", "60", "60"),
        paid("B-2", "4", "20", "0", "CAS*CO*50*20"), paid("C-1", "1", "30", "30"),
        amount="240", plb=[PLB],
    )  # fmt: skip
    whole = whole.replace(b"~", f"~{line_end}".encode())
    claims = [
        PaidClaim(1, OWNER, 8000), PaidClaim(2, OTHER, 8000), PaidClaim(3, None, 6000), PaidClaim(4, OTHER, 0),
        PaidClaim(5, THIRD, 3000),
    ]  # fmt: skip
    parts = plan_parts(OWNER, SITES, claims, 24000)
    assert [(site, part.number, part.claims, part.amount) for site, part in parts.items()] == [
        (OWNER, 1, (1, 3), 13000),
        (OTHER, 2, (2, 4), 8000),
        (THIRD, 3, (5,), 3000),
    ]
    made = {
        site: cut_remittance(whole, decode_part(encode_part(part))) for site, part in parts.items()
    }
    assert not errors(whole)
    for content in made.values():
        assert not errors(content)
        assert rows(content, "TRN") == rows(whole, "TRN")
    assert [rows(one, "BPR")[0].split("*")[2] for one in made.values()] == ["130", "80", "30"]
    assert [rows(one, "REF*EV") for one in made.values()] == [
        [f"REF*EV*PART {number} OF 3 OF 240.00"] for number in (1, 2, 3)
    ]
    assert [rows(one, "PLB") for one in made.values()] == [[PLB], [], []]
    together = [row for one in made.values() for row in rows(one, "CLP")]
    assert sorted(together) == sorted(rows(whole, "CLP"))
    assert whole.count(line_end.encode() or b"~") <= sum(
        one.count(line_end.encode() or b"~") for one in made.values()
    )


def test_a_group_that_is_cut_loses_its_sums_and_the_payers_own_words_stay():
    whole = payment(
        paid("A-1", "1", "100", "80", OFF), paid("B-1", "1", "100", "80", OFF), amount="160"
    )
    whole = whole.replace(b"LX*1~", b"LX*1~TS3*1234567893*11*20261231*2*200~")
    whole = re.sub(rb"(TRN\*[^~]*~)", rb"\1REF*EV*OURS~", whole)
    whole = re.sub(rb"SE\*(\d+)", lambda found: b"SE*%d" % (int(found[1]) + 2), whole)
    claims = [PaidClaim(1, OWNER, 8000), PaidClaim(2, OTHER, 8000)]
    parts = plan_parts(OWNER, SITES, claims, 16000)
    for part in parts.values():
        made = cut_remittance(whole, part)
        assert {one.rule for one in check(made).findings} <= {
            one.rule for one in check(whole).findings
        }
        assert rows(made, "TS3") == []
        assert rows(made, "REF*EV") == ["REF*EV*OURS"]
        assert len(rows(made, "LX")) == 1


def test_a_part_of_nothing_is_a_notification_and_names_no_account():
    whole = payment(paid("A-1", "1", "100", "80", OFF), paid("B-1", "4", "20", "0", "CAS*CO*50*20"))
    claims = [PaidClaim(1, OWNER, 8000), PaidClaim(2, OTHER, 0)]
    parts = plan_parts(OWNER, SITES, claims, 8000)
    own, part = (cut_remittance(whole, one) for one in parts.values())
    assert rows(own, "BPR") == rows(whole, "BPR")
    assert rows(part, "BPR") == ["BPR*H*0*C*NON************20261114"]
    assert rows(part, "TRN") == rows(whole, "TRN")
    assert {one.rule for one in check(part).findings} <= {one.rule for one in check(whole).findings}


def test_a_payment_with_other_claims_than_were_counted_is_not_cut():
    claims = [PaidClaim(1, OWNER, 8000), PaidClaim(2, OTHER, 8000)]
    parts = plan_parts(OWNER, SITES, claims, 16000)
    more = payment(*(paid(f"A-{at}") for at in (1, 2, 3)), amount="240")
    for part in parts.values():
        with pytest.raises(ValueError, match="3 claims, and 2 were counted"):
            cut_remittance(more, part)


WHOLE = [
    ("one site", [PaidClaim(1, OWNER, 100), PaidClaim(2, None, 100)], 200),
    ("a site that sends no files", [PaidClaim(1, OWNER, 100), PaidClaim(2, STRANGER, 100)], 200),
    ("its interest is in the PLB", [PaidClaim(1, OWNER, 1), PaidClaim(2, OTHER, 1, True)], 2),
    ("less than nothing", [PaidClaim(1, OWNER, 100), PaidClaim(2, OTHER, -50)], 50),
    ("nothing is left for the PLB", [PaidClaim(1, OWNER, 10), PaidClaim(2, OTHER, 90)], 60),
]


@pytest.mark.parametrize(
    ("claims", "amount"), [one[1:] for one in WHOLE], ids=[one[0] for one in WHOLE]
)
def test_a_payment_stays_whole(claims, amount):
    assert plan_parts(OWNER, SITES, claims, amount) == {}


ELSEWHERE = (2, 4)
"""A site of another vendor that bills as the payee."""
LEFT = [
    ("it sends no files", [PaidClaim(3, STRANGER, 100)], True),
    ("it has interest", [PaidClaim(3, ELSEWHERE, 100, True)], True),
    ("it is less than nothing", [PaidClaim(3, ELSEWHERE, -10)], True),
    ("it has a part", [PaidClaim(3, ELSEWHERE, 100)], False),
    ("it is the vendor's own", [PaidClaim(3, THIRD, 100, True)], False),
    ("it is nobody's", [PaidClaim(3, None, 100)], False),
]


@pytest.mark.parametrize(
    ("more", "is_shown"), [one[1:] for one in LEFT], ids=[one[0] for one in LEFT]
)
def test_a_claim_of_another_vendor_that_is_left_with_the_owner_is_noticed(more, is_shown):
    claims = [PaidClaim(1, OWNER, 200), PaidClaim(2, OTHER, 100), *more]
    parts = plan_parts(OWNER, (*SITES, ELSEWHERE), claims, sum(one.paid for one in claims))
    assert shows_another_vendor(OWNER, claims, parts[OWNER]) == is_shown
    assert shows_another_vendor(OWNER, claims, None) == (claims[-1].site in (STRANGER, ELSEWHERE))
