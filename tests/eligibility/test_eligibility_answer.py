"""A vendor's command makes the same tables from V3's response as an operator's from the stored answer."""

import json

import pytest

from clearlane.api.v3.benefits.compose_response import encode_element
from clearlane.api.v3.benefits.response_builder import build_response
from clearlane.cli.eligibility.eligibility_answer import response_tables
from clearlane.eligibility import read_271
from clearlane.eligibility.benefit_table import patient_tables
from tests.cases import every_case
from tests.corpus import corpus_files
from tests.eligibility.invented import (
    HEAD,
    NOON,
    PERSON,
    RECEIVER,
    WITH_CHILD,
    answer_file,
    child,
    inquiry,
)

FILES = {
    "benefits": (
        *HEAD, *RECEIVER, *PERSON, "EB*1**30^98**GOLD", "MSG*CALL US", "EB*C*IND*30***23*1500*****Y",
        "EB*C*IND*30***29*600*****Y", "EB*G*FAM*30***24*1000.50*****N", "EB*A*IND*98*****20****W",
        "EB*B**98****25", "EB*I**ZZ9", "EB*6**35", "AAA*N**60*C",
    ),
    "a dependent": (*WITH_CHILD, "EB*1**30", "AAA*N**65*C"),
    "the payer refuses": (*HEAD, "AAA*N**42*R"),
    "the payee is refused": (*HEAD, *RECEIVER, "AAA*N**43*C"),
    "the subscriber is refused": (*HEAD, *RECEIVER, *PERSON, "AAA*N**75*C"),
    "the transaction is refused": (HEAD[0], HEAD[1], "AAA*Y**42*R", HEAD[2]),
    "no level at all": (HEAD[0],),
}  # fmt: skip


def assert_same_tables(data: bytes, asked=None) -> None:
    for one in read_271.read(data).answers[:5]:
        answer = read_271.build_answer(one, asked, document_id="D1", created_at=NOON)
        body = {"Responses": [json.loads(encode_element(build_response(answer)))]}
        stored = list(patient_tables([answer]))
        if not body["Responses"][0]["Payers"]:
            assert not any(table.rows for table in stored)
            continue
        for sent, table in zip(response_tables(body), stored, strict=True):
            for name in (
                "payer",
                "patient",
                "member_id",
                "plans",
                "rows",
                "errors",
                "notes",
                "coverage",
            ):
                assert getattr(sent, name) == getattr(table, name)


@pytest.mark.parametrize("name", FILES)
def test_both_commands_show_the_same_tables(name):
    assert_same_tables(answer_file(*FILES[name]))
    assert_same_tables(answer_file(*FILES[name]), child() if name == "a dependent" else inquiry())


@every_case("sample", corpus_files("271"))
def test_both_commands_show_the_same_tables_of_every_public_file(sample):
    assert_same_tables(sample.path.read_bytes())
