"""A caller of the eligibility API for tests, and helpers that read its answers."""

import asyncio
import sqlite3
import ssl
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass

import asyncpg
import httpx

from tests.api.service_process import ServiceProcess
from tests.eligibility.invented import MILO, ROSA, document
from tests.patience import PATIENCE_SECONDS, until

SUBMIT, RESPONSES = "/api/v3/eligibility/submit", "/api/v3/eligibility/get_responses"
FIELDS = [
    "RequestId", "Status", "Responses", "ValidationResults", "ErrorResponses",
    "InterchangeStatuses",
]  # fmt: skip
COMPLETE, INCOMPLETE, ALL_INVALID = "ResultsComplete", "ResultsIncomplete", "AllInvalid"
TOO_BUSY = 503


@dataclass
class Caller:
    """Calls of one vendor for one site."""

    client: httpx.AsyncClient
    serving: ServiceProcess

    @classmethod
    def of(cls, serving, auth, site, **options):
        context = ssl.create_default_context(cafile=serving.ca_file)
        client = httpx.AsyncClient(
            base_url=serving.base_url, verify=context, auth=auth, timeout=PATIENCE_SECONDS * 3,
            params={"vendorSiteId": site}, **options,
        )  # fmt: skip
        return _Open(client, serving)

    async def submit(self, request, **more):
        """The body of a submission that succeeds."""
        return body_of(await self.client.post(SUBMIT, json=request, **more))

    def begin(self, request):
        """A submission that is waited for elsewhere."""
        return asyncio.create_task(self.submit(request))

    async def begun(self, request):
        """The same, once it is stored and its inquiries are being sent."""
        before = await requests_at(self.serving)
        waiting = self.begin(request)

        async def stored():
            return await requests_at(self.serving) > before

        await until(stored)
        # Another call is answered: what the node had to do before it, it has done.
        assert (await self.client.get("/openapi.json")).status_code == 200
        return waiting

    async def responses(self, eligibility_request_id):
        return body_of(
            await self.client.post(RESPONSES, params={"requestId": eligibility_request_id})
        )

    async def advance(self, by):
        """Let time pass. A node too busy to see it through reports it: then the rest is waited for."""
        before = await self.advanced_seconds()
        answer = await self.client.post("/sandbox/advance", json={"By": by})
        while answer.status_code == TOO_BUSY:
            left = "0s" if await self.advanced_seconds() > before else by
            answer = await self.client.post("/sandbox/advance", json={"By": left})
        assert answer.status_code == 200, answer.text

    async def advanced_seconds(self):
        return (await self.client.get("/sandbox/clock")).json()["AdvancedSeconds"]

    async def mode(self, payer, mode):
        answer = await self.client.post("/sandbox/payers", json={"PayerId": payer, "Mode": mode})
        assert answer.status_code == 200, answer.text


class _Open:
    def __init__(self, client, serving):
        self._client = client
        self._serving = serving

    async def __aenter__(self):
        return Caller(await self._client.__aenter__(), self._serving)

    async def __aexit__(self, *why):
        await self._client.__aexit__(*why)


async def requests_at(serving):
    """How many requests a service has stored."""
    return await _number(serving, "SELECT count(*) FROM inquiry_requests")


async def answers_at(serving):
    """How many patients have their answers."""
    return await _number(serving, "SELECT count(*) FROM inquiries WHERE state = 'Answered'")


async def _number(serving, sql):
    if serving.kind == "postgresql":
        connection = await asyncpg.connect(serving.environment["CLEARLANE_DATABASE_URL"])
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()
    with closing(sqlite3.connect(serving.data / "clearlane.db")) as connection:
        return connection.execute(sql).fetchone()[0]


def body_of(answer):
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert list(body) == FIELDS
    return body


def one(member="2001", payer="TST01", **changes):
    """A request about one patient."""
    return document(payer_PayerId=payer, subscriber_MemberId=member, **changes)


def child(member="2001", payer="TST01"):
    """A request about a dependent alone."""
    return one(member, payer, subscriber_Dependents=[MILO], subscriber_RequestedBenefits=[])


def many(members, payer="TST01"):
    """A request about many subscribers of one provider."""
    found = document(payer_PayerId=payer)
    subscribers = []
    for at, member in enumerate(members, start=1):
        trace = {"Number": f"visit {at}", "OriginatorID": "9FERNHILL1"}
        subscribers.append(deepcopy(ROSA) | {"MemberId": member, "PayeeTraceNumber": trace})
    found["BenefitInquiries"][0]["Payers"][0]["Payees"][0]["Subscribers"] = subscribers
    return found


def subscriber_of(response):
    return response["Payers"][0]["Payees"][0]["Subscribers"][0]


def traces(body):
    """The callers' trace numbers of all responses, wherever the patient stands."""
    people = []
    for response in body["Responses"]:
        subscriber = subscriber_of(response)
        people += [subscriber, *(subscriber["Dependents"] or ())]
    return [
        one["PayeeTraceNumber"]["Number"]
        for one in [*people, *body["ErrorResponses"]]
        if one["PayeeTraceNumber"]
    ]
