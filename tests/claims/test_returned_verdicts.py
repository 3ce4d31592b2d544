"""What a payer says of a claim, reported to the sender of its file: codes of a 277CA as they are, a 999 as statuses.

Also tests `claims/responses/write_277`.
"""

from datetime import date, datetime

import pytest
from msgspec.structs import replace

from clearlane.claims.responses.facts import (
    ClaimKey,
    ClaimStatusCode,
    Complaint,
    Fact,
    FactKind,
)
from clearlane.claims.responses.returned_verdicts import returned_statuses, returned_verdict
from clearlane.claims.responses.sender_set import sender_set_of
from clearlane.claims.responses.write_277 import StatusResponse277
from clearlane.claims.responses.write_277ca import AckSource
from clearlane.x12.checker.check import check
from tests.claims.test_write_277ca import NOW, VISIT, acknowledge, rows, units

AT = datetime(2026, 11, 17, 9, 0)
PAYER = AckSource("Meadow Mutual", "MDW10", "PR", "PI")


def status(*codes: tuple[str, str, str], number: str = "", complaints=()) -> Fact:
    return Fact(
        kind=FactKind.STATUS,
        at=AT,
        day=date(2026, 11, 17),
        source="277CA",
        claim=ClaimKey(payer_control_number=number),
        codes=tuple(ClaimStatusCode(category=a, status=b, entity=c) for a, b, c in codes),
        complaints=tuple(complaints),
    )


def refused(*complaints: Complaint, kind: FactKind = FactKind.CLAIM_REFUSED) -> Fact:
    return Fact(kind=kind, at=AT, source="999", complaints=complaints)


def first_claim():
    return next(claim for _, claim in units(VISIT))


def test_an_accepted_claim_comes_back_with_the_payers_number():
    verdict = returned_verdict([status(("A2", "20", "PR"), number="PCN-1")], first_claim())
    assert verdict.accepts
    [made] = acknowledge(VISIT, verdict)
    assert check(made).findings == ()
    assert rows(made, "REF*1K")[0] == "REF*1K*PCN-1"
    assert rows(made, "STC*A2")[0] == f"STC*A2:20:PR*20261117*WQ*{first_claim().charge}"


def test_a_clearinghouse_on_the_way_received_a_claim_and_never_accepts_it_for_the_payer():
    passed_on = status(("A2", "20", "PR"), ("A1", "19", "PR"), ("A0", "16", "PR"))
    verdict = returned_verdict([replace(passed_on, by_clearinghouse=True)], first_claim())
    codes = [one.codes for one in verdict.statuses]
    assert codes == [(("A1", "19", "AY"),), (("A0", "16", "PR"),)]
    assert check(acknowledge(VISIT, verdict)[0]).findings == ()


def test_a_rejected_claim_comes_back_with_codes_and_words_at_its_line():
    claim = first_claim()
    at_line = Complaint(
        source="277CA", level="line", code="454", category="A7", control=claim.lines[0].control,
        line=1, text="Unknown code",
    )  # fmt: skip
    own = Complaint(
        source="277CA", level="claim", code="164", category="A7", entity="IL", text="no such member"
    )
    verdict = returned_verdict(
        [status(("A7", "164", "IL"), ("A7", "21", "ZZ"), complaints=(own, at_line))], claim
    )
    assert not verdict.accepts
    assert [one.codes[0] for one in verdict.statuses] == [("A7", "164", "IL"), ("A7", "21", "")]
    assert verdict.statuses[0].text == "no such member"
    assert verdict.lines[0][0].codes == (("A7", "454", ""),)
    [made] = acknowledge(VISIT, verdict)
    assert check(made).findings == ()


def test_a_line_alone_refuses_its_claim():
    line = Complaint(source="277CA", level="line", code="454", category="A7", line=1)
    verdict = returned_verdict([status(("A1", "19", "PR"), complaints=(line,))], first_claim())
    assert [one.codes[0] for one in verdict.statuses] == [("A7", "247", "")]
    assert not verdict.accepts


@pytest.mark.parametrize(
    ("complaint", "codes"),
    [
        (("element", "1", "2010AA", "NM1", 9), (("A6", "562", "85"),)),
        (("element", "7", "2300", "CLM", 2), (("A7", "178", ""),)),
        (("segment", "3", "2010BA", "N3", 1), (("A6", "503", "IL"),)),
        (("segment", "3", "2010BA", "PER", 1), (("A6", "21", ""), ("A6", "481", ""))),
        (("set", "4", "", "", 0), (("A3", "21", ""), ("A3", "481", ""))),
    ],
)
def test_what_a_999_refuses_is_the_status_of_its_place(complaint, codes):
    level, code, loop, segment, element = complaint
    one = Complaint(
        source="999", level=level, code=code, loop=loop, segment=segment, element=element
    )
    verdict = returned_verdict([refused(one)], first_claim())
    assert [status.codes for status in verdict.statuses] == [codes]
    assert check(acknowledge(VISIT, verdict)[0]).findings == ()


def test_a_set_that_is_refused_without_a_word_is_reported_and_one_that_is_accepted_is_not():
    claim = first_claim()
    verdict = returned_verdict([refused(kind=FactKind.SET_REFUSED)], claim)
    assert verdict.statuses[0].codes[0] == ("A3", "21", "")
    for kind in (FactKind.ACCEPTED_999, FactKind.SEND_AGAIN, FactKind.SENT):
        assert returned_verdict([refused(kind=kind)], claim) is None


def test_a_pending_claim_comes_back_in_a_277():
    facts = [status(("P2", "46", ""), number="PCN-2"), status(("A1", "19", "PR"))]
    statuses, number = returned_statuses(facts)
    assert [one.codes for one in statuses] == [(("P2", "46", ""),)]
    sender = sender_set_of(next(units(VISIT))[0].set)
    response = StatusResponse277(PAYER, sender, control=18, moment=NOW)
    for _, claim in units(VISIT):
        response.add(claim, statuses, number)
    made = response.write()
    assert response.claims == 2
    assert check(made).findings == ()
    assert rows(made, "NM1*PR", "TRN*2", "REF*EJ", "STC")[:4] == [
        "NM1*PR*2*MEADOW MUTUAL*****PI*MDW10",
        "TRN*2*FB-1001",
        "STC*P2:46*20261117**205.5",
        "REF*EJ*FB-1001",
    ]
    with pytest.raises(ValueError, match="at least one claim"):
        StatusResponse277(PAYER, sender, control=18, moment=NOW).write()
