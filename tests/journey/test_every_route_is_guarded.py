"""Every route of the console and every call of `/clearlane/v1`: whose data it shows, who may use it, and what it leaves behind.

Each has a row of expectation here, by its table. A row that has none, and a row whose route is gone, fails.

Also tests `console/frame/page_request`, `api/frame/request_checks` and `store/audit/audit`.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.api.frame.endpoint import BodyUse
from clearlane.api.v1.endpoints import PREFIX, V1
from clearlane.console.frame.page_row import READ
from clearlane.console.page_table import PAGES
from tests.journey.guarded_sandbox import GOOD_NPI, MARK, QUESTION, WORD, open_guarded_sandbox

# What they share, a sandbox with something of every kind, takes seconds.
pytestmark = pytest.mark.slow

LIST, ONE, OPEN, OWN = "a list", "an object of a site", "without a session", "about oneself"
"""What a route is about: a stranger's list has nothing of the site, and an object of the site is not there for a stranger."""
OPERATED = "an operator's"


@dataclass(frozen=True)
class Guard:
    """What is expected of a page, an act or a call."""

    about: str = ONE
    address: str = ""
    """Names of the ids of the sandbox in braces; empty for the path as it is."""
    form: dict[str, Any] | None = None
    audited: str = ""
    """The action that an act leaves in the audit trail."""
    unaudited: str = ""
    """Why an act leaves none."""
    by: str = ""
    """Who does it, if it is not who works on the site's claims."""

    @property
    def is_own_act(self) -> bool:
        """Whether an act names nothing of a site: whoever does it does it at their own."""
        return (
            self.about == LIST and self.form is not None and "{" not in str([*self.form.values()])
        )


def act(about, address, audited, unaudited="", /, by="", **form):
    form = {name.replace("__", "-"): value for name, value in form.items()}
    return Guard(about, address, form, audited, unaudited, by)


FINDS = "It only finds what was typed."
CONSOLE = {
    # Without a session, or about the person alone.
    **{f"GET /{name}": Guard(OPEN) for name in ("style.css", "x12.css", "console.js", "icon.svg", "login", "enter/{code...}", "open/{code}")},
    "POST /login": Guard(OPEN, form={}),
    "GET /me": Guard(OWN),
    "POST /me/credentials": act(OWN, "", "", "tests/console/test_people_page.py chooses both factors, which needs a code of the moment."),
    "POST /me/recovery-codes": act(OWN, "", "", "tests/console/test_people_page.py makes new codes, which needs a code of the moment."),
    "POST /me/sessions": act(OWN, "", "user.end_sessions"),
    "POST /logout": act(OWN, "", "console.sign_out"),
    # Lists.
    **{
        f"GET {path}": Guard(LIST)
        for path in ("/", "/claims", "/worklists", "/claims.csv", "/payments", "/payments.csv", "/payment-lines.csv", "/eligibility",
                     "/enrollments", "/files", "/files/shadow", "/claims/new", "/claims/send", "/eligibility/payers")
    },
    "GET /search": Guard(LIST, "/search?q={word}"),
    "GET /worklists/fix": Guard(LIST, "/worklists/fix?cause={group}&payer=TST01"),
    "GET /claims/new/{form}/payers": Guard(LIST, "/claims/new/v3_medical/payers?q=sandbox"),
    # One claim.
    **{f"GET /claims/{{number}}{rest}": Guard(ONE, f"/claims/{{rejected}}{rest}") for rest in ("", "/correct", "/again", "/print")},
    "GET /claims/{number}/pdf": Guard(ONE, "/claims/{paid}/pdf"),
    "GET /claims/{number}/void": Guard(ONE, "/claims/{void}/void"),
    "GET /claims/{number}/anyway": Guard(ONE, "/claims/{anyway}/anyway"),
    "GET /claims/{number}/outside": Guard(ONE, "/claims/{outside}/outside"),
    "GET /claims/{number}/next": Guard(ONE, "/claims/{next}/next"),
    "GET /claims/{number}/proof": Guard(ONE, "/claims/{paid}/proof"),
    "GET /claims/{number}/form/{sheet}": Guard(ONE, "/claims/{paid}/form/plain"),
    "GET /claims/new/{site}/{draft}": Guard(ONE, "{draft}"),
    # One of everything else.
    "GET /payments/{id}": Guard(ONE, "/payments/{payment}"),
    **{f"GET /payments/{{id}}/{kind}": Guard(ONE, f"/payments/{{v1_payment}}/{kind}") for kind in ("835", "csv", "pdf")},
    "GET /eligibility/{id}": Guard(ONE, "/eligibility/{question}"),
    **{f"GET /eligibility/{{id}}/{kind}": Guard(ONE, f"/eligibility/{{question}}/{kind}") for kind in ("x12", "pdf")},
    "GET /enrollments/{id}": Guard(ONE, "/enrollments/{enrollment}"),
    "GET /files/sites/{id}": Guard(ONE, "/files/sites/{file}"),
    **{f"GET /files/sites/{{id}}/{kind}": Guard(ONE, f"/files/sites/{{file}}/{kind}") for kind in ("raw", "x12")},
    # Operators' pages.
    **{
        f"GET {path}": Guard(OPERATED)
        for path in ("/payers", "/rules", "/sandbox", "/accounts", "/people", "/audit", "/retention", "/payers/new", "/payers/find")
    },
    **{f"GET /files/in/{{id}}{kind}": Guard(OPERATED, f"/files/in/{{answer_file}}{kind}") for kind in ("", "/raw", "/x12")},
    **{f"GET /files/out/{{id}}{kind}": Guard(OPERATED, f"/files/out/{{batch}}{kind}") for kind in ("", "/raw", "/x12")},
    "GET /rules/{rule}": Guard(OPERATED, "/rules/C703"),
    "GET /people/{id}": Guard(OPERATED, "/people/{person}"),
    **{f"GET /accounts/{{vendor}}/{what}": Guard(OPERATED, f"/accounts/ACME/{what}") for what in ("api-keys", "webhooks")},
    "GET /accounts/{vendor}/webhooks/{endpoint}": Guard(OPERATED, "/accounts/ACME/webhooks/{endpoint}"),
    "GET /payers/{type}/{payer}": Guard(OPERATED, "/payers/medical/TST01"),
    "GET /payers/{type}/{payer}/remove/{route}": Guard(OPERATED, "/payers/medical/TST01/remove/{route}"),
    # Acts on claims.
    "POST /first-claim": act(LIST, "", "claims.submit"),
    "POST /claims": act(LIST, "", "claim.assign", claim="{done}", do="assign"),
    "POST /worklists": act(LIST, "", "claim.done", claim="{done}", do="done", reason=MARK),
    "POST /worklists/fix": act(LIST, "", "claims.submit", cause="{group}", payer="TST01", claim="{cause}", value=GOOD_NPI, do="send", checked="{checked}"),
    "POST /claims/send": act(LIST, "", "claims.submit", text="{document_text}"),
    "POST /claims/new": act(LIST, "", "claim.draft", on="v3_medical"),
    "POST /claims/new/{site}/{draft}": act(ONE, "{sent_draft}", "claim.draft_dropped", do="discard"),
    "POST /claims/{number}/notes": act(ONE, "/claims/{rejected}/notes", "claim.note", text=MARK),
    "POST /claims/{number}/correct": Guard(
        ONE, "/claims/{birth}/correct", {"f.F03_PatientDob": "1980-05-05", "f.F11A_InsuredDob": "1980-05-05", "do": "send"}, "claims.submit"),
    "POST /claims/{number}/again": act(ONE, "/claims/{again}/again", "claims.submit", do="send", reason=MARK),
    "POST /claims/{number}/void": act(ONE, "/claims/{void}/void", "claims.submit", do="send", reason=MARK),
    "POST /claims/{number}/anyway": act(ONE, "/claims/{anyway}/anyway", "claims.submit", do="send", reason=MARK),
    "POST /claims/{number}/outside": act(ONE, "/claims/{outside}/outside", "claim.done", text=MARK),
    "POST /claims/{number}/hold": act(ONE, "/claims/{hold}/hold", "claim.hold"),
    "POST /claims/{number}/release": act(ONE, "/claims/{release}/release", "claim.release"),
    "POST /claims/{number}/cancel": act(ONE, "/claims/{cancel}/cancel", "claim.cancel"),
    "POST /claims/{number}/ask": act(ONE, "/claims/{paid}/ask", "claim_status.submit"),
    "POST /claims/{number}/next": act(ONE, "/claims/{next}/next", "claims.submit", do="send", version="1"),
    # Acts on payments, questions and enrollments.
    "POST /payments/{id}/{number}/assign": act(ONE, "/payments/{payment}/2/assign", "payment.assigned", claim="{to_match}", by="operator"),
    "POST /payments/{id}/{number}/undo": act(ONE, "/payments/{payment}/2/undo", "payment.unassigned"),
    "POST /payments/{id}/deposit": act(ONE, "/payments/{payment}/deposit", "payment.deposited", day="{today}", amount="80.00", reference=MARK),
    "POST /payments/{id}/settle": act(ONE, "/payments/{payment}/settle", "payment.settled", because=MARK),
    "POST /payments/{id}/reopen": act(ONE, "/payments/{payment}/reopen", "payment.reopened", closing="settled"),
    "POST /eligibility/payers": Guard(LIST, "", QUESTION | {"chosen": ""}, "", FINDS),
    "POST /eligibility/ask": Guard(LIST, "", QUESTION, "eligibility.submit"),
    "POST /enrollments/{id}/move": act(OPERATED, "/enrollments/{enrollment}/move", "enrollment.start", event="start", payer="HHP2M", type="Medical", transaction="claims"),
    # Operators' acts.
    "POST /sandbox/send": act(OPERATED, "", "claims.submit", member="3018", site="A-1"),
    "POST /sandbox/payer": act(OPERATED, "", "sandbox.payer", payer="TST02", mode="slow"),
    "POST /sandbox/clock": act(OPERATED, "", "sandbox.clock", days="stop"),
    "POST /accounts/vendor": act(OPERATED, "", "vendor.add", key="NORTH", name=MARK),
    "POST /accounts/rotate": act(OPERATED, "", "vendor.rotate", key="NORTH", hours="5"),
    "POST /accounts/vendor-state": act(OPERATED, "", "vendor.disable", key="NORTH", to="disabled"),
    "POST /accounts/site": act(OPERATED, "", "site.add", key="ACME", id="A-9", called=MARK, zone="UTC"),
    "POST /accounts/baa": act(OPERATED, "", "site.baa_accept", id="A-9", to="accepted"),
    "POST /accounts/site-state": act(OPERATED, "", "site.suspend", id="A-9", to="suspended"),
    "POST /accounts/corrections": act(OPERATED, "", "site.corrections_off", id="A-2", to="off"),
    "POST /people/invite": act(OPERATED, "", "user.add", name="nora", role="biller", sites="A-1"),
    "POST /people/reset": act(OPERATED, "", "user.reset", name="rosa"),
    "POST /people/state": act(OPERATED, "", "user.disable", name="milo", to="disabled"),
    "POST /people/{id}/role": act(OPERATED, "/people/{person}/role", "user.role", role="viewer", sites="A-1"),
    "POST /people/{id}/sessions": act(OPERATED, "/people/{person}/sessions", "user.end_sessions"),
    "POST /files/in/{id}/replay": act(OPERATED, "/files/in/{inbox}/replay", "inbox.replay"),
    "POST /files/in/{id}/accept": act(OPERATED, "/files/in/{to_accept}/accept", "", "Nobody sent it, so that it is refused; tests/pipeline accept one."),
    "POST /files/in/{id}/accept-test": act(OPERATED, "/files/in/{to_accept}/accept-test", "", "Test files are only put aside in production: tests/console/test_files_page.py."),
    "POST /files/in/{id}/discard": act(OPERATED, "/files/in/{put_aside}/discard", "inbox.discard"),
    "POST /files/out/{id}/resend": act(OPERATED, "/files/out/{batch}/resend", "batch.resend"),
    "POST /files/out/{id}/delivered": act(OPERATED, "/files/out/{delivered}/delivered", "batch.delivered"),
    "POST /rules/{rule}": act(OPERATED, "/rules/C703", "rule.set", severity="error", payer="TST01", for_site="A-1", because=MARK),
    "POST /accounts/{vendor}/api-keys": act(OPERATED, "/accounts/ACME/api-keys", "api_key.add", name=f"more {MARK}", scopes="read"),
    "POST /accounts/{vendor}/api-keys/{key}/rotate": act(OPERATED, "/accounts/ACME/api-keys/{key}/rotate", "api_key.rotate", hours="24"),
    "POST /accounts/{vendor}/api-keys/{key}/state": act(OPERATED, "/accounts/ACME/api-keys/{key}/state", "api_key.disable", to="disabled"),
    "POST /accounts/{vendor}/api-keys/{key}/remove": act(OPERATED, "/accounts/ACME/api-keys/{removed_key}/remove", "api_key.remove"),
    "POST /accounts/{vendor}/webhooks": act(OPERATED, "/accounts/ACME/webhooks", "webhook.added", url="https://example.com/more"),
    **{
        f"POST /accounts/{{vendor}}/webhooks/{{endpoint}}/{verb}": act(OPERATED, f"/accounts/ACME/webhooks/{{endpoint}}/{verb}", f"webhook.{action}")
        for verb, action in (("ping", "pinged"), ("rotate", "secret_rotated"), ("disable", "disabled"), ("enable", "enabled"))
    },
    "POST /accounts/{vendor}/webhooks/{endpoint}/resend/{event}": act(OPERATED, "/accounts/ACME/webhooks/{endpoint}/resend/{event}", "", "tests/console/test_webhooks_page.py sends one again, which needs a receiver."),
    "POST /payers/new": act(OPERATED, "/payers/new?kind=folder&to=Medical:TST01", "route.add", do="add", position="9", route__outbox="{added_outbox}", route__inbox="{added_inbox}", **{"route-sender_id": "US", "route-receiver_id": "MEADOW"}),
    "POST /payers/{type}/{payer}/pause": act(OPERATED, "/payers/medical/TST01/pause", "route.pause"),
    "POST /payers/{type}/{payer}/resume": act(OPERATED, "/payers/medical/TST01/resume", "route.resume"),
    "POST /payers/{type}/{payer}/try": act(OPERATED, "/payers/medical/TST01/try", "route.try_now"),
    "POST /payers/{type}/{payer}/test/{route}": act(OPERATED, "/payers/medical/TST01/test/{route}", "route.test"),
    "POST /payers/{type}/{payer}/change/{route}": act(OPERATED, "/payers/medical/TST01/change/{changed}", "route.change", **{"route-answer_days": "14"}),
    "POST /payers/{type}/{payer}/stop/{route}": act(OPERATED, "/payers/medical/TST01/stop/{stopped}", "route.disable"),
    "POST /payers/{type}/{payer}/use/{route}": act(OPERATED, "/payers/medical/TST01/use/{stopped}", "route.enable"),
    "POST /payers/{type}/{payer}/remove/{route}": act(OPERATED, "/payers/medical/TST01/remove/{removed}", "route.remove"),
    # Last: time passes.
    "POST /sandbox/advance": act(LIST, "", "sandbox.clock", days="1"),
}  # fmt: skip
ESCAPED = {
    f"GET {path}"
    for path in (
        "/", "/accounts", "/accounts/{vendor}/api-keys", "/claims", "/claims/new", "/claims/new/{site}/{draft}", "/claims/{number}",
        "/claims/{number}/again", "/claims/{number}/correct", "/claims/{number}/outside", "/claims/{number}/print", "/eligibility",
        "/eligibility/{id}", "/enrollments", "/enrollments/{id}", "/files", "/files/out/{id}/x12", "/files/sites/{id}",
        "/files/sites/{id}/x12", "/payers/{type}/{payer}", "/payments", "/payments/{id}", "/people", "/people/{id}", "/rules/{rule}",
        "/worklists", "/worklists/fix",
    )
}  # fmt: skip
"""Pages that are known to show a text with markup, so that the test of it has something to look at."""
TABS = ("notes", "money", "files")
ROUTES = {f"{'GET' if page.methods <= READ or 'GET' in page.methods else 'POST'} {page.path}": page for page in PAGES}  # fmt: skip


@pytest.fixture(scope="module")
async def world(tmp_path_factory):
    async with open_guarded_sandbox(tmp_path_factory.mktemp("guarded")) as made:
        yield made


def address(world, route):
    guard = CONSOLE[route]
    return world.filled(guard.address or route.partition(" ")[2])


def who(world, route):
    """Who may use a route, and sees the site."""
    may = ConsoleRole.BILLER in ROUTES[route].roles and CONSOLE[route].by != "operator"
    return world.biller if may else world.operator


def shows_the_site(world, asked, answered):
    """Return the texts and ids of the site that an answer has and its question did not have."""
    marks = {WORD} if WORD in answered.casefold() and WORD not in asked.casefold() else set()
    return marks | {id for id in world.secrets if id in answered and id not in asked}


def test_every_route_of_the_console_has_an_expectation():
    assert CONSOLE.keys() == ROUTES.keys()
    for route, guard in CONSOLE.items():
        is_act = route.startswith("POST") and guard.about != OPEN
        assert is_act is bool(guard.audited or guard.unaudited), route
        assert (guard.about == OPEN) is (not ROUTES[route].roles), route
        assert (guard.about == OPERATED) is (ROUTES[route].roles == {ConsoleRole.OPERATOR}), route


@pytest.mark.server
async def test_the_addresses_of_the_table_are_there_for_those_who_may(world):
    wrong = []
    for route, guard in CONSOLE.items():
        if guard.form is None and guard.about not in {OPEN, OWN}:
            answer = await who(world, route).ask(address(world, route))
            if answer.status_code != 200:
                wrong.append((route, answer.status_code))
    assert wrong == []


async def test_another_vendors_user_and_another_sites_user_get_nothing_of_the_site(world):
    wrong = []
    for route, guard in CONSOLE.items():
        if guard.about in {OPEN, OWN} or guard.is_own_act:
            continue
        refused = {LIST: {200, 303, 400, 404}, ONE: {404, 409}, OPERATED: {403}}[guard.about]
        for stranger, person in world.strangers.items():
            form = None if guard.form is None else {**world.form(guard.form), "confirmed": "yes"}
            before = len(await world.audited())
            answer = await person.ask(address(world, route), form=form)
            ids = str([row["ids"] for row in (await world.audited())[before:]])
            touched = {id for id in world.secrets if id in ids}
            asked = address(world, route) + str(form)
            shown = shows_the_site(world, asked, bytes(answer.body).decode(errors="replace"))
            if answer.status_code not in refused or shown or touched:
                wrong.append((stranger, route, answer.status_code, shown, touched))
    assert wrong == []


async def test_a_role_that_may_not_use_a_route_is_refused_and_nothing_is_done(world):
    wrong = []
    for route, guard in CONSOLE.items():
        for role in set(ConsoleRole) - ROUTES[route].roles:
            if guard.about == OPEN:
                continue
            before = len(await world.audited())
            form = None if guard.form is None else {**world.form(guard.form), "confirmed": "yes"}
            answer = await world.people[role].ask(address(world, route), form=form)
            if answer.status_code != 403 or len(await world.audited()) != before:
                wrong.append((role, route, answer.status_code))
    assert wrong == []


async def test_an_act_without_its_csrf_token_is_refused_and_nothing_is_done(world):
    wrong = []
    for route, guard in CONSOLE.items():
        if guard.form is None or guard.about == OPEN:
            continue
        form = {**world.form(guard.form), "confirmed": "yes"}
        before = len(await world.audited())
        for token in ("", "0" * 64):
            answer = await who(world, route).ask(address(world, route), form=form, token=token)
            if answer.status_code != 403 or len(await world.audited()) != before:
                wrong.append((route, answer.status_code))
    assert wrong == []


@pytest.fixture(scope="module")
async def called(world):
    """What each call answered and left in the audit trail: all are made, in the order of the endpoints."""
    found = {}
    for endpoint in V1.endpoints:
        if CALLS[endpoint.name].unaudited not in {"", LOOKS}:
            continue
        before = len(await world.audited())
        answer = await call(world, endpoint, world.program())
        rows = (await world.audited())[before:]
        found[endpoint.name] = (answer, [row["action"] for row in rows])
    return found


@pytest.fixture(scope="module")
async def acted(world, called):
    """What each act answered and left in the audit trail: all are done, in the order of the table.

    After the calls, because the last act lets a day pass.
    """
    found = {}
    for route, guard in CONSOLE.items():
        if not guard.audited:
            continue
        person = who(world, route)
        if guard.about == OWN:
            person = await world.sandbox.person(ConsoleRole.BILLER)
        before = len(await world.audited())
        form = {**world.form(guard.form), "confirmed": "yes"}
        answer = await person.ask(address(world, route), form=form)
        rows = (await world.audited())[before:]
        found[route] = (answer, [row["action"] for row in rows])
    return found


async def test_each_act_leaves_a_row_in_the_audit_trail(acted):
    wrong = [
        (route, answer.status_code, answer.headers.get("location"), actions)
        for route, (answer, actions) in acted.items()
        if answer.status_code >= 400 or CONSOLE[route].audited not in actions
    ]
    assert wrong == [], "\n".join(map(str, wrong))


@pytest.mark.server
async def test_markup_in_stored_texts_comes_out_escaped_on_every_page(world, acted):
    raw, escaped = [], set()
    for route, guard in CONSOLE.items():
        if guard.form is not None or guard.about in {OPEN, OWN}:
            continue
        for person in {id(one): one for one in (who(world, route), world.operator)}.values():
            at = address(world, route)
            tabs = [f"{at}?show={tab}" for tab in TABS] if route == "GET /claims/{number}" else []
            for also in tabs:
                if f"<script>{WORD}" in (await person.text(also)).casefold():
                    raw.append(also)  # noqa: PERF401
            answer = await person.ask(at)
            if "html" not in answer.headers["content-type"]:
                continue
            page = bytes(answer.body).decode().casefold()
            if f"<script>{WORD}" in page:
                raw.append(route)
            if f"&lt;script&gt;{WORD}" in page:
                escaped.add(route)
    assert raw == []
    assert escaped >= ESCAPED, ESCAPED - escaped


# ---- the vendor's programs ----------------------------------------------------------------------


@dataclass(frozen=True)
class Called:
    """What is expected of a call of `/clearlane/v1`."""

    about: str = ONE
    path: str = ""
    """Names of the ids of the sandbox in braces; empty for the path as it is."""
    body: Any = None
    audited: str = ""
    unaudited: str = ""


VENDOR, OF_ALL = "what belongs to the vendor", "what everybody may know"
CLAIM, PAYMENT, HOOK = "claims/{claim}", "payments/{v1_payment}", "webhook_endpoints/{v1_endpoint}"
LOOKS = "It changes nothing."
CALLS = {
    **{name: Called(LIST) for name in ("GetClaims", "GetPayments", "GetEnrollments", "GetFiles", "GetEligibilityRequests", "GetEvents", "GetSites", "GetCheckpoints")},
    "GetShadowReport": Called(LIST, "shadow_report?site=A-1"),
    **{f"Get{name}Report": Called(LIST, f"reports/{name.lower()}?by=month") for name in ("Claims", "Denials", "Payments")},
    "GetAgingReport": Called(LIST, "reports/aging?by=label"),
    **{name: Called(OF_ALL, path) for name, path in (("SearchPayers", "payers"), ("GetPayer", "payers/TST01"))},
    "GetClaim": Called(ONE, "claims/{paid}"),
    **{f"GetClaim{name}": Called(ONE, f"claims/{{paid}}/{path}") for name, path in (("Content", "content"), ("X12", "x12"), ("Inquiries", "inquiries"), ("FormPdf", "form.pdf"), ("Form", "form"), ("Proof", "proof"), ("ProofEvidence", "proof/evidence"))},
    "GetSecondaryClaim": Called(ONE, "claims/{v1_next}/secondary"),
    "GetPayment": Called(ONE, PAYMENT),
    **{f"Get{name}": Called(ONE, f"{PAYMENT}/{path}") for name, path in (("ClaimPayments", "claim_payments"), ("PaymentX12", "x12"), ("PaymentCsv", "csv"))},
    "GetEnrollment": Called(ONE, "enrollments/{enrollment}"),
    "GetDocument": Called(ONE, "documents/{document}"),
    "GetDocumentX12": Called(ONE, "documents/{document}/x12"),
    "GetFile": Called(ONE, "files/{file}"),
    "GetFileContent": Called(ONE, "files/{file}/content"),
    "GetEligibilityRequest": Called(ONE, "eligibility/{v1_question}"),
    "GetSite": Called(ONE, "sites/A-1"),
    "GetCall": Called(ONE, "calls/{call}"),
    **{name: Called(VENDOR, path) for name, path in (("GetPayerAliases", "payer_aliases"), ("GetWebhookEndpoints", "webhook_endpoints"), ("GetWebhookEndpoint", HOOK), ("GetWebhookDeliveries", f"{HOOK}/deliveries"))},
    # What changes something.
    "PostClaims": Called(LIST, "claims?site=A-1", "{document_text}", "claims.submit"),
    "ValidateClaims": Called(LIST, "claims/validate?site=A-1", "{document_text}", "", LOOKS),
    "HoldClaim": Called(ONE, "claims/{v1_hold}/hold", None, "claim.hold"),
    "ReleaseClaim": Called(ONE, "claims/{v1_release}/release", None, "claim.release"),
    "CancelClaim": Called(ONE, "claims/{v1_cancel}/cancel", None, "claim.cancel"),
    "CorrectClaim": Called(ONE, "claims/{v1_correct}/correct", {"fields": {"F03_PatientDob": "1980-05-05", "F11A_InsuredDob": "1980-05-05"}}, "claims.submit"),
    "VoidClaim": Called(ONE, "claims/{v1_void}/void", {"reason": MARK}, "claims.submit"),
    "ResubmitClaim": Called(ONE, "claims/{v1_again}/resubmit", {"reason": MARK}, "claims.submit"),
    "SendClaimAnyway": Called(ONE, "claims/{v1_anyway}/send_anyway", {"user": "rosa", "reason": MARK}, "claims.submit"),
    "InquireClaim": Called(ONE, "claims/{paid}/inquire", None, "claim_status.submit"),
    "BillNextPayer": Called(ONE, "claims/{v1_next}/secondary", {}, "claims.submit"),
    "DepositPayment": Called(ONE, f"{PAYMENT}/deposit", {"day": "{today}", "reference": MARK}, "payment.deposited"),
    "SettlePayment": Called(ONE, f"{PAYMENT}/settle", {"because": MARK}, "payment.settled"),
    "UndoDeposit": Called(ONE, f"{PAYMENT}/deposit", None, "payment.reopened"),
    "UndoSettlement": Called(ONE, f"{PAYMENT}/settle", None, "payment.reopened"),
    "SendFile": Called(LIST, "files?site=A-1&name=x.txt", "no claims", "file.received"),
    "AnswerX12": Called(LIST, "x12?site=A-1", "no question", "", "A text that is no question is refused; tests/api and tests/pipeline ask one."),
    "AskEligibility": Called(LIST, "eligibility?site=A-1", "{question_body}", "eligibility.submit"),
    "SetPayerAlias": Called(VENDOR, "payer_aliases", {"alias": "FERN-1", "payer_id": "TST01"}, "payer_alias.set"),
    "RemovePayerAlias": Called(VENDOR, "payer_aliases/FERN-1", None, "payer_alias.remove"),
    "AddWebhookEndpoint": Called(VENDOR, "webhook_endpoints", {"url": "https://example.com/program"}, "webhook.added"),
    "ChangeWebhookEndpoint": Called(VENDOR, HOOK, {"types": ["claim.*"]}, "webhook.changed"),
    "RotateWebhookSecret": Called(VENDOR, f"{HOOK}/rotate_secret", None, "webhook.secret_rotated"),
    "EnableWebhookEndpoint": Called(VENDOR, "webhook_endpoints/{v1_disabled}/enable", {}, "webhook.enabled"),
    "PingWebhookEndpoint": Called(VENDOR, f"{HOOK}/ping", None, "webhook.pinged"),
    "ReplayWebhookEndpoint": Called(VENDOR, f"{HOOK}/replay", {"since_at": "2026-01-01T00:00:00Z"}, "webhook.replayed"),
    "ResendWebhook": Called(VENDOR, f"{HOOK}/deliveries/{{event}}/resend", None, "", "An endpoint that was sent nothing; tests/pipeline send one again."),
    "RemoveWebhookEndpoint": Called(VENDOR, "webhook_endpoints/{v1_removed}", None, "webhook.removed"),
    "CreateConsoleLink": Called(VENDOR, "console_links", {"user": "rosa"}, "user.sign_in_link"),
}  # fmt: skip


async def call(world, endpoint, program):
    """Call an endpoint as its expectation has it."""
    wanted = CALLS[endpoint.name]
    path = world.filled(wanted.path or endpoint.path.removeprefix(f"{PREFIX}/"))
    body = wanted.body
    sent = {}
    if isinstance(body, str):
        sent = {"content": world.form({"body": body})["body"].encode()}
        if endpoint.body_use is BodyUse.JSON:
            sent["headers"] = {"Content-Type": "application/json"}
    elif body is not None:
        sent = {"json": world.form(body)}
    return await program.client.request(endpoint.verbs[0], path, **sent)


def test_every_call_has_an_expectation():
    assert CALLS.keys() == {endpoint.name for endpoint in V1.endpoints}
    for endpoint in V1.endpoints:
        wanted = CALLS[endpoint.name]
        assert (endpoint.verbs[0] == "GET") is not bool(wanted.audited or wanted.unaudited)
        assert (wanted.about == VENDOR) is endpoint.of_vendor, endpoint.name


async def test_another_vendors_program_and_another_sites_key_get_nothing_of_the_site(world):
    """A vendor's own things are refused to a key for some of its sites."""
    programs = {
        "another vendor": world.program("OTHER"),
        "another site": world.program(key="neighbor_key"),
    }
    wrong = []
    for endpoint in V1.endpoints:
        wanted = CALLS[endpoint.name]
        for stranger, program in programs.items():
            before = len(await world.audited())
            answer = await call(world, endpoint, program)
            done = [row["action"] for row in (await world.audited())[before:]]
            named = str(answer.request.url) + str(answer.request.content)
            leaked = shows_the_site(world, named, answer.text)
            may = {LIST: {200, 400, 403, 404}, OF_ALL: {200}, ONE: {404}}.get(wanted.about, set())
            if wanted.about == VENDOR:
                may = {403} if stranger == "another site" else {200, 201, 400, 404}
            if (
                answer.status_code not in may
                or leaked
                or (wanted.about == ONE and wanted.audited in done)
            ):
                wrong.append(
                    (stranger, endpoint.name, answer.status_code, leaked, done, answer.text[:80])
                )
    assert wrong == [], "\n".join(map(str, wrong))


async def test_each_call_is_answered_to_whom_it_belongs_and_what_changes_something_leaves_a_row(
    called,
):
    wrong = [
        (name, answer.status_code, actions, answer.text[:200])
        for name, (answer, actions) in called.items()
        if not answer.is_success or (CALLS[name].audited and CALLS[name].audited not in actions)
    ]
    assert wrong == [], "\n".join(map(str, wrong))
