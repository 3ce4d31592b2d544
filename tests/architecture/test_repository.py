"""What may and may not stand in the repository."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Built from parts, so that this file does not name what it forbids.
PACKAGE_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
    )
]
FOREIGN_ROOTS = ("work", "farm", "root")
NEEDED = [
    "README.md",
    "LICENSE",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "Makefile",
    ".ci/run",
    "requirements.txt",
    "requirements-dev.txt",
    "docs/dependencies.md",
    "docs/glossary.md",
]


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


def texts():
    for file in tracked_files():
        try:
            yield file.relative_to(ROOT), file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_no_file_names_a_package_host():
    assert not [str(name) for name, text in texts() if any(host in text for host in PACKAGE_HOSTS)]


def test_no_file_names_a_path_of_a_machine():
    pattern = re.compile(r"(?<![\w.])/(?:" + "|".join(FOREIGN_ROOTS) + r")/[a-z.]")
    assert not [str(name) for name, text in texts() if pattern.search(text)]


def test_the_files_a_newcomer_looks_for_are_there():
    assert not [name for name in NEEDED if not (ROOT / name).is_file()]


def test_every_dependency_has_its_reason_written_down():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["server"],
        *project["dependency-groups"]["dev"],
    ]
    names = {re.split(r"[\[<>=]", line)[0] for line in wanted}
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert not {name for name in names if f"`{name}`" not in page}


def test_ci_runs_the_commands_a_contributor_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make check" in script
    assert "make test" in script


def test_the_licence_is_apache_2():
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
