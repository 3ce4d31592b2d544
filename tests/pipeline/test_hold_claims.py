"""Verbs on one claim at the same time, through the store on both databases: one wins, and the others learn it.

Also tests `pipeline/intake/correction_guard` and `store/claims/unsent_claims`.
"""

import asyncio
import random

import pytest

from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.hold_claims import CANCEL, HOLD, RELEASE, change_unsent_claim
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.query.history.load_history import load_claim_history
from tests.cases import full_or_quick
from tests.pipeline.flowing import ACTOR, Flow, accounts

ROUNDS = full_or_quick(40, 12)
NOTE = "F19_ClaimSupplementalInfoNoteText"


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def unsent(flow, verb, number):
    """Why a verb was refused; empty if it was done."""
    done = await change_unsent_claim(
        flow.context, flow.site, number, verb, actor=ACTOR, now=flow.clock.now()
    )
    return done.refusal


async def correct(flow, number, note):
    """The number of the correction, and why it was refused."""
    try:
        done = await submit_correction(
            flow.context, flow.site, number, {NOTE: note}, actor=ACTOR, now=flow.clock.now()
        )
    except CorrectionConflict as conflict:
        return "", str(conflict)
    return done.claim_number, ""


async def links(flow, number):
    history = await load_claim_history(flow.database, flow.vault, number, actor=ACTOR)
    return history.status.state, history.successor


@pytest.mark.safe_default(12)
async def test_of_cancel_correct_hold_and_release_at_once_one_wins_and_the_others_learn_it(flow):
    for number in range(ROUNDS):
        [claim] = await flow.submit()
        if number % 3 == 0:
            assert await unsent(flow, HOLD, claim) == ""
        calls = {
            "cancel": [unsent(flow, CANCEL, claim) for _ in range(2)],
            "correct": [correct(flow, claim, f"NOTE {at}") for at in range(2)],
            "others": [unsent(flow, verb, claim) for verb in (HOLD, RELEASE)],
        }
        order = [(kind, one) for kind, several in calls.items() for one in several]
        random.Random(number).shuffle(order)
        answers = await asyncio.gather(*(one for _, one in order))
        found = {kind: [] for kind in calls}
        for (kind, _), answer in zip(order, answers, strict=True):
            found[kind].append(answer)
        stored = [new for new, _ in found["correct"] if new]
        state, successor = await links(flow, claim)
        assert state == "canceled"
        if stored:
            [winner] = stored
            assert successor == winner
            lost = [*found["cancel"], *(why for new, why in found["correct"] if not new)]
            assert all(winner in why for why in lost), found
            assert all(not why or winner in why for why in found["others"]), found
        else:
            assert successor == ""
            assert found["cancel"] == ["", ""]
            reasons = [why for _, why in found["correct"]]
            assert all("canceled" in why or " now" in why for why in reasons), found
            assert all(not why or "canceled" in why for why in found["others"]), found
        sent = await flow.send()
        assert (accounts(sent) if sent else []) == stored


@pytest.mark.safe_default(12)
async def test_what_was_canceled_or_corrected_stays_so_and_says_by_what(flow):
    [claim] = await flow.submit()
    new, _ = await correct(flow, claim, "FIRST")
    for verb in (CANCEL, HOLD, RELEASE):
        refusal = await unsent(flow, verb, claim)
        assert f"The claim {new} has taken over, and it is received." in refusal
    assert new in (await correct(flow, claim, "SECOND"))[1]
    assert await unsent(flow, CANCEL, new) == ""
    assert await unsent(flow, CANCEL, new) == ""
    assert "was canceled" in (await correct(flow, new, "THIRD"))[1]
    assert await flow.send() == b""
