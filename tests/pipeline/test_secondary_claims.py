"""Secondary claims from the first payer's 835 to the last one's, in a sandbox without a server.

Also tests `pipeline/secondary/next_claim`, `pipeline/secondary/make_drafts`, `pipeline/secondary/bill_next_payer`,
`pipeline/secondary/correct_next_claim`, `pipeline/secondary/payer_chain`, `pipeline/secondary/draft_work`, `pipeline/secondary/send_by_itself` and
`store/payments/secondary_drafts`.
"""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace as dataclass_replace
from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import bindparam, select, update
from structlog.testing import capture_logs

from clearlane.accounts.model import Site
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.claims.write.next_payer import NextInsurance
from clearlane.payments.payment import MatchedBy
from clearlane.pipeline.intake import submit
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.claim_list import find_claims
from clearlane.pipeline.sandbox import sandbox_control
from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
from clearlane.pipeline.secondary import bill_next_payer as billing
from clearlane.pipeline.secondary import make_drafts
from clearlane.pipeline.secondary.bill_next_payer import bill_next_payer, settle_correction
from clearlane.pipeline.secondary.correct_next_claim import correct_next_claim
from clearlane.pipeline.secondary.draft_work import work_on_drafts
from clearlane.pipeline.secondary.make_drafts import make_due_drafts
from clearlane.pipeline.secondary.next_claim import REPLACED, load_next_claim
from clearlane.pipeline.secondary.payer_chain import load_payer_chain
from clearlane.pipeline.secondary.send_by_itself import why_not_by_itself
from clearlane.settings import load
from clearlane.store.accounts import accounts
from clearlane.store.claims.claim_query import ClaimListRow, ClaimQuery, list_claims
from clearlane.store.database import schema
from clearlane.store.database.database import Actor
from clearlane.store.database.group_commit import DatabaseUnavailable
from clearlane.store.database.sql import Statement, among, scoped_select
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import DraftState
from clearlane.wiring import open_installation
from tests.databases import make_site

VENDOR = Actor("vendor", "LARK")
NOTHING = NextInsurance()
EVENTS = scoped_select(
    select(schema.events.c.type, schema.events.c.data)
    .where(schema.events.c.claims.contains(bindparam("number")))
    .order_by(schema.events.c.last_id),
    schema.events,
)
PLAIN = {
    "Svc_PayerId": "TST01", "F01A_InsuredId": "3002",
    "F33_BillingProviderZip": "787011234", "F33A_BillingProviderNpi": "1234567893",
}  # fmt: skip
OTHER = PLAIN | {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "GRP300",
    "F09_PatientRelationshipToInsured": "Child", "F11D_OtherPlan": True,
}  # fmt: skip
DECIDED = {
    "F29_PayerAmountPaid": "10", "X12_ClaimPrimaryPayerPaidAmount": "10", "X12_ClaimAdjudicationDate": "2026-01-05",
    "X12_ClaimContractualObligationAdjustments": "45:20", "X12_ClaimPatientResponsibilityAdjustments": "1:70",
}  # fmt: skip
ADDED = NextInsurance(
    payer_id="HHP20", member_id="3001", relationship="18", last_name="Quill", first_name="Tessa"
)


class Site835:
    """A site of a sandbox whose claims are paid by advancing its clock."""

    def __init__(self, installation):
        runtime = installation.sandbox_runtime
        self.context = installation.work_context
        self.clock = runtime.simulator.clock
        self.control = SandboxControl(self.context, runtime.simulator, runtime.stored_clock)
        self.installation = installation
        self.site: Site = installation.accounts.sites[0]

    async def submit(self, *claims):
        """Submit claims: what differs from a small claim of the sample."""
        day = self.clock.now().date() - timedelta(days=40)
        document = samples.document(V3_MEDICAL, day=day, full=False)
        (sample,) = document["Claims"]
        document["Claims"] = [
            sample | {"Svc_VendorClaimId": f"V{at}"} | own for at, own in enumerate(claims, 1)
        ]
        done = await submit.submit(
            self.context, json.dumps(document, default=str).encode(), V3_MEDICAL,
            site=self.site, actor=VENDOR, now=self.clock.now(),
        )  # fmt: skip
        assert [one.accepted for one in done.results] == [True] * len(claims), done.results
        return [one.claim_number for one in done.results]

    async def bill_by_itself(self):
        """Let the site's secondary claims be sent by themselves."""
        await accounts.set_site_switch(
            self.context.database, self.site.vendor_site_id, accounts.SiteSwitch.BILL_NEXT_PAYER,
            on=True, now=self.clock.now(), actor=VENDOR,
        )  # fmt: skip
        await self.installation.refresh()
        self.site = self.installation.accounts.sites[0]

    async def days(self, number):
        await self.control.advance(timedelta(days=number), VENDOR)

    async def load(self, number):
        return await load_next_claim(
            self.context, self.site, number, actor=VENDOR, now=self.clock.now()
        )

    async def bill(self, number, answers=NOTHING, **more):
        return await bill_next_payer(
            self.context, self.site, number, answers, actor=VENDOR, now=self.clock.now(), **more
        )

    async def note_due(self, *numbers):
        owned = [(self.site.vendor_id, self.site.id, number) for number in numbers]
        await self.context.database.write(
            secondary_drafts.SCOPE, lambda tx: secondary_drafts.note_due(tx, owned, 0), actor=VENDOR
        )

    async def settle(self, number):
        return await settle_correction(
            self.context, self.site, number, actor=VENDOR, now=self.clock.now()
        )

    async def correct(self, number, **more):
        return await correct_next_claim(
            self.context, self.site, number, actor=VENDOR, now=self.clock.now(), **more
        )

    async def events(self, number, *types):
        """Return the events of a claim of these types, with the payer or step of each."""
        async with self.context.database.read(self.site.scope) as tx:
            found = await tx.rows(EVENTS, number=number)
        return [
            (type, json.loads(data).get("payer_id") or json.loads(data).get("step"))
            for type, data in found
            if type in types
        ]

    async def put_on(self, *numbers):
        """Let drafts that could not be made be tried at once."""
        soon = Statement(
            update(schema.secondary_drafts)
            .where(among(schema.secondary_drafts.c.claim_number, "numbers"))
            .values(next_at=0),
            system=True,
        )
        await self.context.database.write(
            secondary_drafts.SCOPE, lambda tx: tx.run(soon, numbers=list(numbers)), actor=VENDOR
        )

    async def awaiting(self, tab="next_payer"):
        """Return the claims of a worklist, with what they await."""
        wanted = ClaimListRequest(given={"tab": tab}, limit=99)
        found = await find_claims(self.context, [self.site.scope], wanted, ClaimListRow)
        return {row.claim_number: row.awaiting for _, row in found}

    async def draft(self, number):
        async with self.context.database.read(self.site.scope) as tx:
            return await secondary_drafts.find_draft(tx, number)


@asynccontextmanager
async def opened(**settings):
    settings = load(environ={}, overrides={"mode": "sandbox", **settings})
    async with open_installation(settings, role="command") as installation:
        await make_site(installation.database)
        await installation.refresh()
        made = Site835(installation)
        await installation.sandbox_runtime.simulator.freeze(VENDOR)
        yield made


@pytest.fixture
async def site(tmp_path):
    async with opened(data=tmp_path) as made:
        yield made


@pytest.fixture
async def site_of_place(place):
    async with opened(data=place.data, database_url=place.url) as made:
        yield made


async def test_a_claim_is_billed_to_its_second_payer_after_the_first_has_paid(site):
    second = "HHP20"
    name = site.context.payer_access.payers().find(second, "Medical").name
    named = OTHER | {"X12_OtherPayerName": name}
    owes, plain, back, crossed, _full, later, mended = await site.submit(
        named,
        PLAIN | {"F26_PatientAcctNumber": "P2"},
        named | {"F01A_InsuredId": "3008", "X12_OtherInsuredId": "3001"},
        named | {"F01A_InsuredId": "3011"},
        named | {"F01A_InsuredId": "3001"},
        named | DECIDED | {"F26_PatientAcctNumber": "P6"},
        named | {"F01A_InsuredId": "3008", "X12_OtherInsuredId": "3001", "F26_PatientAcctNumber": "P7"},
    )  # fmt: skip
    assert (await site.load(owes)).questions[0].field == "claim_payment"
    await site.days(20)
    # A draft is a row, with what must be asked for; a claim without another insurance has none.
    assert await site.draft(plain) is None
    draft = await site.draft(owes)
    assert (draft.state, draft.payer_id, draft.due) == ("open", second, 0)
    assert (await site.draft(crossed)).state == "forwarded"
    assert (await site.draft(back)).state == "ready"
    # What leaves something to the patient is the worklist; the forwarded claim awaits the next payer.
    assert await site.awaiting() == {owes: "secondary_claim"}
    assert (await site.awaiting("all"))[crossed] == "crossover"
    found = await site.load(owes)
    assert [one.field for one in found.questions] == ["member_id"]
    assert found.paid.patient == draft.patient_cents > 0
    # A payer that has decided already is not the next one, though the claim names it.
    decided = await site.load(later)
    assert (decided.insurance.payer_id, decided.questions[0].field) == ("", "payer_id")
    # What is answered is kept; a dry run stores nothing.
    refused = await site.bill(owes)
    assert [(one.location, refused.accepted) for one in refused.findings] == [("member_id", False)]
    shown = await site.bill(owes, NextInsurance(member_id="3001"), dry_run=True)
    assert shown.accepted, shown.findings
    assert b"AMT*D*" in shown.x12
    assert not shown.claim_number
    assert (await site.draft(owes)).state == "open"
    with pytest.raises(CorrectionConflict, match="forwarded the claim to HARBOR"):
        await site.bill(crossed)
    sent = await site.bill(owes, NextInsurance(member_id="3001"))
    assert sent.accepted
    assert sent.claim_number
    with pytest.raises(CorrectionConflict, match="billed already"):
        await site.bill(owes, NextInsurance(member_id="3001"))
    # A person may add an insurance to a claim that names none.
    tertiary = await site.bill(plain, ADDED)
    assert tertiary.accepted
    resent, first = await site.bill(back), await site.bill(mended)
    assert resent.accepted
    await site.days(20)
    # The second payer pays the rest, and the chain adds up to the charge.
    chain = await load_payer_chain(site.context, site.site, sent.claim_number)
    assert [one.claim_number for one in chain.links] == [owes, sent.claim_number]
    one, two = chain.links
    assert (two.paid_cents, two.patient_cents, chain.patient_balance) == (one.patient_cents, 0, 0)
    written_off = found.paid.contractual
    assert one.paid_cents + two.paid_cents + written_off == one.total_cents
    # The first payer took its payment back and paid less: what was sent to the second is flagged, until a person says
    # that it is corrected or refunded.
    assert (await site.draft(back)).state == "to_correct"
    assert (await site.load(back)).state is DraftState.TO_CORRECT
    assert await site.awaiting() == dict.fromkeys((back, mended), "secondary_claim")
    assert await site.events(back, "claim.secondary_to_correct") == [
        ("claim.secondary_to_correct", "HHP20")
    ]
    assert await site.events(owes, "claim.secondary_ready") == [("claim.secondary_ready", "HHP20")]
    settled = await site.settle(back)
    assert settled.state is DraftState.SENT
    assert (await site.load(back)).state is DraftState.SENT
    with pytest.raises(CorrectionConflict, match="Nothing is to be corrected"):
        await site.settle(back)
    # Or it is sent again with the decision in force: the next payer has it, so that it is a replacement.
    shown = await site.correct(mended, dry_run=True)
    assert (shown.accepted, shown.sent_as, shown.claim_number) == (True, "replacement", "")
    now_paid = (await site.load(mended)).paid.paid
    assert f"AMT*D*{now_paid // 100}".encode() in shown.x12
    assert now_paid < first.next_claim.paid.paid
    assert (await site.load(mended)).state is DraftState.TO_CORRECT
    with pytest.raises(CorrectionConflict, match="changed in the meantime"):
        await site.correct(mended, version=shown.next_claim.version - 1)
    corrected = await site.correct(mended, version=shown.next_claim.version)
    assert corrected.accepted
    found = await site.load(mended)
    assert (found.state, found.secondary_claim) == (DraftState.SENT, corrected.claim_number)
    assert await site.awaiting() == {}
    with pytest.raises(CorrectionConflict, match="Nothing is to be corrected"):
        await site.correct(mended)
    await site.days(20)
    for number in (mended, corrected.claim_number):
        chain = await load_payer_chain(site.context, site.site, number)
        assert [one.claim_number for one in chain.links] == [mended, corrected.claim_number]
        one, two = chain.links
        assert (two.paid_cents, chain.patient_balance) == (one.patient_cents, 0)
    before = (await load_payer_chain(site.context, site.site, first.claim_number)).links[-1]
    assert (before.claim_number, before.label) == (first.claim_number, "replaced")


async def test_a_claim_that_replaces_one_billed_onward_corrects_what_the_next_payer_has(
    site_of_place,
):
    site = site_of_place
    name = site.context.payer_access.payers().find("HHP20", "Medical").name
    (first,) = await site.submit(OTHER | {"X12_OtherPayerName": name})
    await site.days(20)
    sent = await site.bill(first, NextInsurance(member_id="3001"))
    assert sent.accepted
    await site.days(20)
    # The claim is replaced after its next payer has been billed, and its payer decides anew.
    replaced = await submit_correction(
        site.context, site.site, first, {"F26_PatientAcctNumber": "P1B"}, actor=VENDOR,
        now=site.clock.now(), way="replacement",
    )  # fmt: skip
    assert replaced.accepted, replaced.findings
    second = replaced.claim_number
    with pytest.raises(CorrectionConflict, match="billed already"):
        await site.bill(second)
    await site.days(20)
    draft, before = await site.draft(second), await site.draft(first)
    assert (draft.state, draft.secondary_claim) == ("to_correct", sent.claim_number)
    assert (before.state, before.secondary_claim) == ("withdrawn", None)
    assert await site.awaiting() == {second: "secondary_claim"}
    seen = await site.events(second, "claim.secondary_to_correct", "claim.secondary_ready")
    assert seen == [("claim.secondary_to_correct", "HHP20")]
    # The claim before was taken back, and names the one in its place instead of a decision that is to come.
    assert [one.sentence for one in (await site.load(first)).questions] == [
        REPLACED.format(number=second)
    ]
    # What a person answered for the claim before is not asked for again; and no second claim goes out.
    found = await site.load(second)
    assert (found.questions, found.secondary_claim) == ((), sent.claim_number)
    with pytest.raises(CorrectionConflict, match="billed already"):
        await site.bill(second)
    corrected = await site.correct(second)
    assert (corrected.accepted, corrected.sent_as) == (True, "replacement")
    assert await site.awaiting() == {}
    await site.days(20)
    for number in (second, corrected.claim_number):
        chain = await load_payer_chain(site.context, site.site, number)
        assert [one.claim_number for one in chain.links] == [second, corrected.claim_number]
        assert chain.patient_balance == 0
    chain = await load_payer_chain(site.context, site.site, sent.claim_number)
    assert [one.claim_number for one in chain.links] == [second, sent.claim_number]


async def test_of_two_who_bill_the_next_payer_at_once_one_is_refused(place, monkeypatch):
    async with opened(data=place.data, database_url=place.url) as site:
        both, asked, late = await site.submit(
            PLAIN, *(PLAIN | {"F26_PatientAcctNumber": number} for number in ("P2", "P3"))
        )
        await site.days(20)

        # One is sent after the other has loaded the draft, and before the other is checked.
        async def send_after_loading(*given, **more):
            found = await load_next_claim(*given, **more)
            monkeypatch.undo()
            sent_first.append((await site.bill(late, ADDED)).claim_number)
            return found

        sent_first = []
        monkeypatch.setattr(billing, "load_next_claim", send_after_loading)
        with pytest.raises(CorrectionConflict) as conflict:
            await site.bill(late, ADDED)
        assert str(conflict.value) == billing.SENT_ALREADY.format(number=sent_first[0])
        have_loaded = asyncio.Barrier(2)

        async def load_together(*given, **more):
            found = await load_next_claim(*given, **more)
            await have_loaded.wait()
            return found

        monkeypatch.setattr(billing, "load_next_claim", load_together)

        async def together(number, *answers):
            ended = await asyncio.gather(
                *(site.bill(number, one) for one in answers), return_exceptions=True
            )
            refused, done = sorted(ended, key=lambda one: isinstance(one, billing.BillingResult))
            assert isinstance(refused, CorrectionConflict), refused
            return done, str(refused)

        sent, why = await together(both, ADDED, ADDED)
        assert sent.accepted
        assert why == f"The next payer was billed already: claim {sent.claim_number}."
        draft = await site.draft(both)
        assert (draft.state, draft.secondary_claim) == ("sent", sent.claim_number)
        async with site.context.database.read(site.site.scope) as tx:
            claims = await list_claims(tx, ClaimQuery(where={}, limit=9), ClaimListRow)
        assert {one.claim_number for one in claims} == {
            both, asked, late, sent.claim_number, *sent_first
        }  # fmt: skip
        # What a person answers is not lost without a word either.
        kept, why = await together(
            asked, NextInsurance(member_id="1"), NextInsurance(plan_name="B")
        )
        assert kept.findings
        assert "changed in the meantime" in why
        again, why = await together(asked, NextInsurance(suffix="JR"), NextInsurance(plan_name="C"))
        assert "changed in the meantime" in why
        monkeypatch.undo()
        assert (await site.load(asked)).answers == again.next_claim.answers
        with pytest.raises(CorrectionConflict, match="Someone else answered"):
            await site.bill(asked, NextInsurance(suffix="SR"), version=1, dry_run=True, keeps=True)
        assert await site.bill(
            asked, NextInsurance(suffix="SR"), version=2, dry_run=True, keeps=True
        )
        assert (await site.load(asked)).answers.suffix == "SR"

        # The store itself never writes over a claim that was sent, whatever state its draft is in.
        async def write_over(tx):
            ready = draft._replace(state="ready")
            unsent = draft._replace(secondary_claim=None)
            saved = [await secondary_drafts.save_draft(tx, ready, seen) for seen in (unsent, draft)]
            return [*saved, await secondary_drafts.mark_sent(tx, both, asked, 0)]

        tried = await site.context.database.write(site.site.scope, write_over, actor=VENDOR)
        assert tried == [False, True, False]


async def test_a_draft_that_cannot_be_made_keeps_no_other_back(site, monkeypatch):
    claims = [{"F26_PatientAcctNumber": f"P{at}"} for at in range(5)]
    numbers = sorted(await site.submit(*claims))
    await site.note_due(*numbers)
    broken = numbers[:3]

    async def load(context, own, number, **more):
        if number == broken[0]:
            return None
        if number in broken:
            raise ValueError("ARDEN")
        return await load_next_claim(context, own, number, **more)

    async def is_down(*given, **more):
        raise DatabaseUnavailable

    monkeypatch.setattr(make_drafts, "DRAFTS_AT_ONCE", 2)
    monkeypatch.setattr(make_drafts, "load_next_claim", load)
    with capture_logs() as logged:
        assert await make_due_drafts(site.context) == 2
        # It is not tried again at once, but ever later; after the third time a person sees it.
        assert await make_due_drafts(site.context) == 0
        assert [one["claim"] for one in logged] == broken[1:]
        monkeypatch.setattr(make_drafts, "FIRST_PAUSE", timedelta(0))
        await site.put_on(*broken[1:])
        for _ in range(2):
            assert await make_due_drafts(site.context) == 0
    assert [one["claim"] for one in logged] == broken[1:] * 3
    assert (await site.draft(broken[1])).state == "failed"
    assert {(one["event"], one["fault"]) for one in logged} == {
        ("secondary draft not made", "ValueError")
    }
    assert "ARDEN" not in str(logged)
    # A database that is down is the fault of no draft.
    monkeypatch.setattr(make_drafts, "load_next_claim", is_down)
    with pytest.raises(DatabaseUnavailable):
        await make_due_drafts(site.context)
    monkeypatch.undo()
    assert await make_due_drafts(site.context) == 3
    assert {(await site.draft(one)).due for one in numbers} == {0}


async def test_what_a_payer_forwards_and_the_next_one_never_answers_is_asked_then_drafted(site):
    named = OTHER | {"X12_OtherPayerName": "HARBOR HEALTH PLAN", "X12_OtherInsuredId": "3001"}
    (crossed,) = await site.submit(named | {"F01A_InsuredId": "3011"})
    await site.days(20)
    draft = await site.draft(crossed)
    assert (draft.state, draft.crossover) == ("forwarded", "")
    await site.days(31)
    draft = await site.draft(crossed)
    assert (draft.state, draft.crossover) == ("forwarded", "asked")
    await site.days(8)
    draft = await site.draft(crossed)
    assert (draft.state, draft.crossover) == ("ready", "unanswered")
    assert await site.awaiting() == {crossed: "secondary_claim"}
    steps = await site.events(crossed, "claim.overdue", "claim.secondary_ready")
    assert steps == [
        ("claim.overdue", "ask_next_payer"), ("claim.secondary_ready", "HHP20"), ("claim.overdue", "draft"),
    ]  # fmt: skip
    # A person sends it; the service never does.
    assert why_not_by_itself(await site.load(crossed))
    sent = await site.bill(crossed)
    assert sent.accepted


async def test_a_site_may_have_them_sent_by_themselves_but_what_a_person_should_see(site):
    named = OTHER | {"X12_OtherPayerName": "HARBOR HEALTH PLAN", "X12_OtherInsuredId": "3001"}
    await site.bill_by_itself()
    scenarios = ("3002", "3003", "3001", "3011", "3008")
    claims = [
        named | {"F01A_InsuredId": one, "F26_PatientAcctNumber": f"P{one}"} for one in scenarios
    ]
    asked = OTHER | {"X12_OtherPayerName": "HARBOR HEALTH PLAN", "F26_PatientAcctNumber": "PQ"}
    owes, denied, paid, crossed, back, open_ = await site.submit(*claims, asked)
    await site.days(40)
    sent = {one: (await site.draft(one)).secondary_claim for one in (owes, denied, paid, crossed)}
    assert {one for one, number in sent.items() if number} == {owes}
    reasons = {one: why_not_by_itself(await site.load(one)) for one in (denied, paid, crossed)}
    assert "The payer denied the claim, or a part of it." in reasons[denied]
    assert reasons[paid] == ("The payer left nothing to the patient.",)
    assert "The payer forwarded the claim, so the next payer may have it." in reasons[crossed]
    assert "more than once" in " ".join(why_not_by_itself(await site.load(back)))
    assert why_not_by_itself(await site.load(open_)) == ("Something must be known first.",)
    # Sums are those of the payers, and the chain is one view with the patient last.
    chain = await load_payer_chain(site.context, site.site, owes)
    assert [one.claim_number for one in chain.links] == [owes, sent[owes]]
    assert chain.patient_balance == 0
    found = await site.load(owes)
    for against in (
        replace(found.paid, balanced=False), replace(found.paid, matched_by=MatchedBy.PERSON),
    ):  # fmt: skip
        assert why_not_by_itself(dataclass_replace(found, paid=against))
    unmatched = dataclass_replace(found, payment=replace(found.payment, unmatched=1))
    assert why_not_by_itself(unmatched)


class Killed(BaseException):
    """The process ends here."""


async def test_killed_at_any_write_each_next_payer_is_billed_once_and_asked_once(
    place, monkeypatch
):
    """Before and after every transaction, again and again until the work is done."""
    nth, seen, write = 0, 0, None

    async def cut(self, *given, **more):
        nonlocal seen
        seen += 1
        if seen == nth and nth % 2:
            raise Killed
        done = await write(self, *given, **more)
        if seen == nth:
            raise Killed
        return done

    async def work_killed():
        nonlocal nth, seen
        kills = nth = 0
        while True:
            nth, seen = nth + 1, 0
            try:
                await work_on_drafts(site.context)
            except Killed:
                kills += 1
            else:
                return kills

    async def nothing(context):
        return 0

    monkeypatch.setattr(sandbox_control, "work_on_drafts", nothing)
    async with opened(data=place.data, database_url=place.url) as site:
        await site.bill_by_itself()
        made = type(site.context.database)
        write = made.write
        named = OTHER | {"X12_OtherPayerName": "HARBOR HEALTH PLAN", "X12_OtherInsuredId": "3001"}
        *owed, crossed = await site.submit(
            *(named | {"F26_PatientAcctNumber": f"P{at}"} for at in range(2)),
            named | {"F01A_InsuredId": "3011", "F26_PatientAcctNumber": "P9"},
        )
        await site.days(20)
        with monkeypatch.context() as cutting:
            cutting.setattr(made, "write", cut)
            assert await work_killed() > len(owed)
        await site.days(31)
        with monkeypatch.context() as cutting:
            cutting.setattr(made, "write", cut)
            await work_killed()
        secondary = [(await site.draft(one)).secondary_claim for one in owed]
        async with site.context.database.read(site.site.scope) as tx:
            claims = await list_claims(tx, ClaimQuery(where={}, limit=99), ClaimListRow)
        assert {one.claim_number for one in claims} == {*owed, *secondary, crossed}
        assert len(claims) == 5
        for one in owed:
            assert len(await site.events(one, "claim.secondary_ready")) == 1
        assert await site.events(crossed, "claim.overdue") == [("claim.overdue", "ask_next_payer")]
        assert (await site.draft(crossed)).crossover == "asked"
