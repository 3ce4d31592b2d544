"""Every list of claims walks an index that fits it, on SQLite as on PostgreSQL without statistics.

Also tests `store/claims/claim_ids`, `store/claims/claim_search`, `store/claims/account_numbers`,
`store/claims/earlier_claims`, `store/claims/new_claims` and `store/claims/save_claims`.
"""

import pytest
from sqlalchemy import create_engine

from clearlane.store.claims import claim_ids, claim_query, claim_summaries
from clearlane.store.claims.claim_query import (
    ClaimListKey,
    ClaimListRow,
    ClaimOrder,
    ClaimQuery,
    Listed,
    ListPosition,
    StatusListRow,
    list_claims,
    list_statement,
)
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import metadata
from clearlane.store.payments import report_sums
from tests.databases import make_site
from tests.store.test_database import CLAIM, a_claim

# The filters of a search, and the index that it walks.
PLANS = [
    ((), "ix_claims_day", "ix_claims_vendor_day"),
    (("created_day_from", "created_day_to"), "ix_claims_day", "ix_claims_vendor_day"),
    (("state", "total_cents_from"), "ix_claims_day", "ix_claims_vendor_day"),
    (("updated_at_after", "state"), "ix_claims_changed", "ix_claims_changed"),
    (("account_key", "state"), "ix_claims_account_key", "ix_claims_account_key"),
    (("name_key", "patient_key"), "ix_claims_patient", "ix_claims_patient"),
    (("name_key", "created_day_from", "created_day_to"), "ix_claims_patient", "ix_claims_patient"),
    (("member_key", "created_day_from"), "ix_claims_day", "ix_claims_vendor_day"),
    (("payer_number_key",), "ix_claims_payer_number_key", "ix_claims_payer_number_key"),
]


def search(*names, order=ClaimOrder.NEWEST_FIRST):
    return list_statement(
        ClaimListRow._fields, frozenset(names), Listed.ACCEPTED, order, is_first=True
    )


def latest(*names, order, is_first):
    return list_statement(
        ClaimListKey._fields, frozenset(names), Listed.LATEST, order, is_first=is_first
    )


@pytest.fixture(scope="module")
def connection():
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    opened = engine.raw_connection()
    yield opened
    opened.close()
    engine.dispose()


@pytest.mark.parametrize(("names", "of_site", "of_vendor"), PLANS, ids=str)
def test_a_search_walks_the_index_that_fits_it(connection, names, of_site, of_vendor):
    order = ClaimOrder.BY_CHANGE if "updated_at_after" in names else ClaimOrder.NEWEST_FIRST
    statement = search(*names, order=order)
    for form, index in ((statement, of_site), (statement.vendor_wide, of_vendor)):
        compiled = form.compiled_for("sqlite")
        values = [1] * len(compiled.parameter_order)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {compiled.text}", values).fetchall()
        assert any(f"USING INDEX {index} " in row[3] for row in plan), plan


def test_claims_under_a_vendors_claim_id_are_found_by_the_key_of_the_ids(connection):
    for form in (claim_ids._UNDER_IDS, claim_ids._UNDER_IDS.vendor_wide):
        assert any("PRIMARY KEY (vendor_id=" in row[3] for row in plan_of(connection, form))


def test_days_whose_sums_changed_are_read_from_the_claims_that_changed(connection):
    for form in (report_sums._CHANGED_DAYS, report_sums._CHANGED_DAYS.vendor_wide):
        plan = plan_of(connection, form)
        assert any(
            "INDEX ix_claims_changed (vendor_id=? AND updated_at>?)" in row[3] for row in plan
        )


@pytest.mark.parametrize(
    "statement",
    [
        latest("label", order=ClaimOrder.LATEST_CHANGE_FIRST, is_first=False),
        latest("label", "payer_id", order=ClaimOrder.BY_CHANGE, is_first=True),
        claim_summaries._DECIDED,
    ],
)
def test_lists_of_claims_walk_the_index_of_those_that_no_other_superseded(connection, statement):
    assert any("INDEX ix_claims_label " in row[3] for row in plan_of(connection, statement))


def plan_of(connection, statement):
    compiled = statement.compiled_for("sqlite")
    values = ["[1]"] * len(compiled.parameter_order)
    return connection.execute(f"EXPLAIN QUERY PLAN {compiled.text}", values).fetchall()


@pytest.mark.parametrize(
    ("names", "is_first", "start"),
    [
        (("created_day_from", "created_day_to"), True, "created_day>? AND created_day<?"),
        # A later page begins after a claim, and not at the beginning of its day.
        (("created_day_to",), False, "(created_day,claim_number)>(?,?) AND created_day<?"),
        # From a place outside of the filters.
        (("created_day_from", "created_day_to"), False, "created_day>? AND created_day<?"),
    ],
)
def test_the_status_list_starts_at_its_place_in_the_index_of_days(
    connection, names, is_first, start
):
    statement = list_statement(
        StatusListRow._fields,
        frozenset(names),
        Listed.ACCEPTED,
        ClaimOrder.OLDEST_FIRST,
        is_first=is_first,
    )
    for form, index in (
        (statement, "ix_claims_day "),
        (statement.vendor_wide, "ix_claims_vendor_day "),
    ):
        step, *_ = plan_of(connection, form)
        assert f"INDEX {index}" in step[3]
        assert start in step[3]


DAYS = ("2026-01-09", *["2026-01-10"] * 5, "2026-01-11", *["2026-01-12"] * 3, "2026-01-13")
INSIDE = {"created_day_from": "2026-01-10", "created_day_to": "2026-01-12"}


async def listed(database, scope, order, after, limit):
    """Return the claims of the first page after a place, and those of all pages from there on."""
    pages = []
    while not pages or len(pages[-1]) == limit:
        query = ClaimQuery(where=INSIDE, order=order, after=after, limit=limit)
        async with database.read(scope) as tx:
            pages.append(await list_claims(tx, query, StatusListRow))
        after = pages[-1][-1].position if pages[-1] else after
    return [row.claim_number for page in pages for row in page]


@pytest.mark.both_databases
async def test_the_pages_of_a_list_have_each_claim_once_wherever_they_begin(database):
    scope = await make_site(database)
    numbers = [f"C{at:018}" for at in range(len(DAYS))]
    rows = [
        {**a_claim(number), "created_day": day} for number, day in zip(numbers, DAYS, strict=True)
    ]
    await database.write(scope, lambda tx: tx.many(CLAIM, rows), actor=Actor("vendor", "x"))
    inside = numbers[1:-1]
    for order, wanted in (
        (ClaimOrder.OLDEST_FIRST, inside), (ClaimOrder.NEWEST_FIRST, inside[::-1]),
    ):  # fmt: skip
        for limit in (1, 2, 3, 20):
            assert await listed(database, scope, order, None, limit) == wanted
        for at, number in enumerate(wanted):
            after = ListPosition(0, DAYS[numbers.index(number)], number)
            assert await listed(database, scope, order, after, 2) == wanted[at + 1 :]
        # A place of another list: before all that the filters let through, or after.
        before, beyond = (wanted, []) if order is ClaimOrder.OLDEST_FIRST else ([], wanted)
        for day, rest in (("2026-01-08", before), ("2026-01-14", beyond)):
            assert await listed(database, scope, order, ListPosition(0, day, "C1"), 2) == rest


def test_a_statement_is_made_once_for_a_set_of_filters():
    assert search("state") is search("state")


@pytest.mark.parametrize("statement", [claim_query._BY_NUMBER, search("claim_numbers")])
def test_claims_are_loaded_by_their_numbers_and_never_by_reading_their_site(connection, statement):
    for form in (statement, statement.vendor_wide):
        first, *_ = plan_of(connection, form)
        assert "(claim_number=?)" in first[3]
