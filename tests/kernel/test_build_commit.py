"""Version and commit: from the file of a build, else from the checkout, else the version alone."""

import pytest

from clearlane import __version__
from clearlane.kernel import build_commit

COMMIT = "3f2a91c07d" * 4


@pytest.fixture
def package(tmp_path):
    package = tmp_path / "src" / "clearlane"
    package.mkdir(parents=True)
    return package


def git_files(package, **files):
    git = package.parents[1] / ".git"
    for name, text in files.items():
        file = git / name.replace("__", "/").replace("_", "-")
        file = git / "HEAD" if name == "head" else file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_a_build_tells_its_commit_before_any_checkout(package):
    git_files(package, head="0" * 40)
    (package / "commit.txt").write_text(f"{COMMIT}\n")
    assert build_commit.read_commit(package) == COMMIT


def test_a_checkout_tells_the_commit_of_its_branch(package):
    git_files(package, head="ref: refs/heads/main\n", refs__heads__main=f"{COMMIT}\n")
    assert build_commit.read_commit(package) == COMMIT


def test_a_checkout_without_a_branch_tells_its_commit(package):
    git_files(package, head=f"{COMMIT}\n")
    assert build_commit.read_commit(package) == COMMIT


def test_a_branch_may_be_in_the_packed_references(package):
    packed = f"# pack-refs with: peeled\n{'1' * 40} refs/heads/mainland\n{COMMIT} refs/heads/main\n"
    git_files(package, head="ref: refs/heads/main\n", packed_refs=packed)
    assert build_commit.read_commit(package) == COMMIT


def test_a_branch_without_a_commit_tells_none(package):
    git_files(package, head="ref: refs/heads/main\n", packed_refs="# nothing\n")
    assert build_commit.read_commit(package) == ""


def test_without_build_and_checkout_there_is_no_commit(package):
    assert build_commit.read_commit(package) == ""


@pytest.mark.parametrize(
    ("commit", "text"), [(COMMIT, f"{__version__} (3f2a91c07d)"), ("", __version__)]
)
def test_the_version_is_shown_with_the_start_of_the_commit(monkeypatch, commit, text):
    monkeypatch.setattr(build_commit, "build_commit", lambda: commit)
    assert build_commit.version_text() == text
