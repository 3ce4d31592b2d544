"""Requests generated from the OpenAPI document get documented responses."""

import json
import warnings

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from clearlane.api.pages.public_pages import build_pages
from clearlane.api.v3.endpoints import ENDPOINTS, V3

DEEP = "EligibilityRequest"
"""Lists in lists, six deep: made without a bound, one example takes minutes."""


def document():
    found = json.loads(build_pages(V3)[0].content)
    for name, schema in found["components"]["schemas"].items():
        for field in schema.get("properties", {}).values() if name.startswith(DEEP) else ():
            for kind in field.get("anyOf", [field]):
                if kind.get("type") == "array":
                    kind["maxItems"] = 1
    return found


SCHEMA = schemathesis.openapi.from_dict(document())
BRIEF = settings(
    deadline=None,
    max_examples=5,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: row.name)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_every_response_is_documented(server, parties, row, mode):
    operation = SCHEMA[row.path]["POST"]

    @BRIEF
    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    def check(case, known):
        if known and isinstance(case.query, dict):
            case.query["vendorSiteId"] = "A-1"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = case.call(
                base_url=server.base_url, verify=str(server.ca_file), auth=parties.acme.auth
            )
        assert answer.status_code < 500
        operation.validate_response(answer)

    check()
