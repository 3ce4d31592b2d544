"""A claim whose billing address has no ZIP code takes it from what the site sent of the provider before.

Also tests `store/claims/billing_zips`.
"""

import pytest

from clearlane.pipeline.enrollment.billing_zip_lookup import (
    RECORDED_ZIPS_REMEMBERED_MAX,
    BillingProvider,
    GivenZip,
    KnownZips,
    RecordedZips,
    find_known_zips,
    provider_without_zip,
)
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.pipeline.load_claim import load_claim_in_scope
from tests.enrollment.invented import a_document, an_enrollment
from tests.pipeline.flowing import ACTOR, Flow

pytestmark = pytest.mark.one_database

NPI, OTHER_NPI = "1234567893", "1497758544"
ZIP = "F33_BillingProviderZip"
PROVIDER = {"F33A_BillingProviderNpi": NPI, "F33_BillingProviderState": "IL"}


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def enrolled(flow, **own):
    document = a_document(an_enrollment(**{"Npi": NPI, "State": "IL", **own}))
    await enroll(flow.context, document, site=flow.site, actor=ACTOR, now=flow.clock.now())


async def submitted(flow, **own):
    """Submit a claim of the provider; its ZIP code as it goes out, and the repairs of that field."""
    [id] = await flow.submit(**PROVIDER | own)
    return await stored(flow, id)


async def stored(flow, id):
    scope = flow.site.scope
    found = await load_claim_in_scope(flow.database, flow.vault, scope, id, actor=ACTOR)
    return getattr(found.claim, ZIP), [kind for path, kind in found.repairs if path == ZIP]


@pytest.mark.both_databases
async def test_the_enrollment_gives_the_zip_code_and_comes_before_a_claim(flow):
    await enrolled(flow, Zip="60601")
    assert await submitted(flow) == ("606019998", ["enrolled zip", "completed"])
    await submitted(flow, F33_BillingProviderZip="60699-1234")
    assert await submitted(flow) == ("606019998", ["enrolled zip", "completed"])


async def test_the_extension_of_an_enrollment_comes_with_it(flow):
    await enrolled(flow, Zip="60601", ZipExtension="4321", State="il")
    assert await submitted(flow, F33_BillingProviderState="il") == ("606014321", ["enrolled zip"])


@pytest.mark.parametrize(
    ("own", "kept"),
    [
        ({"Zip": "60601", "ZipExtension": "1 A2"}, "606019998"),
        ({"Zip": "00000"}, None),
    ],
)
async def test_what_is_no_zip_code_is_not_taken(flow, own, kept):
    await enrolled(flow, **own)
    assert (await submitted(flow))[0] == kept


@pytest.mark.both_databases
async def test_an_earlier_claim_gives_the_zip_code_the_last_one_first(flow):
    await submitted(flow, F33_BillingProviderZip="60601-1234")
    assert await submitted(flow) == ("606011234", ["earlier zip"])
    await submitted(flow, F33_BillingProviderZip="60699")
    assert await submitted(flow) == ("606999998", ["earlier zip", "completed"])


@pytest.mark.parametrize(
    "own",
    [
        {"F33A_BillingProviderNpi": OTHER_NPI},
        {"F33A_BillingProviderNpi": None},
        {"F33_BillingProviderState": "OR"},
        {"F33_BillingProviderZip": "60602"},
    ],
)
async def test_another_provider_another_state_or_an_own_zip_code_takes_nothing(flow, own):
    await enrolled(flow)
    given = own.get(ZIP)
    assert await submitted(flow, **own) == (
        (f"{given}9998", ["completed"]) if given else (None, [])
    )


@pytest.mark.both_databases
async def test_a_refused_claim_and_another_site_give_nothing(flow):
    await flow.post(**PROVIDER, F33_BillingProviderZip="60601", Svc_PayerId="NOBODY")
    other = await flow.new_site()
    await flow.submit(site=other, **PROVIDER, F33_BillingProviderZip="60601")
    assert await submitted(flow) == (None, [])


async def test_a_payer_that_requires_it_gets_it_or_no_claim(flow):
    flow.replace_payer(billing_zip_required=True)
    [refused] = await flow.post(**PROVIDER)
    assert [(one.rule, one.location) for one in refused.findings] == [("C111", f"Claims[0].{ZIP}")]
    await enrolled(flow)
    assert (await submitted(flow))[0] == "606019998"


async def test_the_same_claim_again_is_the_same_whatever_was_learned_between(flow):
    own = {"Svc_VendorClaimId": "MINE"}
    [first] = await flow.post(**PROVIDER, **own)
    await enrolled(flow)
    [again] = await flow.post(**PROVIDER, **own)
    assert (again.accepted, again.claim_number) == (True, first.claim_number)


async def test_nothing_is_read_where_claims_have_their_zip_code_and_a_provider_is_written_once(
    flow,
):
    [id] = await flow.submit(**PROVIDER, F33_BillingProviderZip="60601")
    scope = flow.site.scope
    loaded = await load_claim_in_scope(flow.database, flow.vault, scope, id, actor=ACTOR)
    assert provider_without_zip(loaded.claim) is None
    found = await find_known_zips(None, None, set(), scope=scope, seconds_max=1)
    assert found == KnownZips()  # without a database
    recorded = flow.context.intake.recorded_zips
    given = GivenZip(BillingProvider(NPI, "IL"), "60601")
    assert recorded.new_rows(flow.vault, scope, [given]) == []
    other = given._replace(zip="60602")
    assert [row.zip for row in recorded.new_rows(flow.vault, scope, [given, other, other])] == [
        "60602"
    ]


def test_what_a_node_remembers_is_bounded():
    recorded, scope = RecordedZips(), (1, 1)
    many = [
        GivenZip(BillingProvider(str(at), "IL"), "60601")
        for at in range(RECORDED_ZIPS_REMEMBERED_MAX + 1)
    ]
    recorded.mark(scope, many)
    recorded.mark(scope, many[:1])
    assert len(recorded._recorded) == 1
