"""Put the reference's viewer into the package: ``python -m tools.docs.viewer``.

Fetches one pinned npm package with ``npm pack``, compares its hash, and keeps the one file that is served.
None of it is committed. If npm is missing the service shows its own pages, and this says so.
"""

import base64
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from clearlane.api.pages.reference_viewer import BUILT

PACKAGE = "@scalar/api-reference"
VERSION = "1.72.1"
INTEGRITY = "sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow=="
PROGRAM = "package/dist/browser/standalone.js"
# The package names its license and carries no text of it, so the file beside the program does.
NOTICE = f"""viewer.js is {PACKAGE} {VERSION} by Scalar (github.com/scalar/scalar), unchanged but compressed.

The MIT License. Copyright (c) Scalar.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and
to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of
the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO
THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
IN THE SOFTWARE.
"""
FETCH_SECONDS_MAX = 300


class WrongPackage(Exception):
    """What was fetched is not the package that is pinned here."""


def build(target: Path = BUILT) -> Path:
    """Fetch the package and write its program, compressed, with a notice of its license."""
    with tempfile.TemporaryDirectory() as folder:
        archive = fetch(Path(folder))
        with tarfile.open(archive) as package:
            program = package.extractfile(PROGRAM)
            if program is None:
                raise WrongPackage(f"{PACKAGE} {VERSION} holds no {PROGRAM}.")
            content = program.read()
    target.parent.mkdir(parents=True, exist_ok=True)
    # Without a name and a time in it, the same program makes the same file.
    target.write_bytes(gzip.compress(content, 9, mtime=0))
    (target.parent / "NOTICE").write_text(NOTICE, encoding="utf-8")
    return target


def fetch(folder: Path) -> Path:
    """Return the package's archive, whose hash is the pinned one."""
    command = ["npm", "pack", f"{PACKAGE}@{VERSION}", "--json", "--pack-destination", str(folder)]
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=FETCH_SECONDS_MAX
    )
    archive = folder / json.loads(done.stdout)[0]["filename"]
    check(archive.read_bytes())
    return archive


def check(content: bytes) -> None:
    """Raise if a package is not the pinned one."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != INTEGRITY:
        raise WrongPackage(f"{PACKAGE} {VERSION} has the hash {found}, not {INTEGRITY}.")


def main() -> None:
    if BUILT.is_file() and "--again" not in sys.argv:
        print(f"kept {BUILT.name}: the reference viewer is built")
        return
    if shutil.which("npm") is None:
        print("npm is not installed: /reference stays the service's own pages")
        return
    try:
        target = build()
    except (subprocess.SubprocessError, OSError, ValueError, KeyError) as fault:
        sys.exit(f"{PACKAGE} {VERSION} cannot be fetched ({type(fault).__name__}); try again.")
    except WrongPackage as fault:
        sys.exit(str(fault))
    print(f"wrote {target.name}: {target.stat().st_size:,} bytes of {PACKAGE} {VERSION}")


if __name__ == "__main__":
    main()
