"""Every call is made with what the OpenAPI document allows and forbids: no 5xx, no answer outside the schema.

The cases are derived from the document by schemathesis, always the same ones. Credentials are right and most often
the site too, so that the cases reach what stands behind the shared checks.
"""

import copy
import json
import re
from datetime import date
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from clearlane.api.versions import VERSIONS
from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from tests.api.openapi_document import openapi_content
from tests.api.service_process import ServiceProcess
from tests.cases import by_profile
from tests.enrollment.invented import a_request, an_enrollment

pytestmark = pytest.mark.group("schemathesis")

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = json.loads(openapi_content())
ITEMS_MAX = 2


@schemathesis.serializer("application/edi-x12")
def as_given(_context: object, value: object) -> bytes:
    """Send the text of an X12 file as it is."""
    return value if isinstance(value, bytes) else str(value).encode()


REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')


def named_below(part: object) -> set[str]:
    """The schemas that a part of the document leads to."""
    found: set[str] = set()
    waiting = set(REFERENCE.findall(json.dumps(part)))
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= (
            set(REFERENCE.findall(json.dumps(DOCUMENT["components"]["schemas"][name]))) - found
        )
    return found


def kept_small(schema: object) -> None:
    """Let short lists and known fields be made alone: a case is a document, not a mountain.

    What unknown fields and long lists do has tests of its own.
    """
    if isinstance(schema, dict):
        if schema.get("type") == "array":
            schema["maxItems"] = ITEMS_MAX
        if "properties" in schema:
            schema["additionalProperties"] = False
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            kept_small(part)


def for_cases() -> dict:
    """The document with request bodies that are kept small; answers are held against all of it."""
    operations = [DOCUMENT["paths"][path][verb.lower()] for path, verb in CALLS]
    asked = named_below([operation.get("requestBody") for operation in operations])
    answered = named_below([operation["responses"] for operation in operations])
    small = copy.deepcopy(DOCUMENT)
    for name in asked - answered:
        kept_small(small["components"]["schemas"][name])
    for parameter in small["paths"]["/clearlane/v1/events"]["get"]["parameters"]:
        if parameter["name"] == "wait":  # a long poll is no part of the schema
            parameter["schema"]["maximum"] = 0
    return small


CALLS = [
    (endpoint.path, verb)
    for version in VERSIONS
    for endpoint in version.endpoints
    for verb in endpoint.verbs
]
SITE_PARAMETERS = {
    endpoint.path: endpoint.conventions.site_parameter
    for version in VERSIONS
    for endpoint in version.endpoints
}
SCHEMA = schemathesis.openapi.from_dict(for_cases())
HELD = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
EXAMPLES = {
    GenerationMode.POSITIVE: by_profile(thorough=25, usual=3, quick=3),
    GenerationMode.NEGATIVE: by_profile(thorough=15, usual=2, quick=2),
}
# A long wait for a payer is no part of the schema.
FEW = {"/api/v3/eligibility/submit": 8}
MIXED = by_profile(thorough=40, usual=8, quick=8)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    """A service on SQLite as its operator starts it."""
    serving = ServiceProcess(tmp_path_factory.mktemp("schemathesis") / "data").start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="module")
def line(sandbox):
    """One connection for all cases."""
    account = sandbox.sandbox
    with sandbox.client((account["vendor_key"], account["vendor_password"])) as client:
        yield client


# Documents that pass as they stand, into which single values of the cases are put: what is made from a schema
# alone hardly ever gets past the first check, and the answers behind it want to be seen too.
SITE_DAY = date(2026, 1, 15)
GOOD = {
    "/api/v3/claims/submit": samples.document(V3_MEDICAL, day=SITE_DAY, full=True),
    "/api/v3/claims/submitDental": samples.document(V3_DENTAL, day=SITE_DAY, full=True),
    "/api/v3/enrollment/submit": a_request(an_enrollment(Npi="1234567893", Tin="123456789")),
    "/api/v3/eligibility/submit": json.loads((ROOT / "examples" / "inquiry.json").read_text()),
}


def mixed(good, made, draw):
    """A document that passes, with here and there a value of one that was made."""
    if isinstance(good, dict) and isinstance(made, dict):
        return {name: mixed(value, made.get(name, value), draw) for name, value in good.items()}
    if isinstance(good, list) and isinstance(made, list) and made:
        return [mixed(value, made[0], draw) for value in good]
    return made if draw(st.integers(0, 40)) == 0 else good


@pytest.mark.parametrize("mode", EXAMPLES, ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "verb"), CALLS)
def test_no_answer_leaves_the_schema(sandbox, line, path, verb, mode):
    @cases(min(EXAMPLES[mode], FEW.get(path, EXAMPLES[mode])))
    @given(case=SCHEMA[path][verb].as_strategy(generation_mode=mode), number=st.integers(0, 4))
    def held(case, number):
        ask(sandbox, line, case, knows_site=number > 0)

    held()


@pytest.mark.parametrize("path", GOOD)
def test_no_answer_to_a_document_that_nearly_passes_leaves_the_schema(sandbox, line, path):
    statuses = set()

    @cases(FEW.get(path, MIXED))
    @given(case=SCHEMA[path]["POST"].as_strategy(), data=st.data())
    def held(case, data):
        case.body = mixed(GOOD[path], case.body, data.draw)
        statuses.add(ask(sandbox, line, case))

    held()
    assert 200 in statuses


def cases(count: int):
    """The same cases each time, so many of them."""
    return settings(
        max_examples=count,
        phases=[Phase.explicit, Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def ask(sandbox, line, case, *, knows_site=True) -> int:
    """Make the call of a case and hold the answer against the document; its status."""
    if knows_site:
        site = SITE_PARAMETERS[case.operation.path]
        case.query = {**(case.query or {}), site: sandbox.sandbox["vendor_site_id"]}
    given = case.as_transport_kwargs(base_url=sandbox.base_url)
    given = {n: given[n] for n in ("method", "url", "params", "json", "data") if n in given}
    given["content"] = given.pop("data", None)
    answer = line.request(**given)
    case.validate_response(answer, checks=HELD)
    return answer.status_code
