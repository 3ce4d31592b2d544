"""axe-core, which finds what keeps people from using a page: fetched by npm, once, into a directory git ignores."""

import shutil
import subprocess
import tarfile
from pathlib import Path

VERSION = "4.10.2"
KEPT = Path(__file__).parents[2] / ".tools" / f"axe-core-{VERSION}.js"
HOW = "no axe-core: npm fetches it where there is npm and a network"
FETCH_SECONDS_MAX = 60
RULES = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']"
# What is fine is neither described nor brought here, which takes longer than to look at the page.
RUN = f"""axe.run({{runOnly: {RULES}, resultTypes: ['violations']}}).then(
    found => found.violations.map(one => one.id + ': ' + one.nodes[0].html)
)"""


def source() -> str | None:
    """The script; None where it is not here and cannot be fetched."""
    if not KEPT.exists() and not _fetch():
        return None
    return KEPT.read_text(encoding="utf-8")


async def violations(page, script: str) -> list[str]:
    """What axe finds on a page, each with the first element it concerns."""
    await page.evaluate(script)  # not a script of the page, so its policy does not forbid it
    return await violations_again(page)


async def violations_again(page) -> list[str]:
    """What axe finds on the same page when it looks otherwise."""
    return await page.evaluate(RUN)


def _fetch() -> bool:
    npm = shutil.which("npm")
    if npm is None:
        return False
    KEPT.parent.mkdir(exist_ok=True)
    command = [npm, "pack", f"axe-core@{VERSION}", "--pack-destination", str(KEPT.parent)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=FETCH_SECONDS_MAX)
    except (subprocess.SubprocessError, OSError):
        return False
    with tarfile.open(KEPT.parent / f"axe-core-{VERSION}.tgz") as package:
        file = package.extractfile("package/axe.min.js")
        assert file is not None
        KEPT.write_bytes(file.read())
    return True
