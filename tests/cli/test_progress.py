"""Progress is shown on a terminal alone, and only by a command that takes its time."""

import io

from clearlane.cli.command import progress as module
from clearlane.cli.command.progress import progress
from tests.patience import wait_until


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_screen(monkeypatch) -> Screen:
    """A terminal in place of standard error; set in the test, since pytest sets its own before each."""
    shown = Screen()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    return shown


def test_a_long_command_shows_what_is_done(monkeypatch):
    screen = a_screen(monkeypatch)
    monkeypatch.setattr(module, "SECONDS_WITHOUT_PROGRESS", 0.01)
    with progress("Submitting", 25_000) as show:
        show(5_000)
        wait_until(lambda: "5,000 of 25,000" in screen.getvalue())
        show(6_000, label="Waiting")
        wait_until(lambda: "Waiting" in screen.getvalue())


def test_a_short_command_shows_none(monkeypatch):
    screen = a_screen(monkeypatch)
    with progress("Submitting", 3) as show:
        show(3)
    assert "Submitting" not in screen.getvalue()


def test_a_pipe_gets_none(monkeypatch):
    monkeypatch.setattr(module, "SECONDS_WITHOUT_PROGRESS", 0)
    quiet = io.StringIO()
    monkeypatch.setattr("sys.stderr", quiet)
    with progress("Submitting") as show:
        show(1, 2, "more")
    assert quiet.getvalue() == ""
