"""Put the commit into what is built: hatchling calls this for each sdist and wheel.

A checkout asks git; an image, which has no history, is given ``BUILD_COMMIT``; an sdist has the file already.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMMIT_FILE = "commit.txt"
PLACES = {"sdist": f"src/clearlane/{COMMIT_FILE}", "wheel": f"clearlane/{COMMIT_FILE}"}


class CommitHook(BuildHookInterface):
    """Add the file with the commit, if it is known and the tree does not hold it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file to a temporary directory, and have it packed in its place."""
        if version == "editable" or (Path(self.root) / PLACES["sdist"]).exists():
            return
        commit = os.environ.get("BUILD_COMMIT") or self._commit_of_checkout()
        if not commit:
            return
        self._directory = tempfile.TemporaryDirectory()
        file = Path(self._directory.name) / COMMIT_FILE
        file.write_text(f"{commit}\n", encoding="ascii")
        build_data["force_include"][str(file)] = PLACES[self.target_name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary directory."""
        if directory := getattr(self, "_directory", None):
            directory.cleanup()

    def _commit_of_checkout(self) -> str:
        if not (Path(self.root) / ".git").exists():
            return ""
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=self.root, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()
