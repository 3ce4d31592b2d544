"""The licenses of the packages that the service runs on: the page, and the list of those that are allowed.

Read from what the installed packages say about themselves; a package that says it in words of its own has a row here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from tools.docs.markdown import grid

REQUIREMENTS = Path(__file__).parents[2] / "requirements.txt"
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
VIA = re.compile(r"^    # +(?:via )?([\w.-]+)", re.MULTILINE)
OWN = "clearlane"

# What these state in words (a classifier, a sentence), as an expression of SPDX.
IN_WORDS = {
    "aiosqlite": "MIT",
    "asyncssh": "EPL-2.0 OR GPL-2.0-or-later",
    "certifi": "MPL-2.0",
    "charset-normalizer": "MIT",
    "colorama": "BSD-3-Clause",
    "dbos": "MIT",
    "defusedxml": "PSF-2.0",
    "h11": "MIT",
    "httpx": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "markdown-it-py": "MIT",
    "mdurl": "MIT",
    "pyyaml": "MIT",
    "reportlab": "BSD-3-Clause",
    "rfc3161-client": "Apache-2.0",
    "rich": "MIT",
    "segno": "BSD-3-Clause",
    "shellingham": "ISC",
    "tzdata": "Apache-2.0",
    "uvloop": "MIT OR Apache-2.0",
}
# A package may come under these. The last three bind who changes the package itself; Clearlane changes none.
ALLOWED = {
    "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0",
    "EPL-2.0", "LGPL-3.0-only", "MPL-2.0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pin:
    """A package with the one version that is tested, the hashes of its files, and who needs it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]


def pins(requirements: Path = REQUIREMENTS) -> Iterator[Pin]:
    """Return the packages of a requirements file."""
    for entry in re.split(r"\n(?=[\w.-]+==)", requirements.read_text(encoding="utf-8")):
        if found := PIN.match(entry):
            needed_by = tuple(name for name in VIA.findall(entry) if name != "via")
            yield Pin(found[1], found[2], tuple(HASH.findall(entry)), needed_by)


def license_of(name: str) -> str:
    """Return a package's license as an expression of SPDX."""
    return IN_WORDS.get(name) or str(metadata.metadata(name)["License-Expression"])


def is_allowed(expression: str) -> bool:
    """Return whether one may use a package under an expression: one side of OR is enough, both sides of AND are needed."""
    return any(
        all(part.strip() in ALLOWED for part in choice.split(" AND "))
        for choice in expression.split(" OR ")
    )


def licenses_page() -> Iterator[str]:
    """Write the license of every package of `clearlane[server]`."""
    yield "# Licenses"
    yield ""
    yield (
        "Clearlane is under the [Apache License 2.0](../../LICENSE). It contains no code of others: `pip` installs the "
        "packages below beside it, each under its own license. [Why each is needed](../dependencies.md). The packages that "
        "only tests and documentation use are not passed on."
    )
    yield ""
    rows = [
        [
            f"`{pin.name}`",
            license_of(pin.name),
            "Clearlane" if OWN in pin.needed_by else ", ".join(f"`{n}`" for n in pin.needed_by),
        ]
        for pin in pins()
    ]
    yield from grid(["Package", "License", "Needed by"], rows)
    yield ""
    yield (
        "The wheel also contains the reference viewer `@scalar/api-reference` (MIT) and the theme of the documentation, "
        "Material for MkDocs (MIT). Pictures and fonts of PDF files come with `reportlab` (Bitstream Vera)."
    )
    yield ""
    yield (
        "`psycopg` (LGPL), `certifi` (MPL) and `asyncssh` (EPL) are used as they are, as packages of their own that anyone can "
        "replace. Their licenses bind those who change them."
    )
