"""What a release must hold, and what is said of it before it is published.

Tests tools/release.
"""

import io
import json
import subprocess
import tarfile
import zipfile

import pytest

from tools.release import archives, build, sbom
from tools.release.build import Source

SOURCE = Source("1.2.3", "c0ffee" * 6 + "beef", 1_700_000_000)


def packed(directory, wheel_names, sdist_names):
    """A wheel and an sdist with empty files of these names."""
    wheel, sdist = directory / "some.whl", directory / "some.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in wheel_names:
            archive.writestr(name, "")
    with tarfile.open(sdist, "w:gz") as archive:
        for name in sdist_names:
            archive.addfile(tarfile.TarInfo(f"some-1.2.3/{name}"), io.BytesIO())
    return wheel, sdist


def in_full(names):
    return [f"{name}one.file" if name.endswith("/") else name for name in names]


def test_complete_archives_have_no_faults(tmp_path):
    wheel, sdist = packed(tmp_path, in_full(archives.NEEDED), archives.NEEDED_OF_SDIST)
    assert [*archives.archive_faults(wheel, sdist)] == []


def test_what_is_missing_is_named(tmp_path):
    wheel, sdist = packed(tmp_path, in_full(archives.NEEDED[1:]), archives.NEEDED_OF_SDIST[:-1])
    assert [*archives.archive_faults(wheel, sdist)] == [
        "some.whl lacks clearlane/py.typed",
        "some.tar.gz lacks src/clearlane/commit.txt",
    ]


@pytest.mark.parametrize(
    "name", ["tests/test_x.py", "clearlane/master.key", ".data/clearlane.db", "deploy/.env", "a/__pycache__/b.pyc"]
)  # fmt: skip
def test_what_must_not_be_passed_on_is_named(tmp_path, name):
    sdist_names = [*archives.NEEDED_OF_SDIST, "deploy/example.env", name]
    wheel, sdist = packed(tmp_path, in_full(archives.NEEDED), sdist_names)
    assert [*archives.archive_faults(wheel, sdist)] == [f"some.tar.gz holds {name}"]


def test_an_archive_has_a_greatest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "WHEEL_BYTES_MAX", 10)
    wheel, sdist = packed(tmp_path, in_full(archives.NEEDED), archives.NEEDED_OF_SDIST)
    (fault,) = archives.archive_faults(wheel, sdist)
    assert fault.startswith("some.whl has ")
    assert fault.endswith("more than 10")


def test_equal_wheels_have_equal_bills_of_materials():
    made = sbom.sbom_text(SOURCE, "ab" * 32)
    assert made == sbom.sbom_text(SOURCE, "ab" * 32)
    bill = json.loads(made)
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    names = {component["name"] for component in bill["components"]}
    assert {"sqlalchemy", "cryptography", "psycopg"} <= names
    for component in bill["components"]:
        assert component["licenses"][0]["expression"]
        assert component["externalReferences"][0]["hashes"][0]["content"]


def test_the_program_of_a_release_names_version_and_commit():
    assert SOURCE.version_text == "clearlane 1.2.3 (c0ffeec0ff)"


def test_what_is_left_to_do_before_a_release_is_named():
    faults = build.publishing_faults(Source("9.9.9", Source.checked_out().commit, 0))
    assert "CHANGELOG.md has no section '## 9.9.9 (YYYY-MM-DD)'" in faults
    assert "the commit has no tag v9.9.9" in faults


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return what commits files to an empty repository, which is the one that is released."""

    def git(*arguments):
        names = ("user.name=Fernhill", "user.email=release@fernhill.example")
        settings = [word for name in names for word in ("-c", name)]
        subprocess.run(["git", *settings, *arguments], cwd=tmp_path, check=True)

    def commit(**files):
        git("rm", "-rfq", "--ignore-unmatch", ".")
        for name, content in files.items():
            file = tmp_path / FILES[name]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        git("add", "--all")
        git("commit", "--quiet", "--message", "Release")
        git("tag", "--force", "v1.2.3")

    git("init", "--quiet")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    return commit


FILES = {"changes": "CHANGELOG.md", "migration": build.FIRST_MIGRATION}


def test_a_dated_tagged_commit_whose_schema_is_frozen_may_be_published(repository):
    repository(changes="## 1.2.3 (2026-12-01)\n")
    assert build.publishing_faults(SOURCE) == []


def test_a_migration_that_follows_the_declared_tables_is_not_published(repository):
    repository(changes="## 1.2.3 (2026-12-01)\n", migration="")
    (fault,) = build.publishing_faults(SOURCE)
    assert fault.endswith("python -m tools.freeze_schema")


def test_a_wheel_has_every_migration_with_its_statements(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ROOT", tmp_path)
    versions = tmp_path / "src" / archives.VERSIONS
    versions.mkdir(parents=True)
    for name in ("__init__.py", "r0001_initial.py", "r0001.sqlite.sql", "r0002_more.py"):
        (versions / name).touch()
    assert archives.migrations() == [
        f"{archives.VERSIONS}/{name}"
        for name in ("r0001.sqlite.sql", "r0001_initial.py", "r0002_more.py")
    ]
