"""Write the reference page about the client library, made from the library itself."""

import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

from tools.docs.markdown import first_words, grid, part


def client_page() -> Iterator[str]:
    """Write the methods, answers and errors of the client library."""
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
    yield from FIRST.strip().splitlines()
    yield "```"
    yield ""
    yield (
        "`MedicalClaim`, `DentalClaim`, their lines, `EligibilityRequest` and `Enrollment` are dictionaries whose names an "
        "editor completes; a type checker finds a wrong name and a missing field. Plain dictionaries work as well. `timeout` "
        "is in seconds for each answer. Repeated calls are logged under `clearlane.client`. Against a sandbox:"
    )
    yield ""
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
            [f"`{name}{_signature(method)}`", first_words(inspect.getdoc(method))]
            for name, method in inspect.getmembers(client.Client, inspect.isfunction)
            if not name.startswith("_")
        ],
    )
    yield from part(
        "Clearlane's own API",
        "Claims, payments, payers, events and webhooks below `/clearlane/v1` are properties of a client. Lists are iterators "
        "over all pages, of all sites of the vendor unless `site` is given; filters have the names of the "
        "[API](clearlane-v1.md). A change is sent with an `Idempotency-Key`, so it is repeated safely.",
    )
    yield "```python"
    yield from OWN_API.strip().splitlines()
    yield "```"
    yield ""
    yield from grid(["Method", "What it does"], list(_resource_methods(client.Client)))
    yield ""
    yield "`webhooks.verify(body, headers, secret)` returns the event of a webhook that is signed with the secret."
    yield from part("Builders")
    yield from _functions(("claim_document", "eligibility_request", "enrollment_request"), client)
    yield ""
    yield "## Repeating"
    yield ""
    yield (
        "A call is repeated automatically if that is safe: eligibility requests only if the service took nothing, "
        "all others also if the answer was lost, because the service recognizes what it knows. "
        "`Retry(attempts_max=1)` never repeats."
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


def _resource_methods(client: type) -> Iterator[list[str]]:
    """Yield the methods of the objects that a client's properties return, with what each does."""
    for resource, found in inspect.getmembers(client, lambda one: isinstance(one, property)):
        kind = get_type_hints(found.fget).get("return") if found.fget else None
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if kind is not None and not name.startswith("_"):
                call = f"{resource}.{name}{_signature(method)}"
                yield [f"`{call}`", first_words(inspect.getdoc(method))]


def _sample() -> Iterator[str]:
    yield from SAMPLE.strip().splitlines()


OWN_API = """
from clearlane.client import Client, Conflict, CursorFile

with Client.from_environment() as client:
    for claim in client.claims.find(state="rejected", payer="TST01"):
        try:
            client.claims.correct(claim.claim_number, {"F03_PatientDob": "1979-05-17"})
        except Conflict as fault:
            print(fault.message)
    for event in client.events.follow(CursorFile("events.cursor"), types=["claim.*"]):
        print(event.type, event.claim_number, event.data)
"""
FIRST = """
from collections.abc import Iterator

from clearlane.client import Client, MedicalClaim


def send(claims: Iterator[MedicalClaim]) -> None:
    with Client("https://clearinghouse.example", "KEY", "PASSWORD", "SITE-1", timeout=60) as client:
        for result in client.submit(claims):
            print(result.VendorClaimId, result.Status, result.RequestId)
        decided = client.wait_for("A-1")
        print(decided.CurrentState, decided.PayerAction, decided.PayerAmount)
"""
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
            [
                f"`{name}{_signature(getattr(module, name))}`",
                first_words(inspect.getdoc(getattr(module, name))),
            ]
            for name in names
        ],
    )


def _signature(function: Any) -> str:
    """Return the parameters without their types, which editors read from the library."""
    shown = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            shown.append(f"**{parameter.name}")
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        given = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        shown.append(parameter.name + given)
    return f"({', '.join(shown)})"


def _default(value: object) -> str:
    return repr(str(value)) if isinstance(value, str) else repr(value)
