"""The packages whose mutants are run, and the tests that should notice them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MutatedPackage:
    """A part of the product, and its tests."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    data: tuple[str, ...] = ()
    """Folders of tables, which have no functions worth a mutant."""
    killed_min: float = 0.9


PACKAGES = {
    "x12": MutatedPackage(
        files=("src/clearlane/x12/**/*.py",), tests=("tests/x12",), data=("guides", "codes")
    ),
    "rules": MutatedPackage(files=("src/clearlane/claims/rules/**/*.py",), tests=("tests/claims",)),
    "lifecycle": MutatedPackage(
        files=("src/clearlane/claims/lifecycle.py", "src/clearlane/claims/batch_lifecycle.py"),
        tests=("tests/claims", "tests/pipeline"),
    ),
    "payments": MutatedPackage(
        files=("src/clearlane/payments/**/*.py",), tests=("tests/payments",)
    ),
    "pdf": MutatedPackage(files=("src/clearlane/pdf/**/*.py",), tests=("tests/pdf",)),
    "vault": MutatedPackage(files=("src/clearlane/store/vault/**/*.py",), tests=("tests/store",)),
}
