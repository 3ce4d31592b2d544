"""What wheel and sdist must hold, must not hold, and may weigh."""

import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.release.programs import ROOT

WHEEL_BYTES_MAX = 12 * 1024**2
SDIST_BYTES_MAX = 14 * 1024**2
VERSIONS = "clearlane/store/database/migrations/versions"


def migrations() -> list[str]:
    """Return the names of all migrations, and of the statements that the first one runs."""
    return sorted(f"{VERSIONS}/{file.name}" for file in (ROOT / "src" / VERSIONS).glob("[rv]0*"))


# One file of each sort that is read at run time.
NEEDED = (
    "clearlane/py.typed",
    "clearlane/commit.txt",
    "clearlane/api/pages/documents/docs/index.md",
    "clearlane/api/pages/site/index.html",
    "clearlane/api/pages/viewer/",
    "clearlane/api/pages/templates/",
    "clearlane/console/pages/",
    *migrations(),
)
NEEDED_OF_SDIST = (
    "pyproject.toml",
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "tools/build_hook.py",
    "src/clearlane/commit.txt",
)
# What a working directory may hold and a download must not: tests, keys, databases, caches.
FORBIDDEN = re.compile(
    r"(^|/)(tests|bench|scratch|\.data|\.venv|\.git|__pycache__)/|(?<!/authority)\.(key|pem|db|db-wal|pyc|env)$"
)
# In the sdist alone: the example of an environment file has no secret.
ALLOWED = re.compile(r"deploy/example\.env$")


def archive_faults(wheel: Path, sdist: Path) -> Iterator[str]:
    """Return what is wrong with the two archives."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    yield from _faults(wheel, names, NEEDED, WHEEL_BYTES_MAX)
    with tarfile.open(sdist) as source:
        # Without the first directory, which is named after the archive.
        names = [name.partition("/")[2] for name in source.getnames()]
    yield from _faults(sdist, names, NEEDED_OF_SDIST, SDIST_BYTES_MAX)


def _faults(file: Path, names: list[str], needed: tuple[str, ...], bytes_max: int) -> Iterator[str]:
    for wanted in needed:
        if not any(
            name == wanted or (wanted.endswith("/") and name.startswith(wanted)) for name in names
        ):
            yield f"{file.name} lacks {wanted}"
    for name in names:
        if FORBIDDEN.search(name) and not ALLOWED.search(name):
            yield f"{file.name} holds {name}"
    if (size := file.stat().st_size) > bytes_max:
        yield f"{file.name} has {size:,} bytes, more than {bytes_max:,}"
