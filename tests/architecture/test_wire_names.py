"""The shapes of an API version stay in its package, and kinds of claim in their tables: nothing else names them."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from clearlane.api.v3 import code_names
from clearlane.api.v3.benefits import benefit_names, json_types
from clearlane.api.v3.status_rows import ClaimStatusJson
from clearlane.claims.fields import ClaimPart, fields_of, nested_parts
from clearlane.claims.forms import FORMS
from clearlane.claims.kinds import ClaimKind
from clearlane.eligibility import fields
from clearlane.eligibility.json_struct import JsonStruct
from tests.architecture.source import SOURCE, nodes_of, python_files

FILES = python_files(SOURCE)
VERSION = SOURCE / "api" / "v3"
# The one module that mounts versions: a second API is a folder beside v3 and a row there.
MOUNTS = SOURCE / "api" / "versions.py"
# The vendor's side of V3: the library, and the commands that use it.
CALLERS = {
    "cli/claim/claim_client.py",
    "cli/claim/documents.py",
    "cli/eligibility/eligibility.py",
    "cli/eligibility/eligibility_answer.py",
    "cli/eligibility/eligibility_client.py",
    "cli/claim/listen.py",
    "cli/command/output.py",
}
# Names of V3's answers that are names of something else as well.
ALSO_ELSEWHERE = {
    "Adjustments": "a claim field, and a heading",
    "DocumentId": "the type of a document's id",
    "LongTermCare": "a service type that a request may name",
    "MiddleName": "a part of claim fields",
    "PayerName": "a claim field",
    "PlaceOfService": "a claim field",
    "RequestId": "the type of a claim's number",
    "ResponseType": "a class of the sandbox",
    "VendorClaimId": "the claim in the output of `clearlane claim check`",
    "VendorId": "the type of a vendor's id",
    "VendorSiteId": "a query parameter",
}


# The eligibility request is V3's own, as claims are: its fields have V3's names through the whole tree.
REQUEST_STRUCTS = [
    one
    for one in vars(fields).values()
    if isinstance(one, type) and issubclass(one, JsonStruct) and one is not JsonStruct
]
# A name of one word, such as State, is a word of much else.
SEVERAL_WORDS = re.compile(r"[A-Z]+[a-z]+[A-Z]\w*")


# What knows the fields of claims: they are the contract of the form.
KNOW_CLAIM_FIELDS = (
    "claims/forms/",
    "claims/fields.py",
    "claims/write/placements_837",
    # People correct a claim by the names and boxes of its form.
    "console/claims/correction_form.py",
)


def is_of_v3(file: Path) -> bool:
    place = file.relative_to(SOURCE)
    return VERSION in file.parents or place.parts[0] == "client" or str(place) in CALLERS


@cache
def names_in(file: Path) -> tuple[tuple[int, str], ...]:
    """Return every text, attribute, keyword and variable of a module, docstrings apart."""
    return tuple(_names_in(nodes_of(file)))


def _names_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.value.lineno, node.arg


def places_of(names: set[str]) -> list[str]:
    return [
        f"{file.relative_to(SOURCE)}:{line} {name}"
        for file in FILES
        if not is_of_v3(file)
        for line, name in names_in(file)
        if name in names
    ]


def several_words(names: set[str]) -> set[str]:
    return {name for name in names if SEVERAL_WORDS.fullmatch(name)} - set(ALSO_ELSEWHERE)


def test_only_the_table_that_mounts_versions_imports_one():
    found = []
    for file in FILES:
        if VERSION in file.parents or file == MOUNTS:
            continue
        for node in nodes_of(file):
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


def test_names_of_eligibility_responses_are_in_the_version_alone():
    structs = [one for one in vars(json_types).values() if isinstance(one, type)]
    names = {
        name
        for struct in structs
        if issubclass(struct, JsonStruct)
        for name in struct.__struct_fields__
    }
    asked = {name for struct in REQUEST_STRUCTS for name in struct.__struct_fields__}
    assert len(names - asked) > 100
    assert places_of(several_words(names - asked)) == []


def test_names_of_benefit_codes_are_in_the_version_alone():
    names = {
        name
        for list in ("benefits", "insurance_types", "follow_up_actions", "military_statuses")
        for name in benefit_names.NAMES[list].values()
    }
    assert places_of(several_words(names)) == []


def field_names(part: type[ClaimPart]) -> set[str]:
    inner = nested_parts(part).values()
    return {*fields_of(part), *(name for one in inner for name in field_names(one))}


def test_names_of_claim_fields_are_in_the_forms_alone():
    names = {name for form in FORMS.values() for name in field_names(form.claim)}
    assert len(names) > 300
    names -= ALSO_ELSEWHERE.keys()
    found = [
        f"{file.relative_to(SOURCE)}:{line} {name}"
        for file in other_files(*KNOW_CLAIM_FIELDS)
        if not is_of_v3(file)
        for line, text in names_in(file)
        # A text may be a path: ``F24_ClaimLines[0].F24F_Charges``.
        if " " not in text
        for name in names.intersection(re.split(r"\W+", text))
    ]
    assert not found


MODEL_TEST = re.compile(r"isinstance\(.*(Medical|Dental)")


def other_files(*own: str) -> Iterator[Path]:
    """Return the files of the product that are not below one of these paths."""
    return (file for file in FILES if not file.relative_to(SOURCE).as_posix().startswith(own))


def test_nothing_else_distinguishes_kinds_of_claim():
    assert not [
        f"{file.relative_to(SOURCE)}:{number}"
        for file in other_files("claims/forms/", "claims/fields.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if MODEL_TEST.search(line)
    ]


def test_no_other_module_names_a_kind_of_claim():
    """The tables of kinds, the forms, the directory's types and V3's own calls do; client and sandbox stand alone."""
    own = (
        "claims/forms/", "claims/fields.py", "claims/kinds.py", "payers/model.py", "payers/samples.py", "api/v3/",
        "client/", "sandbox/",
    )  # fmt: skip
    kinds = set(ClaimKind)
    assert not [
        f"{file.relative_to(SOURCE)}: {node.value}"
        for file in other_files(*own)
        for node in nodes_of(file)
        if isinstance(node, ast.Constant) and str(node.value).lower() in kinds
    ]
