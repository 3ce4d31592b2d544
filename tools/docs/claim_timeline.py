"""Write the timeline of a real claim into its page: ``python -m tools.docs.claim_timeline``.

A sample claim goes through a sandbox whose clock is advanced; what the installation then knows about it is put
between two marks of the page. A test does the same and compares.
"""

import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "what-happens-to-a-claim.md"
BLOCK = re.compile(
    r"(?<=<!-- timeline: written by `python -m tools.docs.claim_timeline` -->\n)```text\n.*?^```\n",
    re.DOTALL | re.MULTILINE,
)
CLAIM_ID = "FERNHILL-1"
COLUMNS_MAX = 92
ADVANCES = ("7d", "7d", "7d")
Run = Callable[..., str]
"""Runs a command of Clearlane beside the sandbox and returns what it printed."""


def record(run: Run, folder: Path) -> str:
    """Send a sample claim through a fresh sandbox; return its timeline as the page shows it."""
    run("sandbox", "clock", "--freeze")
    file = folder / "claim.json"
    file.write_text(run("claim", "sample", "--id", CLAIM_ID), encoding="utf-8")
    run("claim", "submit", str(file))
    (claim,) = json.loads(run("claim", "submit", str(file), "--json"))["ClaimResults"]
    for days in ADVANCES:
        run("sandbox", "advance", days)
    shown = json.loads(run("claim", "show", claim["RequestId"], "--json"))
    return "\n".join(["```text", *lines(shown["timeline"]), "```", ""])


def lines(timeline: list[dict[str, Any]]) -> Iterator[str]:
    """Return the entries of a timeline, days counted from the first, the days in sentences too."""
    first = date.fromisoformat(timeline[0]["at"][:10])

    def counted(found: re.Match[str]) -> str:
        return f"day {(date.fromisoformat(found[0]) - first).days}"

    for entry in timeline:
        day = (date.fromisoformat(entry["at"][:10]) - first).days
        yield f"day {day:<3} {DAY.sub(counted, entry['headline'])}"
        notes = [DAY.sub(counted, each) for each in entry["sentences"]]
        for each in entry["explanations"]:
            notes += [f"{each['code']}: {each['happened']}", f"To do: {each['todo']}"]
        for note in notes:
            yield from textwrap.wrap(
                note, COLUMNS_MAX, initial_indent=" " * 8, subsequent_indent=" " * 10
            )


DAY = re.compile(r"\d{4}-\d\d-\d\d")


def main() -> None:
    from tools.docs.recording import running_sandbox

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"

        def run(*words: str) -> str:
            command = [sys.executable, "-m", "clearlane", *words]
            if words[:2] != ("claim", "sample"):
                command += ["--data", str(data)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        with running_sandbox(data):
            block = record(run, Path(folder))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: block, text), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
