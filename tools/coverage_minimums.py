"""Hold the measured branch coverage against the minimums in pyproject.toml.

    python tools/coverage_minimums.py         # after a test run with --cov; exit status 1 below a minimum

The table `tool.clearlane.coverage` maps a path below src/clearlane to the percentage of lines and branches
that must be reached there. The longest path that a file begins with decides; "" is everything else.
"""

import json
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/clearlane/"
MISSING_SHOWN_MAX = 20


def main() -> int:
    """Print the coverage of each row and return 1 if one is below its minimum."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    minimums: dict[str, int] = project["tool"]["clearlane"]["coverage"]
    found: dict[str, list[tuple[str, dict]]] = defaultdict(list)
    for name, file in measure().items():
        path = name.replace("\\", "/").partition(SOURCE)[2]
        row = max((row for row in minimums if path.startswith(row)), key=len)
        found[row].append((path, file))
    below = 0
    for row, minimum in minimums.items():
        percent = percentage([file["summary"] for _, file in found[row]])
        verdict = "ok" if percent >= minimum else "TOO LOW"
        print(f"{percent:7.2f} %  minimum {minimum:3} %  {row or 'everything else':24} {verdict}")
        if percent < minimum:
            below += 1
            print("\n".join(list(gaps(found[row]))[:MISSING_SHOWN_MAX]))
        elif percent >= minimum + 1:
            print(f"           the minimum in pyproject.toml can rise to {int(percent)}")
    return 1 if below else 0


def measure() -> dict[str, dict]:
    """Return coverage's report of every file."""
    data = Coverage(config_file=str(ROOT / "pyproject.toml"))
    if list(ROOT.glob(".coverage.*")):
        data.combine()
    data.load()
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        data.json_report(outfile=report.name)
        return json.loads(Path(report.name).read_text(encoding="utf-8"))["files"]


def percentage(summaries: list[dict]) -> float:
    """Return covered lines and branches of all that there are, in percent."""
    there = sum(each["num_statements"] + each["num_branches"] for each in summaries)
    covered = sum(each["covered_lines"] + each["covered_branches"] for each in summaries)
    return 100 * covered / there if there else 0.0


def gaps(files: list[tuple[str, dict]]) -> list[str]:
    """Return one line for each file with something that was not reached."""
    return [
        f"           {path}: lines {file['missing_lines']}, branches {file['missing_branches']}"
        for path, file in files
        if file["missing_lines"] or file["missing_branches"]
    ]


if __name__ == "__main__":
    sys.exit(main())
