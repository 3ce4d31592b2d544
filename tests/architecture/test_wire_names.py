"""The shapes of an API version stay in its package: nothing else stores or passes its JSON."""

import ast
from collections.abc import Iterator
from pathlib import Path

from clearlane.api.v3 import code_names
from clearlane.api.v3.status_rows import ClaimStatusJson

SOURCE = Path(__file__).resolve().parents[2] / "src" / "clearlane"
FILES = sorted(SOURCE.rglob("*.py"))
VERSION = SOURCE / "api" / "v3"
# The one module that mounts versions: a second API is a folder beside v3 and a row there.
MOUNTS = SOURCE / "api" / "versions.py"
# The vendor's side of V3: the library, and the commands that use it.
CALLERS = {
    "cli/claim_client.py",
    "cli/documents.py",
    "cli/eligibility.py",
    "cli/eligibility_client.py",
    "cli/listen.py",
    "cli/output.py",
}
# Names of V3's answers that are names of something else as well.
ALSO_ELSEWHERE = {
    "Adjustments": "a claim field",
    "CreateDate": "a field of eligibility responses",
    "LastUpdateDate": "a field of eligibility responses",
    "PayerName": "a claim field",
    "VendorClaimId": "the claim in the output of `clearlane claim check`",
    "VendorId": "the type of a vendor's id",
    "VendorSiteId": "a query parameter",
}


def is_of_v3(file: Path) -> bool:
    place = file.relative_to(SOURCE)
    return VERSION in file.parents or place.parts[0] == "client" or str(place) in CALLERS


def names_in(file: Path) -> Iterator[tuple[int, str]]:
    """Yield every text, attribute, keyword and variable of a module, docstrings apart."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Constant(value=str(text)):
                yield node.lineno, text
            case ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.value.lineno, name
            case ast.Name(id=name):
                yield node.lineno, name


def places_of(names: set[str]) -> list[str]:
    return [
        f"{file.relative_to(SOURCE)}:{line} {name}"
        for file in FILES
        if not is_of_v3(file)
        for line, name in names_in(file)
        if name in names
    ]


def test_only_the_table_that_mounts_versions_imports_one():
    found = []
    for file in FILES:
        if VERSION in file.parents or file == MOUNTS:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            found += [
                f"{file.relative_to(SOURCE)}:{node.lineno}"
                for name in names
                if name.startswith("clearlane.api.v3")
            ]
    assert not found


def test_names_of_status_rows_are_in_the_version_alone():
    assert places_of(set(ClaimStatusJson.__struct_fields__) - set(ALSO_ELSEWHERE)) == []


def test_names_of_payer_actions_and_documents_are_in_the_version_alone():
    names = {
        *code_names.STATUS_ACTIONS.values(),
        *code_names.PAYMENT_ACTIONS.values(),
        *code_names.DOCUMENT_TYPES.values(),
    }
    ours = {"", "Denied", "Finalized", "ClaimStatus"}  # a word, and the name of our own class
    assert places_of(names - ours) == []
