"""A sandbox in this process with two vendors, their sites, and claims of any scenario."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.pipeline.intake import submit
from clearlane.pipeline.intake.submission_result import SubmissionReceipt
from clearlane.settings import load
from clearlane.store.accounts.accounts import NewSite, add_site, add_vendor
from clearlane.store.database.database import Actor
from clearlane.wiring import Installation, open_installation
from tests.console.signed_in_console import BY, ConsolePerson, sign_in_as

SENDER = Actor("vendor", "ACME")
COUNT = itertools.count(1)
SITES = (
    ("ACME", "A-1", "Fernhill Family Practice"),
    ("ACME", "A-2", "Larkspur Dental"),
    ("OTHER", "B-1", "Quarry Street Clinic"),
)


class SandboxConsole:
    """An open sandbox, its sites, and people of every role."""

    def __init__(self, installation: Installation, passwords: dict[str, str]) -> None:
        self.installation = installation
        assert installation.sandbox_control is not None
        self.control = installation.sandbox_control
        self.passwords = passwords
        """By the key of the vendor."""

    def site(self, vendor_site_id: str):
        sites = self.installation.accounts.sites
        return next(site for site in sites if site.vendor_site_id == vendor_site_id)

    async def person(self, role: ConsoleRole, site: str = "A-1") -> ConsolePerson:
        """Someone of a role who sees one site, or all of its vendor, or everything."""
        if role is ConsoleRole.OPERATOR:
            return await sign_in_as(self.installation, role)
        owner = self.site(site)
        sites = None if role is ConsoleRole.SUPPORT else frozenset({owner.id})
        return await sign_in_as(self.installation, role, vendor=owner.vendor_id, sites=sites)

    async def send(
        self,
        scenario: str = "",
        *,
        site: str = "A-1",
        full: bool = False,
        accepted: bool = True,
        **fields,
    ) -> str:
        """Submit a claim whose insured id selects a scenario; return its number. It is accepted, or is not."""
        day = self.installation.clock.now().date() - timedelta(days=5)
        document = samples.document(V3_MEDICAL, day=day, full=full)
        [claim] = document["Claims"]
        claim |= {"Svc_VendorClaimId": f"TEST-{next(COUNT)}", "Svc_PayerId": "TST01"}
        document["Claims"] = [claim | ({"F01A_InsuredId": scenario} if scenario else {}) | fields]
        done = await submit.submit(
            self.installation.work_context,
            json.dumps(document, default=str).encode(),
            V3_MEDICAL,
            site=self.site(site),
            actor=SENDER,
            now=self.installation.clock.now(),
        )
        assert isinstance(done, SubmissionReceipt), done
        [result] = done.results
        assert result.accepted is accepted, [finding.message for finding in result.findings]
        return result.claim_number

    async def advance(self, days: int) -> None:
        """Let days pass until everything due has been posted."""
        await self.control.advance(timedelta(days=days), BY)


@asynccontextmanager
async def open_sandbox_console(
    data, *, database_url="", zones=None
) -> AsyncIterator[SandboxConsole]:
    """Open a sandbox; ``zones`` are the time zones of its sites, UTC if none is given."""
    overrides = {"data": data, "mode": "sandbox"}
    overrides |= {"database_url": database_url} if database_url else {}
    settings = load(environ={}, overrides=overrides)
    async with open_installation(settings, role="command") as installation:
        passwords: dict[str, str] = {}
        for key in dict.fromkeys(key for key, _, _ in SITES):
            added = await add_vendor(
                installation.database, pepper=installation.pepper, key=key, name=key.title(),
                now=installation.wall.now(), actor=BY,
            )  # fmt: skip
            assert added.credentials is not None
            assert added.credentials.password is not None
            passwords[key] = added.credentials.password
        for key, id, name in SITES:
            site = NewSite(
                vendor_key=key, vendor_site_id=id, name=name, baa_accepted=True,
                time_zone=(zones or {}).get(id, "UTC"),
            )  # fmt: skip
            await add_site(installation.database, site, now=installation.wall.now(), actor=BY)
        await installation.refresh()
        runtime = installation.sandbox_runtime
        assert runtime is not None
        runtime.start_control(installation.work_context)
        await runtime.simulator.freeze(BY)
        yield SandboxConsole(installation, passwords)
