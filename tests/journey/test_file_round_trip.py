"""An 837 file in the sandbox leads to the 999, 277CAs, 277s and 835s that a practice would post.

A ledger made from these files alone is that of the payments which v1 shows, to the cent; one check is over two sites.
"""

import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from clearlane.accounts.model import Site
from clearlane.kernel.client_file import FileChannel
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
from clearlane.settings import load
from clearlane.store.database.database import Actor
from clearlane.store.files import file_parts
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.payments.payment_query import PaymentQuery
from clearlane.wiring import open_installation
from clearlane.x12.checker.check import check
from tests.databases import make_site
from tests.pipeline.test_sender_responses import a_claim, a_file
from tests.waiting_files import process_waiting

VENDOR = Actor("vendor", "LARK")
PAYER = "TST01"
SCENARIOS = (
    "3001", "3002", "3003", "3004", "3007", "3008", "3009", "3010", "3011", "3014", "3018", "3019", "3020", "3022", "3024",
    "3025",
)  # fmt: skip
"""Paid in full and in part, denied, rejected by the 277CA, pending, reversed and corrected, with provider adjustments."""
EVERY = timedelta(days=45)


class Practice:
    """Two sites of one vendor in a sandbox, which send and fetch files alone."""

    def __init__(self, installation, sites):
        self.context = replace(
            installation.work_context, accounts=lambda: SimpleNamespace(sites=sites)
        )
        self.first, self.second = sites
        runtime = installation.sandbox_runtime
        self.simulator = runtime.simulator
        self.control = SandboxControl(self.context, runtime.simulator, runtime.stored_clock)

    async def send(self, site, *claims):
        """Send a file with these claims: account numbers and member ids. It is processed."""
        day = (self.context.clock.now() - timedelta(days=20)).strftime("%Y%m%d")
        content = a_file(
            [
                a_claim(at, payer=PAYER, account=account).replace(f"M1002003{at}", member)
                for at, (account, member) in enumerate(claims, 1)
            ]
        ).replace(b"20240211", day.encode())
        await self.send_content(site, content)

    async def send_content(self, site, content):
        """Send a file. It is processed."""
        upload = await Upload.begin(
            self.context, site, name="claims.837", channel=FileChannel.HTTPS, actor=VENDOR
        )
        await upload.write(content)
        await upload.finish("claims.837")
        assert await process_waiting(self.context) == 1

    async def fetch(self, site):
        """The files that came back to a site, by type."""
        found = {}
        async with self.context.database.read(site.scope) as tx:
            query = ClientFileQuery(where={"direction": "out"}, limit=200)
            listed = await find_page(tx, query)
        for one in sorted(listed, key=lambda one: one.file_id):
            content = await file_parts.read_content(
                self.context.database, self.context.vault, site.scope, one.file_id
            )
            found.setdefault(one.type, []).append(content)
        return found

    async def v1_ledger(self):
        """What each account number was paid by all payments, what was adjusted as a whole, and the amounts."""
        paid, adjusted, amounts = Counter(), 0, []
        context = self.context
        for found in await list_payments(context.database, context.vault, PaymentQuery()):
            if found.payment.duplicate_of:
                continue
            amounts.append(found.payment.amount)
            adjusted += found.payment.adjustments_total
            details = await payments.load_payment(
                context.database, context.vault, found.payment.payment_id, actor=VENDOR
            )
            pages = payments.claim_payment_pages(
                context.database, context.vault, details.claim_payments_of
            )
            async for page in pages:
                for one in page:
                    paid[one.account_number] += one.paid
        return paid, adjusted, sorted(amounts)


def cents(text):
    whole, _, part = text.partition(".")
    sign = -1 if whole.startswith("-") else 1
    return sign * (abs(int(whole or "0")) * 100 + int((part + "00")[:2]))


def file_ledger(contents):
    """The same ledger, made from remittance files alone."""
    paid, adjusted, amounts = Counter(), 0, []
    for content in contents:
        for row in content.decode().split("~"):
            elements = row.strip().split("*")
            if elements[0] == "BPR":
                amounts.append(cents(elements[2]))
            elif elements[0] == "CLP":
                paid[elements[1]] += cents(elements[4])
            elif elements[0] == "PLB":
                adjusted -= sum(map(cents, elements[4::2]))
    return paid, adjusted, sorted(amounts)


@pytest.fixture
async def practice(tmp_path):
    settings = load(environ={}, overrides={"data": tmp_path, "mode": "sandbox"})
    async with open_installation(settings, role="command") as installation:
        database = installation.work_context.database
        first = await make_site(database)
        second = await make_site(database, vendor=first.vendor)
        sites = [
            Site(scope.site, scope.vendor, f"LARK{at}", f"C{at}", "Larkspur", baa_accepted=True)
            for at, scope in enumerate((first, second), 1)
        ]
        made = Practice(installation, sites)
        await made.simulator.freeze(VENDOR)
        yield made


async def test_a_ledger_of_the_files_that_come_back_is_that_of_the_payments(practice):
    await practice.send(practice.first, *((f"ACC-{member}", member) for member in SCENARIOS))
    await practice.send(practice.second, ("OTHER-1", "3001"), ("OTHER-2", "3002"))
    await practice.control.finish_due_work()
    await practice.control.advance(EVERY, VENDOR)
    back = await practice.fetch(practice.first)
    other = await practice.fetch(practice.second)
    assert len(back["999"]) == len(other["999"]) == 1
    for contents in (back, other):
        for type in ("999", "277CA"):
            assert all(check(content).findings == () for content in contents[type])
    # Receipt, delivery, and the payer's verdict, in the sender's numbers.
    acknowledged = b"".join(back["277CA"]).decode()
    for member in SCENARIOS:
        assert f"TRN*2*ACC-{member}~" in acknowledged
        assert f"REF*D9*SENDER{SCENARIOS.index(member) + 1}~" in acknowledged
    assert {"A0:16:PR", "A1:19:AY", "A2:20:PR"} <= set(re.findall(r"STC\*([^*]+)\*", acknowledged))
    # One payee, so that the payments of both sites go whole to one of them.
    remittances = back.get("835", []) + other.get("835", [])
    assert {one[54:69].strip() for one in remittances} == {b"FERNHILL"}
    from_files, from_v1 = file_ledger(remittances), await practice.v1_ledger()
    assert from_files == from_v1
    assert from_files[0]["ACC-3001"] == 15000
    over_both = [one for one in remittances if b"CLP*ACC-" in one and b"CLP*OTHER-" in one]
    assert [b"~PLB*" in one for one in over_both] == [True]
    assert len(back["277"]) == 1  # of the claim that was pending
