"""The reference pages about calls: what they answer, which states things have, and the library that calls them.

Each page is made from the tables and types that the product runs on. Words that no table has stand here, one for
each row of the table: a row without words stops the build.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

from docs.markdown import grid, part


def errors_page() -> Iterator[str]:
    """Statuses and result codes of every call."""
    from clearlane.api.openapi import COMMON
    from clearlane.api.v3.routes import TABLE

    yield "# Errors"
    yield from part(
        "Statuses that every call can answer with",
        "A body is `text/plain` where it says text, else JSON. Every answer carries `X-Request-Id`; quote it.",
    )
    rows: list[list[object]] = [
        [
            status,
            refused.when,
            _body(refused.body),
            ", ".join(f"`{name}`" for name in refused.headers),
        ]
        for status, refused in COMMON.items()
    ]
    yield from grid(["Status", "When", "Body", "Headers"], rows)
    yield from part(
        "What single calls answer besides",
        "Proxy login answers bad credentials with 404 and a text that begins with `101:` instead of 401.",
    )
    yield from grid(
        ["Call", "Status", "Body", "When"],
        [
            [row.name, status, _body(body), _when(row, status)]
            for row in TABLE
            for status, body in row.refusals.items()
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
    ("Eligibility", 400): "The request cannot be read, or the `requestId` is no integer.",
    ("Eligibility", 404): "There is no such request of this site.",
    ("Eligibility", 413): "The body is too large.",
    ("Enrollment", 400): "Something is wrong with the request; nothing of it was submitted.",
    ("Enrollment", 413): "The body is too large.",
    (
        "Enrollment",
        503,
    ): "A part does not answer; nothing was submitted. Send the same again later.",
    ("ProxyLogin", 404): "No `instanceId`, or bad credentials.",
}


def _body(type: Any) -> str:
    if type is None:
        return "text, or none"
    names = [each.__name__ for each in (get_args(type) or (type,))]
    return ", ".join(f"[{name}](#{name.lower()})" for name in names)


def _bodies() -> Iterator[str]:
    from clearlane.api.v3 import wire, wire_enrollment

    yield ""
    yield "## Bodies"
    shapes = [wire.Message, wire.MessageDetail, wire.ModelState, wire_enrollment.EnrollmentErrors]
    for shape in shapes:
        yield from part(shape.__name__, _first(shape), level=3)
        yield from grid(
            ["Field", "What it holds"],
            [
                [f"`{name}`", field.description or _plain_type(field.annotation)]
                for name, field in shape.model_fields.items()
            ],
        )


def _plain_type(type: Any) -> str:
    return {str: "A sentence."}.get(type, "A list, one element a field.")


def _results() -> Iterator[str]:
    from clearlane.api.v3 import wire
    from clearlane.api.v3.proxy_login import ResultCode
    from clearlane.eligibility.answer import Status
    from clearlane.eligibility.rules import RULES

    yield from part("Results inside an answer of status 200")
    claim = get_args(get_type_hints(wire.ClaimResult)["Status"])
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
        for value in Status
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
    "NotAccepted": "`Errors` tells every fault. The claim may be corrected and sent under the same id.",
}
ELIGIBILITY_RESULTS = {
    "AllInvalid": "Nothing could be asked; `ValidationResults` tells why.",
    "ResultsComplete": "Every patient that was asked about has a response, which may hold payers' errors.",
    "ResultsIncomplete": "Some responses are missing; ask GetEligibilityResponses later.",
}
ENROLLMENT_RESULTS = "Both null: submitted. `Provider already exists.` in `Message`: submitted before, which is no fault."


def _exits() -> Iterator[str]:
    from clearlane.cli import caller

    yield from part("Exit statuses of the commands that call")
    meaning = {
        caller.FINE: "Done, and everything was accepted or is in.",
        caller.NOT_ACCEPTED: "The service answered, but something was not accepted, is missing or not there.",
        caller.MISUSED: "The command, the file or the request cannot be used.",
        caller.UNAVAILABLE: "The service cannot be reached, or refuses the credentials or the site.",
    }
    yield from grid(["Status", "Meaning"], [[status, words] for status, words in meaning.items()])


def states_page() -> Iterator[str]:
    """The states that things have, and how they change."""
    from clearlane.claims import lifecycle
    from clearlane.enrollment import life

    yield "# States"
    yield from part(
        "A claim",
        "`CurrentState` of the status list. A newer fact never loses to an older one that comes late, and a fact "
        "that comes twice counts once. A pair of state and event that is not here changes nothing.",
        "![The life of a claim](../pictures/claim-life.svg)",
    )
    yield "```mermaid"
    yield lifecycle.diagram().rstrip()
    yield "```"
    yield ""
    yield from grid(
        ["State", "Meaning"],
        [[f"`{state}`", CLAIM_STATES[state.value]] for state in lifecycle.State],
    )
    yield ""
    yield from _transitions(lifecycle.State, lifecycle.Event, lifecycle.NEXT)
    yield from _payer_actions()
    yield from part(
        "An enrollment with one payer",
        "With a payer that nobody has acted for, an enrollment is submitted. "
        "[How to move it](../how-to/enrollment.md).",
        "![The life of an enrollment](../pictures/enrollment-life.svg)",
    )
    yield from _transitions(life.State, life.Event, life.NEXT)
    yield from _files()


CLAIM_STATES = {
    "Received": "Stored, not sent; or nobody can say whether it was sent.",
    "Sent": "Delivered to the payer; nothing heard but that the file was taken.",
    "Acknowledged": "The payer took it into its work.",
    "Pending": "The payer is working on it or wants information; or a payment was taken back.",
    "Rejected": "Refused by TA1, 999 or 277CA. It counts for nothing and may be sent anew.",
    "Complete": "There is a remittance, which may be a denial.",
}


def _transitions(states: Any, events: Any, table: Mapping[Any, Any]) -> Iterator[str]:
    yield from grid(
        ["Event", *(str(state) for state in states)],
        [[event, *(table.get((state, event), "") for state in states)] for event in events],
    )


def _payer_actions() -> Iterator[str]:
    from clearlane.claims.lifecycle import ACTIONS
    from clearlane.remits.r835 import NAMES
    from clearlane.x12 import codes

    yield from part(
        "PayerAction",
        "The status category before there is a remittance, the claim status of the remittance after.",
    )
    remitted = codes.column("claim_payment_statuses", NAMES)
    yield from grid(
        ["Code", "PayerAction", "From"],
        [[f"`{code}`", f"`{name}`", "277CA or 277"] for code, name in ACTIONS.items()]
        + [[f"`{code}`", f"`{name}`", "835"] for code, name in remitted.items() if name],
    )


def _files() -> Iterator[str]:
    from clearlane.store import batches, inbox

    yield from part("A file to a payer", "See `clearlane batch list`.")
    words = {
        batches.FIXED: "Its bytes, name and control number are fixed; it waits to go.",
        batches.SENDING: "On its way, or its arrival is being looked up.",
        batches.DELIVERED: "The payer has it.",
        batches.IN_DOUBT: "Nobody can say whether it arrived: "
        "[find out](../how-to/undelivered.md), then `resend` or `mark-delivered`.",
    }
    yield from grid(["State", "Meaning"], [[f"`{state}`", told] for state, told in words.items()])
    yield from part("A file from a payer", "See `clearlane inbox list`.")
    words = {
        inbox.STORED: "Kept as it came; waits to be posted.",
        inbox.APPLIED: "Everything it says was told to claims.",
        inbox.PARKED: "Applied, but for statements about claims that are not known here.",
        inbox.QUARANTINED: "Nobody can read it; the reason stands beside it.",
        inbox.DISCARDED: "Put aside by a person.",
    }
    yield from grid(["State", "Meaning"], [[f"`{state}`", told] for state, told in words.items()])


def enrollment_fields_page() -> Iterator[str]:
    """Every field of an enrollment."""
    from clearlane.enrollment.fields import ROWS, Form
    from clearlane.enrollment.rules import NPI_TYPE_WANTED, wanted

    yield "# Enrollment fields"
    yield ""
    yield (
        "`Version` is 1, `Enrollments` holds at least one element. Every fault is told at once, and nothing is "
        "submitted when there is one. `RequestId` is unique within a request."
    )
    yield ""
    table: list[list[object]] = []
    for row in ROWS.values():
        if row.form is Form.NPI_TYPE:
            must = NPI_TYPE_WANTED.removeprefix("The NpiType field must be ").rstrip(".")
        else:
            must = wanted(row) if row.max else "any length"
        extra = {Form.EMAIL: ", a valid e-mail address", Form.STREET: ", no PO box"}.get(
            row.form, ""
        )
        needed = "yes" if row.required else f"for {row.when}" if row.when else "no"
        table.append(
            [
                f"`{row.name}`",
                row.label,
                needed,
                must + extra + (" (deprecated)" if row.deprecated else ""),
            ]
        )
    yield from grid(["Field", "What it is", "Required", "What passes"], table)


def eligibility_fields_page() -> Iterator[str]:
    """Every field of an eligibility request, and the names of service types."""
    from clearlane.eligibility import fields, services
    from clearlane.eligibility.shape import lines

    yield "# Eligibility request"
    yield ""
    yield (
        "The request is nested: inquiries hold payers, payers hold providers, providers hold subscribers, subscribers "
        "hold dependents. The answer's fields stand in the OpenAPI document."
    )
    for name in fields.__all__:
        shape = getattr(fields, name)
        if not isinstance(shape, type):
            continue
        yield from part(name, _first(shape))
        table: list[list[object]] = []
        for field, line in lines(shape).items():
            needed = "yes" if line.required else f"where {line.when}" if line.when else "no"
            table.append([f"`{field}`", line.label, line.kind, line.max or "", needed])
        yield from grid(["Field", "What it is", "Kind", "Longest", "Required"], table)
    yield from part(
        "Service types", "Each may be given by its name, in any case, or by its X12 code."
    )
    names = services.names("service_types")
    yield from grid(["Code", "Name"], [[f"`{code}`", f"`{name}`"] for code, name in names.items()])


def client_page() -> Iterator[str]:
    """The client library: methods, answers, faults."""
    from clearlane import client

    yield "# Client library"
    yield from part(
        "In short",
        "`clearlane.client` comes with the base install (`pip install clearlane`), needs no server, and works against "
        "any service that speaks V3. `Client` is for threads, `AsyncClient` for `asyncio`; they have the same methods. "
        "Methods have Python's names, payloads the document's field names; bodies may be dictionaries, dataclasses "
        "or any objects with those names.",
    )
    yield "```python"
    yield from _sample()
    yield "```"
    yield from part("Where the service is and who calls")
    yield from _functions(("from_sandbox", "from_environment"), client)
    yield from part(
        "Methods",
        "`AsyncClient` has the same; its calls are awaited, and `iter_status` is an `async for`.",
    )
    yield from grid(
        ["Method", "What it does"],
        [
            [f"`{name}{_signature(method)}`", _first(method)]
            for name, method in inspect.getmembers(client.Client, inspect.isfunction)
            if not name.startswith("_")
        ],
    )
    yield from part("Builders")
    yield from _functions(("claim_document", "eligibility_request", "enrollment_request"), client)
    yield ""
    yield "## Repeating"
    yield ""
    yield (
        "A call is repeated by itself where that is safe: payer lists, status, documents and responses always, claims "
        "always (the service answers a claim it knows as before), other calls only when nothing was taken.",
    )
    yield from part("Faults")
    yield "```text"
    tree = inspect.getdoc(inspect.getmodule(client.ClearlaneError)) or ""
    yield from (
        line.removeprefix("    ").rstrip()
        for line in tree.splitlines()
        if line.lstrip().startswith(("ClearlaneError", "├", "│", "└"))
    )
    yield "```"


def _sample() -> Iterator[str]:
    yield from SAMPLE.strip().splitlines()


SAMPLE = """
from clearlane.client import Client, InvalidRequest

with Client.from_sandbox(".data") as client:
    print([payer.PayerId for payer in client.test_payers("medical")])
    try:
        answer = client.submit_medical_claims({"Svc_PayerId": "TST01", "Svc_VendorClaimId": "A-1"})
    except InvalidRequest as refused:
        print(refused.model_state["Claims[0].F24_ClaimLines"])
"""


def _functions(names: tuple[str, ...], module: Any) -> Iterator[str]:
    yield from grid(
        ["Function", "What it does"],
        [
            [f"`{name}{_signature(getattr(module, name))}`", _first(getattr(module, name))]
            for name in names
        ],
    )


def _signature(function: Any) -> str:
    """The parameters without their types: those stand in the library, for editors."""
    shown = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        given = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        shown.append(parameter.name + given)
    return f"({', '.join(shown)})"


def _default(value: object) -> str:
    return repr(str(value)) if isinstance(value, str) else repr(value)


def _first(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ").replace("``", "`")
