"""What may and may not be in the repository."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from tests.architecture.source import ROOT, imports_in, python_files
from tools.docs import licenses

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OWN = {"clearlane", "tests", "bench", "tools"}
# Imported by a program that is no test and that says how to install it.
NOT_INSTALLED = {"atheris"}
# Imported if it is there: the fixture of `clearlane.client.testing`.
FOR_THOSE_WHO_HAVE_IT = {"pytest"}
# Modules whose package has another name, or belongs to a declared one.
PACKAGES = {
    "argon2": "argon2-cffi",
    "markdown_it": "markdown-it-py",
    "opentelemetry": "opentelemetry-sdk",
    "mkdocs": "mkdocs-material",
    "pydantic_core": "pydantic",
    "_pytest": "pytest",
    "cyclonedx": "cyclonedx-python-lib",
    "yaml": "pyyaml",
}
# Dependencies that no module imports, and who uses them.
USED_BY_NAME = {
    "httptools": "uvicorn's protocol, which ours extends",
    "tzdata": "zoneinfo, where the system has no time zones",
}
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
    "SUPPORT.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "Makefile",
    ".ci/run",
    ".editorconfig",
    ".pre-commit-config.yaml",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-build.txt",
    "requirements-release.txt",
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


def declared(*groups: str) -> set[str]:
    """Return the packages that pyproject.toml declares: `base`, `server`, `otel`, `build`, `release`, `dev`."""
    groups_of = PROJECT["dependency-groups"]
    build, dev = groups_of["build"], groups_of["dev"]
    lines = {
        "base": PROJECT["project"]["dependencies"],
        "server": PROJECT["project"]["optional-dependencies"]["server"],
        "otel": PROJECT["project"]["optional-dependencies"]["otel"],
        "build": build,
        "release": groups_of["release"],
        "dev": [*build, *(line for line in dev if isinstance(line, str))],
    }
    return {re.split(r"[\[<>=]", line)[0] for group in groups for line in lines[group]}


def imported(*folders: str) -> set[str]:
    """Return the packages that the Python files of these folders import, without our own."""
    modules = set()
    for folder in folders:
        for file in python_files(ROOT / folder):
            for node in imports_in(file):
                if isinstance(node, ast.Import):
                    modules |= {alias.name.split(".")[0] for alias in node.names}
                elif node.module:
                    modules.add(node.module.split(".")[0])
    foreign = modules - set(sys.stdlib_module_names) - OWN - NOT_INSTALLED
    return {PACKAGES.get(module, module.replace("_", "-")) for module in foreign}


def test_every_dependency_has_its_reason_written_down():
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    assert rows == declared("base", "server", "dev", "release")


def test_every_license_is_one_that_is_allowed():
    found = {pin.name: licenses.license_of(pin.name) for pin in licenses.pins()}
    assert len(found) > 40
    assert not {name: text for name, text in found.items() if not licenses.is_allowed(text)}
    assert not licenses.is_allowed("MIT AND GPL-3.0-only")


def test_a_license_is_written_by_hand_only_if_its_package_states_none():
    assert licenses.IN_WORDS.keys() <= {pin.name for pin in licenses.pins()}
    stated = {name: metadata.metadata(name).get("License-Expression") for name in licenses.IN_WORDS}
    assert not {name: text for name, text in stated.items() if text}


def test_every_import_is_declared():
    assert imported("src") - FOR_THOSE_WHO_HAVE_IT <= declared("base", "server", "otel")
    everything = declared("base", "server", "dev", "release")
    assert imported("src", "tests", "bench", "tools") <= everything


def test_every_dependency_of_the_server_is_imported():
    assert declared("base", "server") - imported("src") == USED_BY_NAME.keys()


def test_a_declared_package_is_pinned():
    for file, groups in (
        ("requirements.txt", ("base", "server")),
        ("requirements-build.txt", ("build",)),
        ("requirements-release.txt", ("release",)),
        ("requirements-dev.txt", ("base", "server", "dev")),
    ):
        pins = set(
            re.findall(r"^([\w-]+)==", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        )
        assert declared(*groups) <= pins, file


def test_the_version_is_in_one_place():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).is_file()


def test_every_coverage_minimum_is_about_a_file_that_exists():
    for path in PROJECT["tool"]["clearlane"]["coverage"]:
        assert (ROOT / "src" / "clearlane" / path).exists(), path


def test_hooks_before_a_commit_fetch_nothing():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\S+)", hooks)) == {"local"}


def test_ci_runs_the_commands_a_contributor_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in ("make check", "make cov", "make test"):
        assert command in script


def test_the_license_is_apache_2():
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
