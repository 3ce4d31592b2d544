"""`clearlane enrollment`, as an operator types it.

Also tests `cli/enrollment/enrollment_client` and `cli/enrollment/enrollment_output`.
"""

import csv
import io
import json
import shlex
from datetime import date
from functools import partial

import pytest
from typer.testing import CliRunner

from clearlane.accounts.model import Site
from clearlane.api.v1.provider_enrollments import ProviderEnrollmentJson
from clearlane.cli.command.root import app as root
from clearlane.cli.enrollment.enrollment import app
from clearlane.enrollment.fields import FIELDS
from clearlane.kernel.clock import SystemClock
from clearlane.payers.samples import LIVE_PAYERS
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.store.database.database import Actor
from clearlane.store.vault.vault import Vault
from tests.cases import every_case
from tests.contexts import work_context
from tests.databases import make_site
from tests.enrollment.invented import a_document, a_practice, an_enrollment

pytestmark = pytest.mark.one_database

ASKING = {payer.payer_id for payer in LIVE_PAYERS if payer.claim_enrollment_required}
ASKING_FOR_ERA = {p.payer_id for p in LIVE_PAYERS if p.era_availability == "RequiresEnrollment"}


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command in this installation: ``clearlane("list --json")``."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.chdir(place.data)

    def run(line, *, code=0, of=app):
        result = CliRunner().invoke(of, shlex.split(line))
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


@pytest.fixture
async def enrolled(place):
    """Enroll providers of a new site; their ids in the order of the request."""

    async def make(*enrollments):
        database = await place.open(SystemClock())
        try:
            vault = Vault(database, place.keys(), SystemClock())
            await vault.load()
            scope = await make_site(database)
            site = Site(scope.site, scope.vendor, "", "", "")
            printed = await enroll(
                work_context(database, vault),
                a_document(*enrollments),
                site=site,
                actor=Actor("vendor", "ACME"),
                now=SystemClock().now(),
            )
            return [each.id for each in printed.results]
        finally:
            await database.close()

    return make


def shown(result):
    return json.loads(result.stdout)


async def test_a_new_enrollment_is_listed_without_its_tax_id(clearlane, enrolled, in_thread):
    sent = an_enrollment()
    (id,) = await enrolled(sent)
    (row,) = shown(await in_thread(clearlane, "list --json"))
    assert (row["id"], row["npi"], row["provider"]) == (id, sent["Npi"], "FENN, OSKAR")
    assert (row["state"], row["findings"]) == ("submitted", "")
    printed = await in_thread(clearlane, "list")
    assert id in printed.stdout
    assert sent["Tin"] not in printed.stdout


async def test_all_of_it_is_shown_by_id_in_any_case(clearlane, enrolled, in_thread):
    sent = a_practice(Npi="1234567890", DbaName="\x1b[31mred")
    (id,) = await enrolled(sent)
    found = shown(await in_thread(clearlane, f"show {id.lower()} --json"))
    assert {k: v for k, v in found["enrollment"].items() if v is not None} == sent
    assert [note["field"] for note in found["findings"]] == ["Npi"]
    by_transaction = {one["for"]: set() for one in found["payers"]}
    for one in found["payers"]:
        by_transaction[one["for"]].add(one["payer_id"])
    assert by_transaction == {"claims": ASKING, "era": ASKING_FOR_ERA}
    assert {payer["state"] for payer in found["payers"]} == {"submitted"}
    assert [event["event"] for event in found["events"]] == ["submitted"]
    assert {one["payer_id"] for one in found["enrollments"]} == ASKING | ASKING_FOR_ERA
    assert all(
        one.keys() == ProviderEnrollmentJson.model_fields.keys() and one["enrollment_id"] == id
        for one in found["enrollments"]
    )
    printed = (await in_thread(clearlane, f"show {id}")).stdout
    assert "Fernhill Family Practice" in printed
    assert "check digit" in printed
    assert "\x1b" not in printed


@pytest.mark.safe_default(17)
async def test_an_enrollment_is_moved_by_payer(clearlane, enrolled, in_thread):
    (id,) = await enrolled(an_enrollment())
    moved = shown(await in_thread(clearlane, f"start {id} --payer hhp2m --payer 08228 --json"))
    assert [(m["payer_id"], m["before"], m["now"]) for m in moved] == [
        ("HHP2M", "submitted", "in work"),
        ("PNE28", "submitted", "in work"),
    ]
    for verb, says in (("approve", "are sent to HHP2M"), ("refuse", "are not accepted")):
        asked = await in_thread(partial(clearlane, code=2), f"{verb} {id} --payer HHP2M")
        assert says in asked.stderr
    printed = await in_thread(clearlane, f"approve {id} --payer HHP2M --yes")
    assert "approved" in printed.stdout
    await in_thread(clearlane, f"refuse {id} --payer PNE28 --reason 'Not on file' --yes")
    payers = shown(await in_thread(clearlane, f"show {id} --json"))["payers"]
    states = {
        (one["payer_id"], one["for"]): (one["state"], one["reason"], one["live_from"])
        for one in payers
    }
    today = SystemClock().now().date()
    assert states["PNE28", "claims"] == ("refused", "Not on file", "")
    assert states["HHP2M", "claims"][:2] == ("approved", "")
    assert abs(date.fromisoformat(states["HHP2M", "claims"][2]) - today).days <= 1
    assert states["HHP2M", "era"] == ("submitted", "", "")
    (row,) = shown(await in_thread(clearlane, "list --json"))
    assert row["state"] == "1 approved, 1 refused"
    again = await in_thread(clearlane, f"approve {id} --payer HHP2M --yes")
    assert "no change was needed" in again.stdout
    # An ERA is enrolled for by itself, from a day on.
    line = f"approve {id} --payer HHP2M --transaction era --from 2031-01-02"
    assert (
        "enrolled with HHP2M (ERA) from 2031-01-02 on"
        in (await in_thread(partial(clearlane, code=2), line)).stderr
    )
    (moved,) = shown(await in_thread(clearlane, f"{line} --yes --json"))
    assert (moved["for"], moved["now"], moved["live_from"]) == ("era", "approved", "2031-01-02")
    (moved,) = shown(await in_thread(clearlane, f"end {id} --payer HHP2M --yes --json"))
    assert (moved["before"], moved["now"]) == ("approved", "ended")


async def test_without_a_payer_all_that_require_enrollment_are_meant(
    clearlane, enrolled, in_thread
):
    (id,) = await enrolled(an_enrollment())
    dental = shown(await in_thread(clearlane, f"approve {id} --type dental --json --yes"))
    assert {move["type"] for move in dental} == {"Dental"}
    rest = shown(await in_thread(clearlane, f"approve {id} --json --yes"))
    assert {move["payer_id"] for move in (*dental, *rest)} == ASKING


@every_case(
    ("line", "code", "says"),
    [
        ("show E0", 1, "There is no enrollment E0"),
        ("approve E0 --yes", 1, "There is no enrollment E0"),
        ("approve E0 --payer NOBODY --yes", 2, "There is no payer NOBODY"),
        ("list --payer HHP2M --type dental", 2, "There is no dental payer HHP2M"),
        ("list --site NOWHERE", 1, "There is no site NOWHERE"),
        (f"refuse E0 --reason {'x' * 501} --yes", 2, "500 characters at most"),
        ("approve E0 --from 1/2/2031 --yes", 2, "A day such as"),
    ],
    ids=["show", "approve", "payer", "type", "site", "reason", "day"],
)
def test_what_cannot_be_done_is_reported(clearlane, line, code, says):
    assert says in clearlane(line, code=code).stderr


async def test_an_approved_one_is_not_started(clearlane, enrolled, in_thread):
    (id,) = await enrolled(an_enrollment())
    await in_thread(clearlane, f"approve {id} --payer HHP2M --yes")
    printed = await in_thread(clearlane, f"start {id} --payer HHP2M", code=1)
    assert "is approved with HHP2M" in printed.stderr


async def test_lists_are_asked_for_by_state_payer_and_site(clearlane, enrolled, in_thread):
    (first,) = await enrolled(an_enrollment())
    second, third = await enrolled(an_enrollment(), an_enrollment())
    await in_thread(clearlane, f"approve {second} --payer HHP2M --yes")
    rows = shown(await in_thread(clearlane, "list --json"))
    sites = {row["id"]: row["vendor_site_id"] for row in rows}

    async def ids(words):
        return {row["id"] for row in shown(await in_thread(clearlane, f"list --json {words}"))}

    assert await ids("--state approved") == {second}
    assert await ids("--state submitted") == {first, third}
    assert await ids("--state submitted --payer HHP2M") == {first, third}
    assert await ids("--state submitted --payer FBK40") == {first, second, third}
    assert await ids(f"--site {sites[first]}") == {first}
    assert len(await ids("--limit 1")) == 1


async def test_the_export_is_whole_and_starts_no_formula(clearlane, enrolled, in_thread, place):
    evil = '=HYPERLINK("http://x.example")'
    sent = an_enrollment(DbaName=evil, ProviderTitle="+1", City="@home", RequestId="-2")
    (id,) = await enrolled(sent)
    printed = (await in_thread(clearlane, "export --state submitted")).stdout
    (row,) = csv.DictReader(io.StringIO(printed))
    assert row.keys() >= FIELDS.keys()
    assert (row["id"], row["Npi"], row["Tin"]) == (id, sent["Npi"], sent["Tin"])
    assert [row[n] for n in ("DbaName", "ProviderTitle", "City", "RequestId")] == [
        f"'{evil}",
        "'+1",
        "'@home",
        "'-2",
    ]
    (row,) = shown(await in_thread(clearlane, "export --json"))
    assert row["DbaName"] == evil
    await in_thread(clearlane, "export new.csv")
    assert (place.data / "new.csv").read_text().startswith("id,")
    assert (place.data / "new.csv").stat().st_mode & 0o777 == 0o600
    await in_thread(clearlane, "export all.json")
    assert json.loads((place.data / "all.json").read_text())[0]["id"] == id
    assert "cannot be written" in (await in_thread(clearlane, "export no/where.csv", code=2)).stderr


async def test_every_look_and_every_move_is_audited(clearlane, enrolled, in_thread):
    (id,) = await enrolled(an_enrollment())
    for line in ("list", f"show {id}", "export", f"approve {id} --payer HHP2M --yes"):
        await in_thread(clearlane, line)
    printed = await in_thread(clearlane, "audit export --format jsonl", of=root)
    lines = [json.loads(line) for line in printed.stdout.splitlines() if id in line]
    assert [line["action"] for line in lines] == [
        "enrollment.submit",
        "enrollment.list",
        "enrollment.read",
        "enrollment.export",
        "enrollment.approve",
    ]
    assert lines[-1]["detail"] == "Medical HHP2M claims"
