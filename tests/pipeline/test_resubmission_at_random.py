"""Random sequences of submit, reject, deny, pay and resubmit: nothing lost, nothing sent twice, every claim accounted for."""

import asyncio
import re
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from tests.cases import full_or_quick
from tests.claims.answers import paid, patient, payment, status
from tests.pipeline.flowing import EVERYONE, Flow
from tests.pipeline.outbound import HOLDS_ITS_ID, numbers_in

ROWS = Statement(
    select(
        claims.c.claim_number, claims.c.site_id, HOLDS_ITS_ID, claims.c.predecessor_id,
        claims.c.successor_id, claims.c.sendings, claims.c.queued, claims.c.is_superseded,
    ),
    system=True,
)  # fmt: skip
IDS = st.sampled_from(["ONE", "TWO"])
VISITS = st.sampled_from(["2024-02-04", "2024-02-20"])
NOTES = st.sampled_from(["", "A", "B"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), IDS, NOTES, st.sampled_from(["", "7", "8"]), VISITS),
        st.tuples(st.just("twice"), IDS, NOTES, st.just(""), VISITS),
        st.tuples(st.sampled_from(["reject", "deny", "pay", "owe"]), st.integers(0, 9)),
        st.tuples(st.just("send")),
        st.tuples(st.just("wait"), st.sampled_from([1, 31])),
    ),
    min_size=4,
    max_size=12,
)


class Play:
    """One sequence, and what the vendor and the payer saw."""

    def __init__(self, flow):
        self.flow = flow
        self.answered = set()
        """Request ids of accepted claims, as the vendor was answered."""
        self.came = Counter()
        """How often the payer got each claim."""
        self.sent = {}
        """The account number that each claim came with."""
        self.files = 0
        self.days = {}
        """The day of service of each accepted claim."""
        self.asked = set()
        """Request ids of claims that were sent with a resubmission code."""
        self.due = {}
        """For each accepted claim, the payer's numbers of those paid or left to the patient when it came."""
        self.replacements = {}
        """The payer's number that each replacement or void came with."""

    async def submit(self, id, note, frequency, day):
        own = {"Svc_VendorClaimId": id, "F26_PatientAcctNumber": f"{self.flow.site.id}{id}"}
        own |= {"F19_ClaimSupplementalInfoNoteText": note} if note else {}
        own |= {"F22_MedicaidResubmissionCode": frequency} if frequency else {}
        line = {"F24A_DateOfServiceFrom": day, "F24A_DateOfServiceTo": day}
        due = {
            one.payer_control_number
            for one in (await self.flow.statuses()).values()
            if one.state == "complete" and (one.payer_cents or one.patient_cents)
        }
        [result] = await self.flow.post(**own, line=line)
        if result.accepted:
            self.answered.add(result.claim_number)
            self.days[result.claim_number] = day
            self.due.setdefault(result.claim_number, due)
            if frequency:
                self.asked.add(result.claim_number)
        return result

    async def twice(self, id, note, frequency, day):
        one, other = await asyncio.gather(
            *(self.submit(id, note, frequency, day) for _ in range(2))
        )
        assert (one.accepted, one.accepted and one.claim_number) == (
            other.accepted, other.accepted and other.claim_number,
        )  # fmt: skip

    async def send(self):
        content = await self.flow.send()
        numbers = numbers_in(content) if content else []
        self.came.update(numbers)
        found = [part.split("*")[0] for part in content.decode().split("~CLM*")[1:]]
        self.sent |= dict(zip(numbers, found, strict=True))
        for number, part in zip(numbers, content.decode().split("~CLM*")[1:], strict=True):
            if not part.split("*")[4].endswith(":1"):
                [self.replacements[number]] = re.findall(r"~REF\*F8\*([^~]+)~", part)

    async def answer(self, write, at):
        if self.sent:
            self.files += 1
            account = list(self.sent.values())[at % len(self.sent)]
            name = f"s{self.flow.site.id}-{self.files}-"
            assert set(await self.flow.arrive(write(account, self.files), name=name)) <= {
                "applied",
                "parked",
            }

    async def reject(self, at):
        await self.answer(
            lambda account, _: status(patient(account, "A7:500:85*20261102*U*100")), at
        )

    async def deny(self, at):
        await self.answer(
            lambda account, n: payment(
                paid(account, "4", "100", "0", "CAS*CO*50*100", payer_number=f"P{account}"),
                amount="0",
                reference=f"N{self.flow.site.id}-{n}",
            ),
            at,
        )  # fmt: skip

    async def pay(self, at):
        await self.answer(
            lambda account, n: payment(
                paid(account, "1", "100", "80", "CAS*CO*45*20", payer_number=f"P{account}"),
                reference=f"E{self.flow.site.id}-{n}",
            ),
            at,
        )

    async def owe(self, at):
        await self.answer(
            lambda account, n: payment(
                paid(
                    account, "1", "100", "0", "CAS*PR*1*100", share="100",
                    payer_number=f"P{account}",
                ),
                amount="0", reference=f"O{self.flow.site.id}-{n}",
            ),
            at,
        )  # fmt: skip

    async def wait(self, days):
        self.flow.clock.advance(timedelta(days=days))

    async def check(self):
        await self.send()
        async with self.flow.database.read(EVERYONE) as tx:
            rows = [row for row in await tx.rows(ROWS) if row[1] == self.flow.site.id]
        listed = await self.flow.statuses()
        rows = {row[0]: row for row in rows if row[0] in listed}
        # Nothing lost: every claim the vendor was answered about is stored, listed and sent, and no other.
        assert self.answered == set(rows) == set(listed) == set(self.came)
        # Nothing sent twice.
        assert set(self.came.values()) <= {1}
        assert {row[5:7] for row in rows.values()} <= {(1, 0)}
        # Every claim is live, or has the one successor that took over from it. One of the live ones holds the id.
        for id, _, is_current, before, after, *_, is_superseded in rows.values():
            # A decided claim is live again once its successor was rejected.
            is_live_again = after is not None and (listed[id].state, listed[after].state) == (
                "complete",
                "rejected",
            )
            assert is_superseded if after and not is_live_again else after or not is_superseded
            assert not (is_current and is_superseded)
            assert after is None or rows[after][3] == id
            assert before is None or rows[before][4] == id
            # Nothing but a claim with a day in common is replaced unasked.
            is_asked = id in self.asked or before is None
            assert is_asked or id not in self.replacements or self.days[before] == self.days[id]
        # Nothing that was paid or left to the patient is replaced or voided unless that was asked for.
        assert all(
            id in self.asked or number not in self.due[id]
            for id, number in self.replacements.items()
        )
        current = Counter(listed[id].vendor_claim_id for id, row in rows.items() if row[2])
        assert set(current) == {one.vendor_claim_id for one in listed.values()}
        assert set(current.values()) <= {1}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_is_lost_and_nothing_is_sent_twice(kind, new_place, clock):
    with asyncio.Runner() as runner:
        place = runner.run(new_place(kind))
        database = runner.run(place.open(clock))
        flow = runner.run(Flow.open(place, database, clock))

        @settings(
            max_examples=full_or_quick(15, 5),
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(steps=STEPS)
        def sequences(steps):
            async def play():
                flow.site = await flow.new_site()
                made = Play(flow)
                for name, *values in steps:
                    await getattr(made, name)(*values)
                await made.check()

            runner.run(play())

        try:
            sequences()
        finally:
            runner.run(database.close())
