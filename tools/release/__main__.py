"""Build what is published, and prove that it works: ``python -m tools.release [--final] [--to DIRECTORY]``.

Everything is made from the commit that is checked out, in a clone of its own, twice; the two results must be equal
byte for byte. Without ``--final`` it is a rehearsal: the same steps, whatever the changelog and the tags say.
"""

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from tools.release import frozen_databases
from tools.release.archives import archive_faults
from tools.release.build import CLONES, ROOT, Source, build_in_clone, publishing_faults
from tools.release.first_claim import install_wheel, run_alone, use_installation
from tools.release.programs import RELEASE_BIN, run
from tools.release.sbom import sbom_text


def main() -> None:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--final", action="store_true", help="refuse what is not to be published")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="where the files go")
    given = parser.parse_args()
    source = Source.checked_out()
    show(f"Clearlane {source.version}, commit {source.commit[:10]}")
    faults = publishing_faults(source)
    if faults and given.final:
        stop("not to be published", faults)
    with tempfile.TemporaryDirectory(prefix="clearlane-release-") as made:
        release(source, Path(made), given.to)
    show(*(f"Before the release: {fault}" for fault in faults))


def release(source: Source, place: Path, target: Path) -> None:
    """Make the files in a scratch directory, and copy them to their place if all is well."""
    builds = [build_in_clone(source, place / name) for name in CLONES]
    wheel, sdist = builds[0]
    for one, other in zip(*builds, strict=True):
        if digest(one) != digest(other):
            stop("the two builds differ", [one.name])
    show(f"built twice, equal: {wheel.name}, {sdist.name}")
    faults = [*archive_faults(wheel, sdist)]
    if faults:
        stop("the archives are not as they must be", faults)
    run(RELEASE_BIN / "twine", "check", "--strict", wheel, sdist)
    show(f"checked: {wheel.stat().st_size:,} and {sdist.stat().st_size:,} bytes")
    sbom = place / f"clearlane-{source.version}.cdx.json"
    sbom.write_text(sbom_text(source, digest(wheel)), encoding="utf-8")
    run(RELEASE_BIN / "python", "-m", "tools.release.check_sbom", sbom, cwd=ROOT)
    show(f"described: {sbom.name}")
    binaries = install_wheel(wheel, place / "installed")
    show(*use_installation(binaries, place / "used", source.version_text))
    show(run_alone(wheel, source.version_text))
    databases = frozen_databases.make(binaries, place / "databases", source.version)
    show(*(f"kept: {file.name} ({file.stat().st_size:,} bytes)" for file in databases))
    publish([wheel, sdist, sbom, *databases], target)


def publish(files: list[Path], target: Path) -> None:
    """Copy the files, with their sums beside them."""
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, target / file.name)
    sums = "".join(f"{digest(file)}  {file.name}\n" for file in files)
    (target / "SHA256SUMS").write_text(sums, encoding="ascii")
    show(f"written: {len(files)} files and SHA256SUMS in {target}")


def digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def show(*lines: str) -> None:
    for line in lines:
        print(f"release: {line}", flush=True)


def stop(what: str, faults: list[str]) -> None:
    sys.exit("\n".join([f"release: {what}:", *(f"  {fault}" for fault in faults)]))


if __name__ == "__main__":
    main()
