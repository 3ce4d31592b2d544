"""One sandbox for every route: a site of ACME with something of each kind, in whose texts markup stands, and people and programs of others."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, quote, urlsplit

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.kernel.client_file import FileChannel
from clearlane.pipeline.enrollment.enroll import EnrollmentReceipt, enroll
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.operator import batch_admin
from clearlane.store.accounts import console_users
from clearlane.store.audit import audit
from clearlane.wiring.node import make_inquiry_runner
from tests.claims.answers import paid, payment
from tests.console.incoming_files import arrive
from tests.console.sandbox_console import SENDER, open_sandbox_console
from tests.console.signed_in_console import BY
from tests.enrollment.invented import a_document, a_practice
from tests.journey.vendor_program import VendorProgram
from tests.pipeline.test_sender_responses import a_claim, a_file
from tests.waiting_files import process_waiting

WORD = "fernmark"
MARK = f"<SCRIPT>{WORD.upper()}</SCRIPT>"
"""Stands in every text of the site that somebody can choose."""
OUR_NPI, GOOD_NPI = "1234567893", "1679576722"
PATIENT = {"F02_PatientNameLast": MARK, "F04_InsuredNameLast": MARK}
NEXT_INSURANCE = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "GRP300",
    "F09_PatientRelationshipToInsured": "Child", "F11D_OtherPlan": True, "X12_OtherPayerName": "HARBOR HEALTH PLAN",
    "F33A_BillingProviderNpi": OUR_NPI, "F33_BillingProviderZip": "787011234", "X12_OtherInsuredId": "3001",
}  # fmt: skip
QUESTION = {
    "payer": "sandbox medical", "chosen": "TST01", "provider": "Fernhill Family Practice", "npi": OUR_NPI,
    "member": "XJ-4471", "last": MARK, "first": "Ruth", "birth": "1986-11-22",
}  # fmt: skip
DECIDED = {
    "rejected": "3004", "cause": "3004", "again": "3004", "v1_again": "3004", "birth": "3016", "v1_correct": "3016",
    "denied": "3003", "outside": "3003", "done": "3003", "paid": "3001", "void": "3001", "v1_void": "3001",
}  # fmt: skip
"""Claims by what is done with them, and the scenario of each."""
WAITING = ("hold", "cancel", "v1_hold", "v1_cancel", "ask")


class GuardedSandbox:
    """The sandbox, who looks at it, and the ids of what is in it by their names."""

    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.ids: dict[str, str] = {"word": WORD}

    async def fill(self):
        """Make something of every kind at the site A-1."""
        self.people = {role: await self.sandbox.person(role) for role in ConsoleRole}
        self.strangers = {
            "another vendor": await self.sandbox.person(ConsoleRole.BILLER, "B-1"),
            "another site": await self.sandbox.person(ConsoleRole.BILLER, "A-2"),
        }
        self.biller = self.people[ConsoleRole.BILLER]
        self.operator = self.people[ConsoleRole.OPERATOR]
        for make in (
            self._claims, self._payments, self._files, self._waiting_claims, self._questions, self._accounts, self._routes, self._drafts,
        ):  # fmt: skip
            await make()

    async def _claims(self):
        send = self.sandbox.send
        for name, scenario in DECIDED.items():
            self.ids[name] = await send(scenario, **PATIENT)
        for name in ("next", "v1_next"):
            self.ids[name] = await send("3002", **PATIENT, **NEXT_INSURANCE)
        self.ids["to_match"] = await send("3009", **PATIENT)
        await self.sandbox.advance(20)
        worklist = await self.biller.text("/worklists")
        links = re.findall(r'href="/console(/worklists/fix\?[^"]+)"', worklist)
        [link] = [unescape(each) for each in links if "F33A_BillingProviderNpi" in each]
        [self.ids["group"]] = parse_qs(urlsplit(link).query)["cause"]
        group = {"cause": self.ids["group"], "payer": "TST01", "claim": self.ids["cause"], "value": GOOD_NPI}  # fmt: skip
        checked = await self.biller.ask("/worklists/fix", form={**group, "do": "check"})
        shown = re.search(r'name="checked" value="([^"]+)"', bytes(checked.body).decode())
        assert shown, checked.body
        self.ids["checked"] = unescape(shown[1])
        came = await self.operator.text("/files?tab=in")
        self.ids["answer_file"] = re.findall(r"/files/in/(\d+)", came)[-1]
        self.ids["today"] = str(self.sandbox.installation.clock.now().date())
        self.ids["document_text"] = json.dumps(
            samples.document(V3_MEDICAL, day=self.sandbox.installation.clock.now().date()), default=str
        )  # fmt: skip
        shown = await self.program().client.get(f"claims/{self.ids['paid']}")
        self.ids["document"] = shown.json()["document_id"]

    async def _waiting_claims(self):
        """Make claims that were not sent yet: the last of what lets days pass was before."""
        send = self.sandbox.send
        day = self.sandbox.installation.clock.now().date() - timedelta(days=1)
        ours = {"F10C_PatientCondOtherAccident": True, "F15_AccidentDate": str(day)}
        for name in ("anyway", "v1_anyway"):
            self.ids[name] = await send("3001", accepted=False, **PATIENT, **ours)
        for name in WAITING:
            self.ids[name] = await send("3001", **PATIENT)
        for name in ("release", "v1_release"):
            self.ids[name] = number = await send("3001", **PATIENT)
            await self.biller.ask(f"/claims/{number}/hold", form={})

    async def _payments(self):
        mine = self.ids["to_match"]
        known = [
            one.replace("ARDEN*ROSA", f"{MARK}*X")
            for one in paid(mine, "1", "100", "80", "CAS*CO*45*20")
        ]
        unknown = [one.replace("ARDEN*ROSA", f"{MARK}*X") for one in paid("NOBODY", "1", "100", "80", "CAS*CO*45*20")]  # fmt: skip
        content = payment(known, unknown, amount="120", reference="EFT20031")
        await arrive(self.sandbox.installation, content.replace(b"MEADOW MUTUAL", MARK.encode()))
        listed = await self.biller.text("/payments?q=EFT20031")
        self.ids["payment"] = re.findall(r"/payments/(P[0-9A-Z]{18})", listed)[0]
        every = re.findall(r"/payments/(P[0-9A-Z]{18})", await self.biller.text("/payments"))
        self.ids["v1_payment"] = next(one for one in every if one != self.ids["payment"])

    async def _files(self):
        context = self.sandbox.installation.work_context
        day = f"{self.sandbox.installation.clock.now().date() - timedelta(days=20):%Y%m%d}"
        content = a_file([a_claim(1, payer="TST01", account="ACC-1")])
        upload = await Upload.begin(
            context, self.sandbox.site("A-1"), name=f"{MARK}.837", channel=FileChannel.HTTPS, actor=SENDER
        )  # fmt: skip
        await upload.write(
            content.replace(b"20240211", day.encode()).replace(b"ARDEN", MARK.encode())
        )
        self.ids["file"] = (await upload.finish(f"{MARK}.837")).file_id
        await process_waiting(context)
        for name in ("inbox", "put_aside", "to_accept"):
            broken = await arrive(
                self.sandbox.installation, f"<html>{name}{MARK}".encode(), name=MARK
            )
            self.ids[name] = str(broken.id)
        await self.sandbox.control.set_mode("TST01", "down")
        for name in ("batch", "delivered"):
            await self.sandbox.send("3001", **PATIENT)
            await self.sandbox.advance(1)
            out = await self.operator.text("/files?tab=out")
            self.ids[name] = re.findall(r"/files/out/(\d+)", out)[0]
        await batch_admin.mark_in_doubt_after_restore(context, actor=BY)
        await self.sandbox.control.set_mode("TST01", "up")

    async def _questions(self):
        asked = await self.biller.ask("/eligibility/ask", form=QUESTION)
        assert asked.status_code == 303, asked.body
        self.ids["question"] = asked.headers["location"].rpartition("/")[2]
        listed = (await self.program().client.get("eligibility")).json()["data"]
        self.ids["v1_question"] = str(listed[0]["id"])
        self.ids["question_body"] = json.dumps({
            "payer_id": "TST01",
            "provider": {"name": "Fernhill", "npi": OUR_NPI},
            "subscriber": {"last_name": MARK, "first_name": "Ruth", "birth_date": "1986-11-22", "member_id": "XJ-4471"},
        })  # fmt: skip
        context = self.sandbox.installation.work_context
        practice = a_practice(PracticeName=MARK)
        receipt = await enroll(
            context, a_document(practice), site=self.sandbox.site("A-1"), actor=SENDER,
            now=self.sandbox.installation.clock.now(),
        )  # fmt: skip
        assert isinstance(receipt, EnrollmentReceipt)
        self.ids["enrollment"] = receipt.results[0].id

    async def _accounts(self):
        hooks, keys = "/accounts/ACME/webhooks", "/accounts/ACME/api-keys"
        for name in ("endpoint", "v1_endpoint", "v1_removed", "v1_disabled"):
            form = {"url": f"https://example.com/{name}"}
            added = await self.operator.ask(hooks, form=form)
            listed = await self.operator.text(hooks)
            assert added.status_code == 200
            every = re.findall(rf"{hooks}/(\w+)", listed)
            self.ids[name] = next(one for one in every if one not in self.ids.values())
        await self.operator.confirm(f"{hooks}/{self.ids['v1_disabled']}/disable", form={})
        for name, sites in (("key", "A-1"), ("neighbor_key", "A-2"), ("removed_key", "A-1")):
            scopes = ["read", "submit", "correct", "files"]
            key: dict[str, str | list[str]] = {
                "name": f"{name} {MARK}",
                "scopes": scopes,
                "sites": sites,
            }
            page = unescape(bytes((await self.operator.ask(keys, form=key)).body).decode())
            self.ids[name] = re.findall(rf"{keys}/(\w+)/rotate", page)[-1]
            [self.ids[f"{name} secret"]] = re.findall(r"\bclearlane_\w{20,}", page)[:1]
        for name in ("tessa", "rosa", "milo"):
            invited = {"name": name, "role": "biller", "sites": "A-1"}
            await self.operator.ask("/people/invite", form=invited)
        users = await console_users.all_users(self.sandbox.installation.database)
        self.ids["person"] = str(next(one.id for one in users if one.name == "tessa"))
        self.ids["call"] = "FERN-CALL-0001"
        await self.program().client.get("claims", headers={"X-Request-Id": self.ids["call"]})
        event = await self.program().client.get("events", params={"limit": 1})
        self.ids["event"] = event.json()["data"][0]["id"]

    async def _routes(self):
        folder = "/payers/new?kind=folder&to=Medical:TST01"
        root = self.sandbox.installation.settings.data
        for at, name in enumerate(("added", "route", "changed", "stopped", "removed")):
            places = {side: root / f"{name}-{side}" for side in ("outbox", "inbox")}
            for place in places.values():
                await asyncio.to_thread(place.mkdir)
            if not at:
                self.ids |= {f"{name}_{side}": str(place) for side, place in places.items()}
                continue
            own = {f"route-{side}": str(place) for side, place in places.items()}
            form = {"route-sender_id": "US", "route-receiver_id": "MEADOW", "position": str(at), "do": "add"}  # fmt: skip
            added = await self.operator.ask(folder, form={**own, **form})
            assert added.status_code == 303, added.body
            page = await self.operator.text("/payers/medical/TST01")
            self.ids[name] = max(re.findall(r"/remove/(\d+)", page), key=int)

    async def _drafts(self):
        for name in ("draft", "sent_draft"):
            begun = await self.biller.ask("/claims/new", form={"on": "v3_medical"})
            path = begun.headers["location"].removeprefix("/console")
            self.ids[name] = path.partition("?")[0]
            form = {"f.F02_PatientNameLast": MARK, "do": "check"}
            await self.biller.ask(self.ids[name], form=form)

    def program(self, vendor="ACME", key=""):
        """A program of a vendor, with its password or the API key of a name."""
        return VendorProgram(self.sandbox, vendor, self.ids[f"{key} secret"] if key else "")

    async def audited(self):
        """Return the trail, oldest first."""
        rows = audit.read_between(self.sandbox.installation.database, audit.BEFORE_ALL, 1 << 62)
        return [row async for row in rows]

    @property
    def secrets(self):
        """The ids by which one would know that an answer is about the site."""
        return {id for id in self.ids.values() if id.isalnum() and len(id) > len(WORD)}

    def filled(self, text):
        """Return an address or a text with the ids whose names it has in braces; in a query, as an address has them."""
        path, mark, query = text.partition("?")
        return path.format(**self.ids) + mark + query.format(**{name: quote(id) for name, id in self.ids.items()})  # fmt: skip

    def form(self, fields):
        """Return the fields of a form with the ids whose names they have in braces."""
        return {
            name: value.format(**self.ids) if isinstance(value, str) and re.fullmatch(r"\{\w+\}", value) else value
            for name, value in fields.items()
        }  # fmt: skip


@asynccontextmanager
async def open_guarded_sandbox(data):
    """Open a sandbox whose process asks payers, and fill it."""
    async with open_sandbox_console(data) as sandbox:
        runner = make_inquiry_runner(sandbox.installation)
        sandbox.installation.node_parts.inquiry_runner = runner
        sandbox.installation.__dict__.pop("work_context", None)
        made = GuardedSandbox(sandbox)
        await made.fill()
        yield made
        await runner.stop()
