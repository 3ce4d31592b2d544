"""The OpenAPI document and the served paths agree, because both come from one table.

Also tests `api/pages/public_pages`, `api/versions`, `api/frame/json_model` and `api/frame/openapi_examples`.
"""

import json
import re
from functools import cache
from importlib import metadata
from types import SimpleNamespace

import jsonschema_rs
import pytest

from clearlane.api.frame import openapi, openapi_examples
from clearlane.api.frame.app import ApiApplication
from clearlane.api.frame.endpoint import ApiLimits
from clearlane.api.http.proxies import TrustedProxies
from clearlane.api.operations.metrics import Metrics
from clearlane.api.operations.operations import PROBES
from clearlane.api.pages.public_pages import OPENAPI, REFERENCE
from clearlane.api.v3 import responses
from clearlane.api.v3.endpoints import ENDPOINTS, V3
from clearlane.api.versions import VERSIONS
from tests.api.local_server import TWO_VENDORS, sample_payers, start_local_server
from tests.api.openapi_document import openapi_content

DOCUMENT = json.loads(openapi_content())
SERVED = [endpoint for version in VERSIONS for endpoint in version.endpoints]


def operations():
    for path, item in DOCUMENT["paths"].items():
        for verb in item.keys() & {"get", "post", "put", "delete", "patch", "head", "options"}:
            yield path, verb, item[verb]


def test_every_route_served_is_in_the_document_and_no_other():
    served = {(endpoint.path, verb.lower()) for endpoint in SERVED for verb in endpoint.verbs}
    served |= {(page.path, "get") for page in (OPENAPI, REFERENCE)}
    served |= {(probe.path, "get") for probe in PROBES}
    assert {(path, verb) for path, verb, _ in operations()} == served


def test_every_parameter_read_is_in_the_document_and_no_other():
    for endpoint in SERVED:
        operation = DOCUMENT["paths"][endpoint.path][endpoint.verbs[0].lower()]
        reported = {one["name"] for one in operation["parameters"]}
        read = {endpoint.conventions.site_parameter, *re.findall(r"{(\w+)}", endpoint.path)}
        read |= {parameter.name for parameter in endpoint.parameters}
        read |= {"Idempotency-Key"} if endpoint.takes_idempotency_key else set()
        assert reported == read


def test_names_are_given_once():
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere():
    for reference in re.findall(r'"\$ref": ?"([^"]+)"', json.dumps(DOCUMENT)):
        target = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]


DEFINITIONS = json.loads(
    json.dumps({"$defs": DOCUMENT["components"]["schemas"]}).replace(
        "#/components/schemas/", "#/$defs/"
    )
)


@cache
def validator_of(schema):
    """The validator of a schema's text; most places of the document share theirs with others."""
    local = json.loads(schema.replace("#/components/schemas/", "#/$defs/"))
    return jsonschema_rs.validator_for(local | DEFINITIONS)


def test_every_schema_is_a_schema():
    jsonschema_rs.meta.validate(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **DEFINITIONS}
    )
    for _, _, operation in operations():
        for answer in operation["responses"].values():
            for content in answer.get("content", {}).values():
                validator_of(json.dumps(content["schema"]))


def test_the_document_has_what_openapi_3_1_requires():
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert DOCUMENT["info"].keys() >= {"title", "version"}
    for path, _, operation in operations():
        assert path.startswith("/")
        assert operation["responses"]
        for status, answer in operation["responses"].items():
            assert re.fullmatch(r"[1-5]\d\d", status)
            assert answer["description"]
        for one in operation.get("parameters", []):
            assert one.keys() >= {"name", "in", "schema"}
        for need in operation["security"]:
            assert need.keys() <= DOCUMENT["components"]["securitySchemes"].keys()


def contents():
    """Every place of the document that has a schema, and its examples by name."""
    for path, verb, operation in operations():
        place = f"{verb} {path}"
        for one in operation.get("parameters", []):
            yield f"{place} {one['name']}", one["schema"], {"example": one["example"]}
        parts = {"request": operation.get("requestBody", {}), **operation["responses"]}
        for name, part in parts.items():
            for media_type, content in part.get("content", {}).items():
                shown = {key: each["value"] for key, each in content["examples"].items()}
                yield f"{place} {name} {media_type}", content["schema"], shown


def test_every_request_and_answer_has_an_example_that_its_schema_allows():
    places = list(contents())
    assert len(places) > 200
    for place, schema, examples in places:
        validator = validator_of(json.dumps(schema))
        assert examples, place
        for name, value in examples.items():
            faults = [
                f"{fault.instance_path} {fault.message}" for fault in validator.iter_errors(value)
            ]
            assert not faults, (place, name, faults)


def test_every_endpoint_has_recorded_examples():
    for version in VERSIONS:
        assert version.examples
        assert version.examples.keys() <= {endpoint.name for endpoint in version.endpoints}
    assert V3.examples.keys() == {endpoint.name for endpoint in ENDPOINTS}
    shown = DOCUMENT["paths"]["/api/v3/claims/submit"]["post"]
    request = shown["requestBody"]["content"]["application/json"]["examples"]
    assert request["required-fields"]["value"]["DocumentType"] == "MedicalClaim"
    assert len(request["every-field"]["value"]["Claims"][0]) > 100
    answers = shown["responses"]["200"]["content"]["application/json"]["examples"]
    found = {each["Status"] for one in answers.values() for each in one["value"]["ClaimResults"]}
    assert found == {"Accepted", "NotAccepted"}
    assert set(shown["responses"]["401"]["content"]["text/plain"]["examples"]) == {
        "bad-credentials",
        "baa-missing",
    }


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"$ref": "#/components/schemas/Day"}, "2026-01-15"),
        ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]}, 3),
        ({"type": "array", "items": {"type": "boolean"}}, [True]),
        ({"type": "object", "properties": {"a": {"const": 1}, "b": {"type": "number"}}}, {"a": 1, "b": 1.0}),
        ({"type": "string", "minLength": 6, "maxLength": 6}, "textxx"),
        ({"type": "string", "default": "as-is"}, "as-is"),
        ({"enum": ["A", "B"]}, "A"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Loop"}}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_an_example_is_made_from_a_schema_where_none_was_recorded(schema, made):
    components = {
        "Day": {"type": "string", "format": "date"},
        "Loop": {"anyOf": [{"$ref": "#/components/schemas/Loop"}]},
    }
    found = openapi_examples.from_schema(schema, components)
    assert found == ([None] if "Loop" in str(schema) else made)


def test_no_enumeration_mixes_types():
    def enumerations(part):
        if isinstance(part, dict):
            if isinstance(part.get("enum"), list):
                yield part["enum"]
            part = list(part.values())
        for each in part if isinstance(part, list) else []:
            yield from enumerations(each)

    found = list(enumerations(DOCUMENT))
    assert len(found) > 5
    assert not [choices for choices in found if len({type(each) for each in choices}) > 1]


def test_the_tools_of_others_can_load_the_document():
    import schemathesis

    schema = schemathesis.openapi.from_dict(DOCUMENT)
    loaded = {operation.ok().label for operation in schema.get_all_operations()}
    assert "POST /api/v3/payers/get_list" in loaded
    assert len(loaded) == len(list(operations()))


def test_payer_lists_obey_their_schema():
    definitions = json.loads(
        json.dumps(DOCUMENT["components"]["schemas"]).replace("#/components/schemas/", "#/$defs/")
    )
    schema = {"type": "array", "items": {"$ref": "#/$defs/Payer"}, "$defs": definitions}
    validator = jsonschema_rs.validator_for(schema)
    listed = json.loads(sample_payers().payer_list("live", "Medical").body)
    assert listed
    assert validator.is_valid(listed)
    assert set(listed[0]) == set(definitions["Payer"]["properties"])
    assert definitions["Payer"]["required"] == list(definitions["Payer"]["properties"])


def test_the_version_is_the_packages_own():
    assert DOCUMENT["info"]["version"] == metadata.version("clearlane")


@pytest.fixture(scope="module")
def local_server(tmp_path_factory):
    local_server = start_local_server(tmp_path_factory.mktemp("local_server"))
    yield local_server
    local_server.stop()


def test_the_document_is_served_to_anyone(local_server):
    with local_server.client(auth=None) as client:
        document = client.get("/OpenAPI.json")
        head = client.head("/openapi.json")
    assert document.json() == DOCUMENT
    assert document.headers["content-type"].startswith("application/json")
    assert (head.status_code, head.content) == (200, b"")


def test_tags_stand_below_their_version_and_are_shown_as_words():
    made = openapi.build_document(VERSIONS, [OPENAPI, REFERENCE], PROBES)
    used = {
        tag
        for path in made["paths"].values()
        for verb, call in path.items()
        if verb in {"get", "post", "delete", "put", "patch"}
        for tag in call["tags"]
    }
    groups = {group["name"]: group["tags"] for group in made["x-tagGroups"]}
    assert list(groups) == [*(each.title for each in VERSIONS), "This service"]
    assert used == {tag for tags in groups.values() for tag in tags}
    assert [tag["name"] for tag in made["tags"]] == [
        tag for tags in groups.values() for tag in tags
    ]
    shown = {tag["name"]: tag["x-displayName"] for tag in made["tags"]}
    assert (shown["v1 console_links"], shown["ProxyLogin"]) == ("Console links", "Proxy login")
    assert shown["v1 x12"] == "X12"


def test_two_endpoints_cannot_share_a_path():
    with pytest.raises(ValueError, match="twice"):
        ApiApplication(
            SimpleNamespace(accounts=TWO_VENDORS, database=None, vault=None),
            (*ENDPOINTS, ENDPOINTS[0]),
            errors=V3.errors,
            limits=ApiLimits(),
            metrics=Metrics(),
            proxies=TrustedProxies(),
            sandbox=True,
        )


def test_an_endpoint_is_documented_with_its_own_errors():
    from dataclasses import replace

    from clearlane.api.frame.endpoint import BodyUse

    endpoint = replace(ENDPOINTS[0], bad_credentials_status=404, deprecated=True)
    claims = replace(
        ENDPOINTS[0], path="/x", name="X", body_use=BodyUse.JSON, request_type=dict[str, int]
    )
    claims = replace(
        claims, error_types={204: None, 400: dict[str, str], 404: responses.MessageDetail}
    )
    made = openapi.build_document(
        [replace(V3, endpoints=(endpoint, claims))], [OPENAPI, REFERENCE], PROBES
    )
    answers = made["paths"][endpoint.path]["post"]["responses"]
    assert "401" not in answers
    assert "text/plain" in answers["404"]["content"]
    assert made["paths"][endpoint.path]["post"]["deprecated"]
    assert made["paths"]["/x"]["post"]["requestBody"]["required"]
    reported = made["paths"]["/x"]["post"]["responses"]
    assert "content" not in reported["204"]
    assert "X-Message" in reported["204"]["headers"]
    assert {"type": "object", "additionalProperties": {"type": "string"}} in reported["400"][
        "content"
    ]["application/json"]["schema"]["anyOf"]
