"""Write the reference pages about calls: requests, answers and refusals.

Each page is made from the tables and types that the product runs on. What no table
says is written here, one sentence a row: a row without one stops the build.
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from tools.docs.markdown import first_words, grid, part


def errors_page() -> Iterator[str]:
    """Write the statuses and result codes of every call."""
    from clearlane.api.v3.endpoints import ENDPOINTS
    from clearlane.api.v3.error_responses import COMMON_ERRORS

    yield "# Errors"
    yield from part(
        "Statuses that every call can answer with",
        "A body is `text/plain` if it says text, else JSON. Every answer carries `X-Request-Id` (quote it) and `X-Service-Time`, the service's time in UTC.",
    )
    rows: list[list[object]] = [
        [
            status,
            refused.when,
            _body(refused.body, status),
            ", ".join(f"`{name}`" for name in refused.headers),
        ]
        for status, refused in COMMON_ERRORS.items()
    ]
    yield from grid(["Status", "When", "Body", "Headers"], rows)
    yield from part(
        "What single calls answer besides",
        "Proxy login answers bad credentials with 404 and a text that begins with `101:` instead of 401.",
    )
    yield from grid(
        ["Call", "Status", "Body", "When"],
        [
            [row.name, status, _body(body, status), _when(row, status)]
            for row in ENDPOINTS
            for status, body in row.error_types.items()
        ],
    )
    yield from _bodies()
    yield from _results()
    yield from _exits()


def _when(row: Any, status: int) -> str:
    return OWN_REFUSALS[row.family.value, status]


OWN_REFUSALS: Mapping[tuple[str, int], str] = {
    ("Payers", 404): "No `type`.",
    ("Claims", 204): "The claims could not be imported; nothing was stored. `X-Message` says so.",
    ("Claims", 400): "The document, a parameter or a date cannot be read. Nothing was stored.",
    ("Claims", 413): "More claims or bytes than a document may hold.",
    ("Eligibility", 400): "The request cannot be read, or the `requestId` is not an integer.",
    ("Eligibility", 404): "There is no such request of this site.",
    ("Eligibility", 413): "The body is too large.",
    ("Enrollment", 400): "Something is wrong with the request; nothing was submitted.",
    ("Enrollment", 413): "The body is too large.",
    (
        "Enrollment",
        503,
    ): "A part does not answer; nothing was submitted. Send the same again later.",
    ("ProxyLogin", 404): "No `instanceId`, or bad credentials.",
}


NO_CONTENT = 204


def _body(type: Any, status: int) -> str:
    if type is None:
        return "none" if status == NO_CONTENT else "text"
    names = [each.__name__ for each in (get_args(type) or (type,))]
    return ", ".join(f"[{name}](#{name.lower()})" for name in names)


def _bodies() -> Iterator[str]:
    from clearlane.api.v3 import enrollment_json, responses

    yield ""
    yield "## Bodies"
    shapes: list[type[BaseModel]] = [
        responses.Message,
        responses.MessageDetail,
        responses.ModelState,
        enrollment_json.EnrollmentErrors,
    ]
    for shape in shapes:
        yield from part(shape.__name__, first_words(inspect.getdoc(shape)), level=3)
        yield from grid(
            ["Field", "What it holds"],
            [
                [f"`{name}`", field.description or _plain_type(field.annotation)]
                for name, field in shape.model_fields.items()
            ],
        )


def _plain_type(type: Any) -> str:
    return {str: "A sentence."}.get(type, "A list, one element per field.")


def _results() -> Iterator[str]:
    from clearlane.api.v3 import responses
    from clearlane.api.v3.benefits.benefit_names import REQUEST_STATUSES
    from clearlane.api.v3.proxy_login import ResultCode
    from clearlane.eligibility.rules import RULES

    yield from part("Results inside an answer of status 200")
    claim = get_args(get_type_hints(responses.ClaimResultJson)["Status"])
    rows: list[list[object]] = [
        ["SubmitClaims, SubmitDentalClaims", f"`Status` `{value}`", CLAIM_RESULTS[value]]
        for value in claim
    ]
    rows += [
        [
            "SubmitEligibilityRequests, GetEligibilityResponses",
            f"`Status` `{value}`",
            ELIGIBILITY_RESULTS[value],
        ]
        for value in sorted(REQUEST_STATUSES.values())
    ]
    rows += [["SubmitEnrollments", "`Message`, `Exception`", ENROLLMENT_RESULTS]]
    rows += [["Proxy login", "`resultCode`", get_args(ResultCode)[1].description]]
    yield from grid(["Call", "Result", "Meaning"], rows)
    yield from part(
        "Codes of ValidationResults",
        "Why a part of an eligibility request could not be asked. What is wrong with a document, payer or provider "
        "stops all patients below it.",
    )
    yield from grid(
        ["Code", "Level", "What must be true"],
        [[f"`{rule.id}`", rule.level, rule.sentence] for rule in RULES.values()],
    )


CLAIM_RESULTS = {
    "Accepted": "Stored durably; it will be sent.",
    "NotAccepted": "`Errors` lists every finding. The claim may be corrected and sent under the same id.",
}
ELIGIBILITY_RESULTS = {
    "AllInvalid": "Nothing could be asked; `ValidationResults` says why.",
    "ResultsComplete": "Every patient that was asked about has a response, which may hold payers' errors.",
    "ResultsIncomplete": "Some responses are missing; ask GetEligibilityResponses later.",
}
ENROLLMENT_RESULTS = "Both null: submitted. `Provider already exists.` in `Message`: submitted before, which is not a fault."


def _exits() -> Iterator[str]:
    from clearlane.cli.command import client_command

    yield from part("Exit statuses of the commands that call")
    meaning = {
        client_command.SUCCESS: "Done, and everything was accepted or is in.",
        client_command.NOT_ACCEPTED: "The service answered, but something was not accepted, is missing or not there.",
        client_command.MISUSED: "The command, the file or the request cannot be used.",
        client_command.UNAVAILABLE: "The service cannot be reached, or refuses the credentials or the site.",
    }
    yield from grid(["Status", "Meaning"], [[status, words] for status, words in meaning.items()])


def own_api_page() -> Iterator[str]:
    """Write the calls of Clearlane's own API, with their parameters."""
    from clearlane.accounts.api_keys import SCOPE_MEANINGS
    from clearlane.api.v1.endpoints import DESCRIPTION, V1
    from clearlane.api.v1.problems import COMMON_ERRORS

    yield "# Clearlane's own API"
    yield ""
    yield DESCRIPTION
    yield ""
    yield "Every `state` and `label` is explained on the page of [states](states.md#labels-of-claims)."
    yield from part("Calls")
    yield from grid(
        ["Call", "Scope of a key", "What it does"],
        [
            [
                f"`{row.verbs[0]} {row.path}`",
                f"`{row.scope}`",
                f"{row.summary} {_first(row.description)}".strip(),
            ]
            for row in V1.endpoints
        ],
    )
    yield from part(
        "Scopes of API keys",
        "A vendor's password may do all of this. How to make a key: [Rotate keys](../how-to/keys.md#api-keys).",
    )
    meanings = [[f"`{scope}`", words] for scope, words in SCOPE_MEANINGS.items()]
    yield from grid(["Scope", "What a key with it may do"], meanings)
    for row in V1.endpoints:
        # A table in a description cannot be in a cell: it follows under the name of its call.
        if table := row.description.removeprefix(_first(row.description)).strip():
            yield from part(f"{row.verbs[0]} {row.path}", table, level=3)
    yield from part(
        "Parameters", "Every list takes `limit` and `after` as well, and every call `site`."
    )
    for row in V1.endpoints:
        shown = [each for each in row.parameters if each.name not in {"limit", "after"}]
        if not shown:
            continue
        yield from part(f"{row.verbs[0]} {row.path.removeprefix('/clearlane/v1/')}", level=3)
        yield from grid(["Parameter", "What it is"], [[f"`{one.name}`", one.help] for one in shown])
    yield from part(
        "Statuses of refused calls",
        "The body is a problem (RFC 9457): `type`, `title`, `status`, `detail`, `errors`.",
    )
    yield from grid(
        ["Status", "When"], [[status, one.when] for status, one in COMMON_ERRORS.items()]
    )


def _first(description: str) -> str:
    return description.partition("\n\n|")[0]


def answers_page() -> Iterator[str]:
    """Write what every call answers with when it succeeds, field by field."""
    from clearlane.api.pages.public_pages import build_pages
    from clearlane.api.v3.endpoints import ENDPOINTS, V3

    document = json.loads(build_pages(V3)[0].content.made())
    schemas = document["components"]["schemas"]
    answers = {
        row.name: document["paths"][row.path]["post"]["responses"]["200"]["content"]
        for row in ENDPOINTS
    }
    tops = {name: next(iter(content.values()))["schema"] for name, content in answers.items()}
    yield "# Answers"
    yield ""
    yield (
        "What a call answers with status 200. A field that may be absent holds null. For everything else see "
        "[errors](errors.md)."
    )
    yield ""
    yield from grid(["Call", "Answer"], [[name, _type(schema)] for name, schema in tops.items()])
    for name in _reached(list(tops.values()), schemas):
        schema = schemas[name]
        yield from part(name, first_words(schema.get("description", "")))
        yield from grid(
            ["Field", "Type", "What it holds"],
            [
                [f"`{field}`", _type(shape), shape.get("description", "")]
                for field, shape in schema.get("properties", {}).items()
            ],
        )


def _reached(tops: list[Any], schemas: Mapping[str, Any]) -> list[str]:
    """Return the names of all schemas that these refer to, in the order they are met."""
    found: list[str] = []
    waiting = tops[::-1]
    while waiting:
        for name in REFERENCE.findall(json.dumps(waiting.pop())):
            if name not in found:
                found.append(name)
                waiting.append(schemas[name])
    return found


REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')


def _type(schema: Mapping[str, Any]) -> str:
    """Return a schema in a few words, with a link to its section."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[several])))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def enrollment_fields_page() -> Iterator[str]:
    """Write every field of an enrollment."""
    from clearlane.enrollment.fields import FIELDS, TextFormat
    from clearlane.enrollment.rules import NPI_TYPE_MESSAGE, RULES, describe_format

    yield "# Enrollment fields"
    yield ""
    yield (
        "`Version` is 1, `Enrollments` holds at least one element. Every finding is reported at once, and nothing is "
        "submitted when there is one. `RequestId` is unique within a request."
    )
    yield ""
    table: list[list[object]] = []
    for row in FIELDS.values():
        if row.format is TextFormat.NPI_TYPE:
            must = NPI_TYPE_MESSAGE.removeprefix("The NpiType field must be ").rstrip(".")
        else:
            must = describe_format(row) if row.max_length else "any length"
        extra = {
            TextFormat.EMAIL: ", a valid e-mail address",
            TextFormat.STREET: ", no PO box",
        }.get(row.format, "")
        needed = "yes" if row.required else f"for {row.required_for}" if row.required_for else "no"
        table.append(
            [
                f"`{row.name}`",
                row.label,
                needed,
                must + extra + (" (deprecated)" if row.deprecated else ""),
            ]
        )
    yield from grid(["Field", "What it is", "Required", "What passes"], table)
    yield from part(
        "Rules", "A warning is shown to the operator who submits the enrollment to payers."
    )
    yield from grid(
        ["Rule", "Severity", "What must be true"],
        [[f"`{rule.id}`", rule.severity, rule.sentence] for rule in RULES.values()],
    )


def eligibility_fields_page() -> Iterator[str]:
    """Write every field of an eligibility request, and the names of service types."""
    from clearlane.eligibility import fields, services
    from clearlane.eligibility.json_struct import eligibility_fields

    yield "# Eligibility request"
    yield ""
    yield (
        "The request is nested: inquiries hold payers, payers hold providers, providers hold subscribers, subscribers "
        "hold dependents. The answer is described under [answers](answers.md#eligibilityresponse)."
    )
    for name in fields.__all__:
        shape = getattr(fields, name)
        if not isinstance(shape, type):
            continue
        yield from part(name, first_words(inspect.getdoc(shape)))
        table: list[list[object]] = []
        for field, line in eligibility_fields(shape).items():
            needed = (
                "yes"
                if line.required
                else f"if {line.required_when}"
                if line.required_when
                else "no"
            )
            table.append([f"`{field}`", line.label, line.type, line.max_length or "", needed])
        yield from grid(["Field", "What it is", "Kind", "Longest", "Required"], table)
    yield from part(
        "Service types", "Each may be given by its name, in any case, or by its X12 code."
    )
    names = services.names("service_types")
    yield from grid(["Code", "Name"], [[f"`{code}`", f"`{name}`"] for code, name in names.items()])
