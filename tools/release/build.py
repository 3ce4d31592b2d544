"""Build sdist and wheel from a commit, in a clone of its own, so that equal commits give equal files."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.release.programs import ROOT, run

__all__ = ["CLONES", "ROOT", "Source", "build_in_clone", "publishing_faults"]

# Two clones whose paths have different lengths: a path in a file would show.
CLONES = ("one", "another-one")
# Creates the tables as they are declared; tools/freeze_schema puts another one in its place.
FIRST_MIGRATION = "src/clearlane/store/database/migrations/versions/v0001_initial.py"
VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """The commit that is released."""

    version: str
    commit: str
    seconds: int
    """When it was committed; the time of every file in the archives."""

    @classmethod
    def checked_out(cls) -> "Source":
        """Return what is checked out here."""
        commit, seconds = run(
            "git", "show", "--no-patch", "--format=%H %ct", "HEAD", cwd=ROOT
        ).split()
        text = run("git", "show", "HEAD:src/clearlane/__init__.py", cwd=ROOT)
        found = VERSION.search(text)
        if found is None:
            sys.exit("release: src/clearlane/__init__.py names no version")
        return cls(found[1], commit, int(seconds))

    @property
    def version_text(self) -> str:
        """What the built program must answer to --version."""
        return f"clearlane {self.version} ({self.commit[:10]})"


def build_in_clone(source: Source, clone: Path) -> tuple[Path, Path]:
    """Return wheel and sdist of a commit. The wheel is built from the sdist's own files."""
    run("git", "clone", "--quiet", "--no-local", ROOT, clone)
    run("git", "checkout", "--quiet", source.commit, cwd=clone)
    env = {
        "SOURCE_DATE_EPOCH": str(source.seconds),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(clone / "src"),  # not the checkout, which the environment is linked to
    }
    for module in ("tools.docs.viewer", "tools.docs.site"):  # what is in the package and not in git
        run(sys.executable, "-m", module, cwd=clone, env=env)
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", cwd=clone, env=env)
    (sdist,) = (clone / "dist").glob("*.tar.gz")
    run("tar", "-xf", sdist, cwd=clone / "dist")
    unpacked = clone / "dist" / sdist.name.removesuffix(".tar.gz")
    target = clone / "dist"
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        target,
        cwd=unpacked,
        env=env,
    )
    (wheel,) = target.glob("*.whl")
    return wheel, sdist


def publishing_faults(source: Source) -> list[str]:
    """Return what must still be done before this commit is published."""
    changes = run("git", "show", "HEAD:CHANGELOG.md", cwd=ROOT)
    dated = re.compile(rf"^## {re.escape(source.version)} \(\d{{4}}-\d\d-\d\d\)$", re.MULTILINE)
    tags = run("git", "tag", "--points-at", "HEAD", cwd=ROOT).split()
    unfrozen = run("git", "ls-tree", "HEAD", "--", FIRST_MIGRATION, cwd=ROOT)
    checks = {
        "there are changes that are not committed": not run(
            "git", "status", "--porcelain", cwd=ROOT
        ),
        f"CHANGELOG.md has no section '## {source.version} (YYYY-MM-DD)'": bool(
            dated.search(changes)
        ),
        f"the commit has no tag v{source.version}": f"v{source.version}" in tags,
        "the first migration still follows the declared tables: python -m tools.freeze_schema": (
            not unfrozen
        ),
    }
    return [fault for fault, holds in checks.items() if not holds]
