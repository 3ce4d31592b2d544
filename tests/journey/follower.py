"""Follow a page to the letter: type every command of its ``sh`` blocks and compare the output with the page.

A ``text`` or ``json`` block straight after an ``sh`` block shows the output of its commands. Its lines are in the
true output in this order; ``...`` on a line of its own means any lines, within a line any text. What
differs from run to run (ids, days, times) is recognized, and an id that was shown is replaced in the commands that
follow by the one that was really given, as a reader replaces it. A command that ends otherwise than with 0 says
so: ``# exit status 1``.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
STATUS = re.compile(r"#.*exit status (\d)")
OWN_TERMINAL = re.compile(r"make |clearlane serve\b|clearlane worker$|git clone ")
DONE = "followed-to-here"
REST = "..."
INSTALLED = "$PWD/.venv/bin:$PATH"
"""How a page says where commands are found."""

# What differs from run to run. Those that are names are remembered and replaced in later commands.
NAMES = (
    r"^\d{1,6}(?= [A-Z][A-Za-z]+ | [a-z_]+ [A-Z])|"  # the id at the start of a row, before its state
    r"(?<=batch )\d{1,6}|(?<=File )\d{1,6}|CLEARLANE-837[PD]-\d{9}\.x12|[CEP]1[0-9A-Z]{17}|"
    r"SAMPLE-\d{14,20}|(?<![\w-])[\w-]{32}(?![\w-])|"
    r"(?<=Request )\d{9}\b|(?<=\"eligibility_request_id\":)\d{9}\b"
)
TIMES = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?|\b\d\d:\d\d:\d\d\b|(?<=127\.0\.0\.1:)\d+|\b\d+ bytes\b"
DIFFERS = re.compile(f"(?P<name>{NAMES})|(?P<time>{TIMES})")


@dataclass(frozen=True, slots=True)
class Step:
    """Commands to type, and the lines that they are shown to say."""

    commands: tuple[str, ...]
    shown: tuple[str, ...]


def steps(text: str) -> list[Step]:
    """The steps of a page. What runs in a terminal of its own (``make ...``, a node) is no step."""
    found: list[Step] = []
    end_of_commands = -1
    for fence in FENCE.finditer(text):
        indent, language, body = fence.groups()
        lines = tuple(line.removeprefix(indent) for line in body.splitlines())
        if language == "sh":
            if not any(OWN_TERMINAL.match(line) for line in lines):
                found.append(Step(tuple(commands(lines)), ()))
                end_of_commands = fence.end()
        elif language in {"text", "json"} and end_of_commands >= 0:
            if not text[end_of_commands : fence.start()].strip():
                found[-1] = Step(found[-1].commands, lines)
            end_of_commands = -1
    return found


def commands(lines: tuple[str, ...]) -> Iterator[str]:
    """Whole commands: a line that bash finds unfinished goes on in the next."""
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        command = "\n".join(waiting)
        if command.strip() and _finished(command):
            yield command
            waiting = []
    assert not "".join(waiting).strip(), f"an unfinished command: {waiting}"


def _finished(command: str) -> bool:
    if command.rstrip().endswith("\\"):
        return False
    if "<<" not in command and not re.search(r"[\"'({]", command):
        return True
    parsed = subprocess.run(
        ["bash", "-n"], input=command, capture_output=True, text=True, check=False
    )
    return parsed.returncode == 0 and not parsed.stderr


class Follower:
    """A newcomer at a terminal: one shell for all steps, in a directory like the checkout's."""

    programs = INSTALLED
    """Where commands are found, also after a page has said where."""

    def __init__(self, directory: Path, **replacements: str) -> None:
        link = directory / ".venv"
        if not link.exists():
            link.symlink_to(Path(sys.prefix), target_is_directory=True)
        self.directory = directory
        self.names: dict[str, str] = dict(replacements)
        self.said = ""
        bare = {n: text for n, text in os.environ.items() if not n.startswith("CLEARLANE_")}
        self._shell = subprocess.Popen(
            ["bash", "--norc"],
            cwd=directory,
            env={**bare, "COLUMNS": "80", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._input, self._output = self._shell.stdin, self._shell.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._input.close()
        self._output.close()
        self._shell.wait(30)

    def follow(self, text: str) -> str:
        """Take every step of a page and return the whole output."""
        output = []
        for step in steps(text):
            said = "".join(self.type(command) for command in step.commands)
            self.compare(step.shown, said)
            output.append(said)
        return "".join(output)

    def type(self, command: str) -> str:
        """One command, typed with the names that were really given; what it says."""
        command = self._given(command)
        self._input.write(f"{command}\nended=$?; echo; echo {DONE} $ended\n")
        self._input.flush()
        lines: list[str] = []
        for line in self._output:
            if line.startswith(DONE):
                break
            lines.append(line)
        else:
            raise AssertionError(f"the shell ended at: {command}\n{''.join(lines)}")
        said = "".join(lines).removesuffix("\n")
        wanted = STATUS.search(command)
        assert line.split()[1] == (wanted[1] if wanted else "0"), f"$ {command}\n{said}{line}"
        return said

    def _given(self, text: str) -> str:
        """A text with the names that were really given; a number is one only where it stands alone."""
        for shown, given in self.names.items():
            if shown.isdecimal():
                text = re.sub(rf"(?<![\w.-]){shown}(?![\w.-])", given, text)
            else:
                text = text.replace(shown, given)
        return text

    def compare(self, shown: tuple[str, ...], said: str) -> None:
        """Every line that is shown was said, in this order, but for what differs from run to run."""
        true = [_plain(line) for line in said.splitlines()]
        at, skipping = 0, False
        for line in map(_plain, shown):
            if not line:
                continue
            if line == REST:
                skipping = True
                continue
            found = next((n for n in range(at, len(true)) if self._same(line, true[n])), None)
            between = [other for other in true[at:found] if other]
            assert found is not None, f"not said: {line}\nsaid:\n{said}"
            assert skipping or not between, f"said, but not shown: {between}\nbefore: {line}"
            at, skipping = found + 1, False
        left = [line for line in true[at:] if line]
        assert not shown or skipping or not left, f"said, but not shown: {left}"

    def _same(self, shown: str, said: str) -> bool:
        """Whether two lines agree; if so, the names of the second are remembered for the first's."""
        shown = self._given(shown)
        pattern, names = _pattern(shown, set(self.names.values()))
        match = re.fullmatch(pattern, said)
        if match:
            self.names |= {
                name: given
                for name, given in zip(names, match.groups(), strict=True)
                if name != given
            }
        return match is not None


def _pattern(shown: str, given: set[str]) -> tuple[str, list[str]]:
    """A pattern for a line, and the names in it whose true ones its groups find; those given are known."""
    names: list[str] = []
    parts: list[str] = []
    at = 0
    for found in DIFFERS.finditer(shown):
        parts.append(_words(shown[at : found.start()]))
        if found["name"] in given:
            parts.append(re.escape(found["name"]))
        elif found["name"]:
            parts.append(f"({NAMES})")
            names.append(found["name"])
        else:
            parts.append(f"(?:{TIMES})")
        at = found.end()
    return "".join(parts) + _words(shown[at:]), names


def _words(text: str) -> str:
    return ".*".join(map(re.escape, text.split(REST)))


def _plain(line: str) -> str:
    """A line with single blanks, since columns are as wide as their content."""
    return re.sub(r"\s+", " ", line).strip()
