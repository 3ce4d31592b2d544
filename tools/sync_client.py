"""Write the client for threads from the client for an event loop: each ``client/async_*.py`` as ``client/sync_*.py``.

Waiting is left out, names lose their ``Async``, and what the two libraries name differently is a row of ``NAMES``.
``make format`` runs it; a test holds that the files are what it writes.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

CLIENT = Path(__file__).parents[1] / "src" / "clearlane" / "client"
WAITING = frozenset({"async", "await"})
NAMES = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "asyncio": "time",
    "handle_async_request": "handle_request",
}
"""Names that differ by more than their beginning."""
PHRASES = (
    (re.compile(r"\b(?:async |await )"), ""),
    (re.compile(r"\bAsync(?=[A-Z])"), ""),
    (re.compile(r"\basync_"), "sync_"),
    (re.compile("for an event loop"), "for threads"),
)
"""What is replaced in names, texts and comments."""
REPAIRS = ("check", "--fix-only", "--unsafe-fixes", "--select=I,F401,UP028")
"""Sort the imports, remove those that only waiting needs, and yield from what is not waited for."""


def targets() -> dict[Path, Path]:
    """Return the file that is written from each file of the client for an event loop."""
    sources = sorted(CLIENT.glob("async_*.py"))
    return {source: source.with_name(source.name.removeprefix("a")) for source in sources}


def text(source: Path) -> str:
    """Return the whole file that is written from a source."""
    head = f"# Written by tools/sync_client.py from {source.name}: change that, and run `make format`.\n"
    return _ruff(_ruff(head + _without_waiting(source), *REPAIRS), "format")


def _without_waiting(source: Path) -> str:
    """Return a source with the waiting left out, not yet formatted."""
    code = source.read_text(encoding="utf-8")
    # A type that is waited for is the type itself; types in brackets are not nested deeper.
    code = re.sub(r"\bAwaitable\[(\w+)\]", r"\1", code)
    lines = code.splitlines(keepends=True)
    # From the end, so that the places of what comes before stay true.
    for token in reversed([*tokenize.generate_tokens(io.StringIO(code).readline)]):
        (row, start), (last, end) = token.start, token.end
        if token.type == tokenize.NAME and token.string in WAITING:
            new, end = "", end + 1
        else:
            new = NAMES.get(token.string, token.string)
            for phrase, other in PHRASES:
                new = phrase.sub(other, new)
        if new != token.string:
            lines[row - 1 : last] = [lines[row - 1][:start] + new + lines[last - 1][end:]]
    return "".join(lines)


def _ruff(code: str, *arguments: str) -> str:
    """Return code as ruff leaves it with the settings of the project."""
    program = Path(sys.executable).with_name("ruff")
    place = f"--stdin-filename={CLIENT / 'sync_client.py'}"
    command = [str(program), *arguments, "-q", place, "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    for source, target in targets().items():
        target.write_text(text(source), encoding="utf-8")
