"""Numbers of a payer's statement, and the one claim that they mean; or why there is none.

Also tests `store/claims/claim_lookup`.
"""

from dataclasses import dataclass

import pytest

from clearlane.payments.match import AMBIGUOUS, CONTRADICTORY, UNKNOWN
from clearlane.pipeline.inbound.match_claims import match_claims
from tests.claims.answers import patient, status
from tests.databases import START
from tests.manual_clock import ManualClock
from tests.pipeline.flowing import EVERYONE, OTHER_PAYER, PAYER, Flow


@dataclass(frozen=True)
class Reference:
    """How a statement names a claim."""

    account_number: str = ""
    claim_number: str = ""
    line_controls: tuple[str, ...] = ()
    payer_control_number: str = ""


# Claims by name: payer, account number, line control number, and what became of it.
CLAIMS = {
    "plain": (PAYER, "ACC1", None, "sent"),
    "lines": (PAYER, "ACC2", "LINE2", "sent"),
    "shared one": (PAYER, "ACC3", "LINE3", "sent"),
    "shared two": (PAYER, "ACC4", "LINE3", "sent"),
    "elsewhere": (OTHER_PAYER, "ACC5", "LINE5", "sent"),
    "refused": (PAYER, "ACC6", None, "refused"),
    "reused before": (PAYER, "ACC7", None, "refused"),
    "reused now": (PAYER, "ACC7", None, "sent"),
    "numbered": (PAYER, "ACCOUNT-OF-TWENTY-9", None, "numbered"),
    "waiting": (PAYER, "ACC8", "LINE8", "waiting"),
}

# What the payer writes, where {name} is our number of a claim, and what is found.
CASES = {
    "our number": (Reference(claim_number="{plain}"), "plain"),
    "our number as the account": (Reference(account_number="{plain}"), "plain"),
    "the account": (Reference(account_number="ACC1"), "plain"),
    "both": (Reference(account_number="ACC1", claim_number="{plain}"), "plain"),
    "a line that we numbered": (Reference(line_controls=("{plain}-1",)), "plain"),
    "a line that the vendor numbered": (Reference(line_controls=("LINE2",)), "lines"),
    "one known line of several": (
        Reference(account_number="ACC2", line_controls=("X", "LINE2")),
        "lines",
    ),
    "a line of two claims": (Reference(line_controls=("LINE3",)), AMBIGUOUS),
    "that line and the account": (
        Reference(account_number="ACC4", line_controls=("LINE3",)),
        "shared two",
    ),
    "account and number of two claims": (
        Reference(account_number="ACC2", claim_number="{plain}"),
        CONTRADICTORY,
    ),
    "account and line of two claims": (
        Reference(account_number="ACC1", line_controls=("{lines}-1",)),
        CONTRADICTORY,
    ),
    "nothing": (Reference(), UNKNOWN),
    "an unknown account": (Reference(account_number="NOBODY"), UNKNOWN),
    "an unknown number": (Reference(claim_number="C000000000000000000"), UNKNOWN),
    "an unknown line": (Reference(line_controls=("NOWHERE", "C000000000000000000-1")), UNKNOWN),
    "another payer's account": (Reference(account_number="ACC5"), UNKNOWN),
    "another payer's number": (Reference(claim_number="{elsewhere}"), UNKNOWN),
    "another payer's line": (Reference(line_controls=("LINE5",)), UNKNOWN),
    "a claim that was not sent": (Reference(account_number="ACC8"), UNKNOWN),
    "its number": (Reference(claim_number="{waiting}"), UNKNOWN),
    "its line": (Reference(line_controls=("LINE8",)), UNKNOWN),
    "a refused claim": (Reference(account_number="ACC6"), "refused"),
    "an account used again": (Reference(account_number="ACC7"), "reused now"),
    "the refused one by its number": (Reference(claim_number="{reused before}"), "reused before"),
    "the refused one by number and account": (
        Reference(account_number="ACC7", claim_number="{reused before}"),
        "reused before",
    ),
    "the payer's number alone": (Reference(payer_control_number="PAYER9"), "numbered"),
    "the payer's number and the account as the payer cuts it": (
        Reference(account_number="ACCOUNT-OF-TWENTY", payer_control_number="PAYER9"),
        "numbered",
    ),
    "a cut account alone": (Reference(account_number="ACCOUNT-OF-TWENTY"), UNKNOWN),
    "the payer's number and an account of nobody": (
        Reference(account_number="NOBODY", payer_control_number="PAYER9"),
        UNKNOWN,
    ),
    "the payer's number and a cut account of nobody": (
        Reference(account_number="ACCOUNT-OF-NOBODY", payer_control_number="PAYER9"),
        UNKNOWN,
    ),
    "the payer's number and another claim's number": (
        Reference(claim_number="C000000000000000000", payer_control_number="PAYER9"),
        UNKNOWN,
    ),
    "the payer's number and another claim's account": (
        Reference(account_number="ACC1", payer_control_number="PAYER9"),
        "plain",
    ),
    "an unknown number of the payer": (Reference(payer_control_number="PAYER0"), UNKNOWN),
}


@pytest.fixture(scope="module")
async def known(new_place):
    """The claims, sent as their row says: a flow and their numbers by name."""
    clock = ManualClock(START)
    place = await new_place("sqlite")
    database = await place.open(clock)
    flow = await Flow.open(place, database, clock)
    numbers = {}
    for name, (payer, account, line, fate) in CLAIMS.items():
        lines = {"X12_ProviderControlNumber": line} if line else None
        [numbers[name]] = await flow.submit(payer=payer, line=lines, F26_PatientAcctNumber=account)
        if fate == "waiting":
            continue
        await flow.send(payer)
        if fate == "numbered":
            accepted = patient(account, "A2:20*20261102*WQ*100", extra=["REF*1K*PAYER9"])
            assert await flow.arrive(status(accepted)) == ["applied"]
        if fate == "refused":
            assert await flow.arrive(status(patient(account, "A3:21*20261102*U*100"))) == [
                "applied"
            ]
    yield flow, numbers
    await database.close()


def filled(reference, numbers):
    return Reference(
        reference.account_number.format_map(numbers),
        reference.claim_number.format_map(numbers),
        tuple(control.format_map(numbers) for control in reference.line_controls),
        reference.payer_control_number,
    )


async def found(flow, numbers, references, payer=PAYER):
    async with flow.database.read(EVERYONE) as tx:
        rows = await match_claims(
            tx, flow.vault, payer, [filled(one, numbers) for one in references]
        )
    names = {number: name for name, number in numbers.items()}
    return [names[one.claim_number] if hasattr(one, "claim_number") else one for one in rows]


@pytest.mark.parametrize("case", CASES)
async def test_a_reference_means_one_claim_or_none(known, case):
    reference, expected = CASES[case]
    assert await found(*known, [reference]) == [expected]


async def test_a_page_of_references_is_answered_as_each_of_them_alone(known):
    references = [reference for reference, _ in CASES.values()]
    assert await found(*known, references) == [expected for _, expected in CASES.values()]
    assert await found(*known, []) == []


async def test_the_same_numbers_mean_the_other_payers_claim_there(known):
    references = [Reference(account_number="ACC5"), Reference(account_number="ACC1")]
    assert await found(*known, references, OTHER_PAYER) == ["elsewhere", UNKNOWN]
