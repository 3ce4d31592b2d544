"""Which version and commit this code is.

The version is ``clearlane.__version__``. The commit is in a file that the build puts into the package
(``tools/build_hook.py``), or in the git directory of a checkout.
"""

from contextlib import suppress
from functools import cache
from pathlib import Path

from clearlane import __version__

PACKAGE = Path(__file__).parents[1]
COMMIT_FILE = "commit.txt"
SHORT_CHARS = 10


@cache
def build_commit() -> str:
    """Return the full commit of this code, or an empty string if nothing tells it."""
    return read_commit(PACKAGE)


def read_commit(package: Path) -> str:
    """Return the commit of a package directory: from its file, else from the checkout it is in."""
    with suppress(OSError):
        return (package / COMMIT_FILE).read_text(encoding="ascii").strip()
    with suppress(OSError):
        return _checked_out(package.parents[1] / ".git")
    return ""


def version_text() -> str:
    """Return the version with the first characters of the commit: ``0.1.0 (3f2a91c07d)``."""
    commit = build_commit()
    return f"{__version__} ({commit[:SHORT_CHARS]})" if commit else __version__


def _checked_out(git: Path) -> str:
    """Return the commit that is checked out, without starting git."""
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref: "):
        return head
    reference = head.removeprefix("ref: ")
    with suppress(OSError):
        return (git / reference).read_text(encoding="ascii").strip()
    packed = (git / "packed-refs").read_text(encoding="utf-8").splitlines()
    return next((line.split()[0] for line in packed if line.endswith(f" {reference}")), "")
