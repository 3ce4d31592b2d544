"""Tables fit the terminal without cutting anything that a reader must copy.

Also tests `cli/command/terminal` and `cli/command/output`.
"""

import pytest
from typer.testing import CliRunner

from clearlane.cli.command import terminal
from clearlane.cli.command.output import (
    counted,
    plural,
    show_error,
    show_facts,
    show_list,
    show_message,
    show_table,
)
from clearlane.cli.command.root import app
from clearlane.cli.command.table import TableColumn, fit
from tests.cases import every_case

ID = "P0KT2F8QJ3M5N7R9V1W"
FILE = "CLEARLANE-837P-000000001.x12"
SENTENCE = "The sandbox payer is down, and the next attempt is in an hour."
COLUMNS = (
    TableColumn("payment", "payment_id"),
    TableColumn("state", "state", state=True),
    TableColumn("claims paid", "paid", right=True),
    TableColumn("file", "file", drop=1),
    TableColumn("method", "method", drop=2),
    TableColumn("fault", "fault", wrap=True),
)
ROW = (ID, "Posted", "1.00", FILE, "ACH", SENTENCE)


def lines(width, columns=COLUMNS, rows=(ROW,)):
    layout = fit(columns, rows, width)
    return [*layout.head(), *(line for row in rows for line in layout.row(row))], layout


@pytest.fixture(autouse=True)
def choices(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal.choose(reset=True)
    yield
    terminal.choose(reset=True)


@pytest.mark.parametrize("width", [None, 200, 120, 100, 80, 60, 40, 24])
def test_a_table_fits_and_cuts_nothing_of_what_it_shows(width):
    said, layout = lines(width)
    text = " ".join(" ".join(said).split())
    assert ID in text
    assert (FILE in text) == ("file" not in layout.left_out)
    for word in SENTENCE.split():
        assert word in text
    # A block of one value a line is as wide as its ids.
    wide = max(map(len, said))
    assert width is None or wide <= (width if not layout.stacked else max(width, len(FILE) + 13))


STREAMED = {
    # A row that is wider than those that decided the widths: id, action, and the lines it becomes.
    "as wide": ("A-1", "Paid", ["A-1       Sent   1.00  Paid"]),
    "an id of more than its column": ("A" * 12, "Paid", ["A" * 12, "          Sent   1.00  Paid"]),
    "a last text of more than the rest of the line": (
        "A-1", "ProcessedAsPrimary", ["A-1       Sent   1.00", f"{'ProcessedAsPrimary':>30}"],
    ),
    "a text of more than a whole line": ("A-1", "F" * 40, ["A-1       Sent   1.00", "F" * 40]),
}  # fmt: skip


@every_case("name", STREAMED)
def test_a_row_that_comes_later_and_is_wider_goes_on_in_the_next_line(name):
    columns = (
        TableColumn("id"), TableColumn("state"), TableColumn("paid", right=True), TableColumn("action"),
    )  # fmt: skip
    layout = fit(columns, [["12345678", "Sent", "1.00", "Paid"]], 30)
    id, action, expected = STREAMED[name]
    assert list(layout.row([id, "Sent", "1.00", action])) == expected


def test_a_value_too_long_for_its_label_has_a_line_of_its_own(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    show_facts([("a label of twenty one", "x" * 30), ("short", "y z")])
    assert capsys.readouterr().out.splitlines() == [
        "  a label of twenty one", "    " + "x" * 30, "  short                  y z",
    ]  # fmt: skip


def test_a_sentence_on_the_error_stream_is_wrapped_too(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    show_error(SENTENCE)
    said = capsys.readouterr().err.splitlines()
    assert " ".join(said) == SENTENCE
    assert max(map(len, said)) <= 40


@pytest.mark.parametrize(
    ("width", "left_out", "stacked"),
    [
        (None, [], False),
        (120, [], False),
        (95, ["method"], False),
        (90, ["file"], False),  # without the file there is room for the method again
        (60, [], True),
    ],
)
def test_columns_go_by_their_rank_and_are_named(width, left_out, stacked):
    _, layout = lines(width)
    assert (layout.stacked or sorted(layout.left_out) == left_out, layout.stacked) == (
        True,
        stacked,
    )


def test_amounts_stand_at_the_right_and_headings_break_before_a_column_goes():
    columns = (TableColumn("id"), TableColumn("claims paid", right=True))
    said, _ = lines(12, columns, [("A1", "9.00"), ("A2", "110.00")])
    assert said == ["ID  CLAIMS", "      PAID", "A1    9.00", "A2  110.00"]


def test_an_empty_list_says_so_and_a_list_says_how_many(capsys):
    show_list(COLUMNS, [], noun="payment", hint="Payers send them in 835 files.")
    assert capsys.readouterr().out == "No payments. Payers send them in 835 files.\n"
    record = {
        "payment_id": ID,
        "state": "Posted",
        "paid": "1.00",
        "file": None,
        "method": ["A", "B"],
    }
    show_list(COLUMNS, [{**record, "fault": True}] * 2, noun="payment", total="2.00 in all")
    *_, row, below = capsys.readouterr().out.splitlines()
    assert (row.split(), below) == (
        [ID, "Posted", "1.00", "A,", "B", "yes"],
        "2 payments, 2.00 in all.",
    )


def test_a_narrow_list_says_what_it_left_out(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show_table(COLUMNS, [ROW], noun="payment")
    assert capsys.readouterr().out.endswith("1 payment. Not shown: file (--wide shows all).\n")
    terminal.choose(wide=True)
    show_table(COLUMNS, [ROW], noun="payment")
    assert FILE in capsys.readouterr().out


def test_facts_are_wrapped_beside_their_labels(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    show_facts([("id", ID), ("what was found", SENTENCE), ("none", None)])
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"  id              {ID}"
    assert max(map(len, rest)) <= 42
    assert " ".join(" ".join(rest).split()) == f"what was found {SENTENCE} none"


@pytest.mark.parametrize(
    ("environment", "chosen", "expected"),
    [
        ({"TERM": "xterm"}, {}, True),
        ({"TERM": "dumb"}, {}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, {}, False),
        ({"TERM": "xterm"}, {"plain": True}, False),
    ],
)
def test_colors_are_for_terminals_that_want_them(monkeypatch, environment, chosen, expected):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    terminal.choose(**chosen)
    said, _ = lines(None)
    assert any("\x1b[" in line for line in said) is expected


def test_a_pipe_has_no_width_and_no_color(capsys):
    show_table(COLUMNS, [ROW])
    said = capsys.readouterr().out
    assert FILE in said
    assert "\x1b[" not in said


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_options_of_the_output_stand_anywhere(place):
    arguments = ["settings", "--json"]
    arguments[place:place] = ["--wide", "--no-color"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert terminal.output_width() is None
    assert not terminal.shows_color()


def test_numbers_have_their_nouns():
    assert [counted(1, "batch"), counted(25_000, "claim")] == ["1 batch", "25,000 claims"]
    assert [plural(one) for one in ("batch", "directory", "day")] == [
        "batches",
        "directories",
        "days",
    ]


def test_a_message_keeps_its_lines(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "24")
    show_message("The first of two long lines.\nThe second.")
    assert capsys.readouterr().out == "The first of two long\nlines.\nThe second.\n"
