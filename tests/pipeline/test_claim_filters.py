"""A filter of claims is one row of a table, and v1, the console and the CLI offer every row.

Also tests `claims/claim_filters`, `kernel/list_filter`, `cli/claim/claim_listing` and `cli/claim/stored_claims`.
"""

import subprocess
import sys
from datetime import UTC, date, datetime

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from clearlane.api.v1.claims import FILTERS as PARAMETERS
from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.cli.claim.claim import app
from clearlane.cli.claim.claim import app as claim_app
from clearlane.cli.claim.claim_listing import columns_for
from clearlane.cli.command.filter_options import read_options
from clearlane.cli.command.output import csv_lines
from clearlane.cli.command.table import columns_of, fit
from clearlane.cli.delivery.batch import app as batch_app
from clearlane.cli.delivery.inbox import app as inbox_app
from clearlane.cli.payment.payment import app as payment_app
from clearlane.console.claims.claim_filters import FILTERS as OF_THE_CONSOLE
from clearlane.console.claims.claim_filters import read_filters
from clearlane.kernel.list_filter import FilterFault, FilterType, read_filter
from clearlane.pipeline.query.claim_filters import ClaimListRequest, missing_part, to_where
from clearlane.store.claims.claim_query import ClaimListRow, ClaimOrder, Listed, list_statement

NAMES = [one.name for one in CLAIM_FILTERS]
CHOSEN = [one for one in OF_THE_CONSOLE.values() if one.type is FilterType.CHOICE]


def test_every_filter_is_offered_by_v1_the_console_and_the_command():
    options = {option.name for option in get_command(app).commands["list"].params}
    assert [one.name for one in PARAMETERS] == NAMES
    assert options >= set(NAMES)
    assert [name for name in NAMES if name not in OF_THE_CONSOLE] == ["tab", "changed_after"]


def parameters(names):
    """Return what the statement of a list with these filters is given."""
    statement = list_statement(
        ClaimListRow._fields,
        frozenset(names),
        Listed.ACCEPTED,
        ClaimOrder.NEWEST_FIRST,
        is_first=True,
    )
    return set(statement.compiled_for("sqlite").parameter_order)


@pytest.mark.parametrize("one", CLAIM_FILTERS, ids=lambda one: one.name)
def test_every_filter_is_a_condition_of_the_store(one):
    special = {
        "vendor_claim_hashes": "claim_numbers",
        "file_id": "claim_numbers",
        "filing_alarm": "claim_numbers",
        "labels": "label",
    }
    name = special.get(one.condition, one.condition)
    assert name in parameters({name}) - parameters(set())


@pytest.mark.parametrize("one", CHOSEN, ids=lambda one: one.name)
def test_every_choice_has_its_words_in_the_console(one):
    for word in one.choices:
        form, faults = read_filters({one.name: word})
        assert (dict(form.given), faults) == ({one.name: word}, [])
    _, [fault] = read_filters({one.name: "nothing like it"})
    assert fault == f"{one.title}: One of {', '.join(one.choices)} is expected."


def test_values_become_what_is_stored():
    moment = datetime(2026, 1, 31, 8, 30, tzinfo=UTC)
    given = {"payer": "TST01", "service_from": date(2026, 1, 31), "changed_after": moment}
    now = datetime(2026, 2, 1, tzinfo=UTC)
    due = int(now.timestamp()) * 1_000_000
    where = to_where({**given, "amount_to": 0, "kind": None}, None, 1, now)
    assert to_where({"overdue": True}, None, 1, now) == {"awaited_by_before": due}
    assert to_where({"overdue": False}, None, 1, now) == {"not_due_before": due}
    assert where == {
        "payer_id": "TST01",
        "service_day_from": "2026-01-31",
        "total_cents_to": 0,
        "updated_at_after": int(moment.timestamp()) * 1_000_000,
    }
    assert ClaimListRequest(given=given, limit=1).chosen_order is ClaimOrder.BY_CHANGE
    assert ClaimListRequest(given={}, limit=1).chosen_order is ClaimOrder.NEWEST_FIRST


def test_a_patient_is_named_by_last_name_and_birth_date_together():
    assert missing_part({}) == ""
    assert missing_part({"patient_last_name": "ARDEN"}) == "patient_birth_date"
    form, [fault] = read_filters({"patient_last_name": "Arden"})
    assert (dict(form.given), "together" in fault) == ({}, True)


NEW_ROW = """
from clearlane.claims import claim_filters
from clearlane.kernel.list_filter import FilterType
row = claim_filters.ClaimFilter("invented", FilterType.TEXT, "predecessor_id", "Invented", "An invented filter.")
claim_filters.CLAIM_FILTERS = (*claim_filters.CLAIM_FILTERS, row)

from typer.testing import CliRunner
from clearlane.api.v1 import claims
from clearlane.cli.claim.claim import app
from clearlane.console.claims.claim_filters import read_filters
from clearlane.pipeline.query.claim_filters import to_where

print([one.help for one in claims.FILTERS if one.name == "invented"])
print("--invented" in CliRunner().invoke(app, ["list", "--help"], env={"COLUMNS": "120"}).output)
print(dict(read_filters({"invented": "C1"})[0].given), to_where({"invented": "C1"}, None, 1, None))
"""


def test_a_new_filter_is_one_row_of_the_table():
    done = subprocess.run(
        [sys.executable, "-c", NEW_ROW], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "['An invented filter.']",
        "True",
        "{'invented': 'C1'} {'predecessor_id': 'C1'}",
    ]


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (FilterType.TEXT, " TST01 ", "TST01"),
        (FilterType.AMOUNT, "$1,250.5", 125050),
        (FilterType.DAY, "2026-01-31", date(2026, 1, 31)),
        (FilterType.MOMENT, "2026-01-31T09:30:00 01:00", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        (FilterType.FLAG, "TRUE", True),
    ],
)
def test_texts_of_filters_are_read_alike_everywhere(type, text, value):
    assert read_filter(type, text) == value
    for wrong in ("", "\x00", "x" * 121):
        with pytest.raises(FilterFault, match="expected"):
            read_filter(type, wrong)


@pytest.mark.parametrize(
    ("app", "options", "named"),
    [
        (claim_app, ["--kind", "x", "--service-from", "1/2/26"], ["--kind: One of", "--service-from: A day"]),
        (claim_app, ["--kind", "x", "--patient-last-name", "Arden"], ["--kind: One of", "--patient-birth-date: A patient"]),
        (payment_app, ["--amount", "much", "--from", "x"], ["--amount: An amount", "--from: A day"]),
        (batch_app, ["--type", "x", "--state", "sent"], ["--type: One of", "--state: One of ready"]),
        (inbox_app, ["--type", "x", "--state", "x"], ["--type: One of", "--state: One of stored"]),
    ],
)  # fmt: skip
def test_every_option_that_cannot_be_read_is_named_at_once(app, options, named, tmp_path):
    done = CliRunner().invoke(app, ["list", *options, "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert [one for one in named if one not in done.output] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("denied", "denied"), ("denied,Paid,denied", ("denied", "paid"))],
)
def test_words_of_a_filter_may_be_several_in_the_command_as_in_v1(text, value):
    assert read_options(CLAIM_FILTERS, {"label": text}, several=True)["label"] == value
    (of_v1,) = [one for one in PARAMETERS if one.name == "label"]
    assert of_v1.read(text, None) == value


def test_a_number_with_a_comma_is_one_value():
    given = read_options(CLAIM_FILTERS, {"vendor_claim_id": "A,1"}, several=True)
    assert given["vendor_claim_id"] == "A,1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--payer", ",".join(f"P{number}" for number in range(21))], "20 values at most"),
        (
            ["--payer", ",".join("ABCDEFGHIJKLMNOPQRST"), "--label", "paid,denied,sent,held"],
            "more than 60 combinations",
        ),
    ],
)
def test_too_many_values_of_the_command_are_refused(given, said, tmp_path):
    found = CliRunner().invoke(claim_app, ["list", *given, "--data", str(tmp_path)])
    assert found.exit_code == 2
    assert said in found.stderr


def test_the_table_of_claim_list_fits_80_columns():
    moment = "2026-12-01 17:12"
    row = (
        "C194RM89C1VC9NYD15F", "SAMPLE-20261201", "partly_denied", "CO-50: not deemed necessary", "TST01", "999 overdue", "12345.00", "0.00", "25.00", "institutional",
        "111", "SITE-1", moment, moment,
    )  # fmt: skip
    layout = fit(columns_of(columns_for([{"site": "SITE-1"}])), [row], 80)
    lines = [*layout.head(), *layout.row(row)]
    assert max(map(len, lines)) <= 80
    assert "12345.00" in lines[-1]
    assert not layout.stacked


@pytest.mark.parametrize(("sites", "left_out"), [(("S1", "S1"), "site"), (("S1", "S2"), "changed")])
def test_the_reason_stays_in_a_narrow_table_and_the_only_site_goes_first(sites, left_out):
    moment = "2026-12-01 17:12"
    rows = [
        ("C194RM89C1VC9NYD15F", "M-3006", "denied", "CO-50: not deemed necessary", "TST01", "999", "100.00", "0.00", "25.00", "medical",
         "", site, moment, moment)
        for site in sites
    ]  # fmt: skip
    columns = columns_of(columns_for([{"site": site} for site in sites]))
    assert "reason" not in fit(columns, rows, 80).left_out
    dropped = (fit(columns, rows, width).left_out for width in range(200, 80, -1))
    assert next(filter(None, dropped)) == [left_out]


def test_no_cell_of_a_csv_begins_a_formula():
    record = {"claim_number": "C1", "vendor_claim_id": "=1+1", "paid": None}
    lines = list(csv_lines(record, [record]))
    assert lines == ["claim_number,vendor_claim_id,paid\r\n", "C1,'=1+1,\r\n"]
