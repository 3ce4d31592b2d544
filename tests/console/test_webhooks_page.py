"""Webhook endpoints of a vendor in the console: added with a secret shown once, tested, disabled, and their log.

Also tests `console/operator/webhook_page`.
"""

import re

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.connect.webhook_http import WebhookSender
from clearlane.pipeline.notify import webhook_endpoints
from clearlane.pipeline.notify.webhook_runner import WebhookRunner
from clearlane.store.events.event_watch import EventWatch
from tests.console.sandbox_console import open_sandbox_console
from tests.pipeline.webhook_receiver import WebhookReceiver

LIST = "/accounts/ACME/webhooks"
SECRET = re.compile(r'data-copy="(whsec_[^"]+)"')
HOSTILE = b"<script>document.title='run'</script>"


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("webhooks")) as made:
        yield made


@pytest.fixture(scope="module")
async def operator(sandbox):
    return await sandbox.person(ConsoleRole.OPERATOR)


@pytest.fixture
async def receiver():
    async with WebhookReceiver() as made:
        yield made


@pytest.fixture
async def runner(sandbox):
    installation = sandbox.installation
    installation._event_watch = EventWatch(installation.database)
    sender = WebhookSender(sandbox=True)
    made = WebhookRunner(installation.work_context, sender, installation.wall, chance=lambda: 0.0)
    yield made
    await made.stop()
    await installation._event_watch.close()


async def add(operator, url, **form) -> tuple[str, str]:
    """The path of a new endpoint, and its secret."""
    answer = await operator.ask(LIST, form={"url": url, **form})
    page = answer.body.decode()
    [secret] = SECRET.findall(page)
    return re.findall(r'href="/console(/accounts/ACME/webhooks/W\w+)"', page)[-1], secret


async def test_an_endpoint_is_added_pinged_sent_again_and_its_log_read(
    sandbox, operator, receiver, runner
):
    path, secret = await add(operator, receiver.url, types=["claim"], sites="A-1")
    page = await operator.text(path)
    assert secret not in page
    assert secret not in await operator.text(LIST)
    for words in ("claim.*", "Fernhill Family Practice", "Nothing was sent", "Works"):
        assert words in page, words
    answer = await operator.ask(f"{path}/ping", form={})
    assert answer.headers["location"] == f"/console{path}?done=ping"
    receiver.answer(500, HOSTILE)
    await runner.deliver_due()
    page = await operator.text(path)
    for words in ("Trying again", "Fails", "ping", "500 &lt;script&gt;"):
        assert words in page, words
    assert "<script>document" not in page
    receiver.answer(204)
    [event] = re.findall(r"/resend/(\w+)", page)
    answer = await operator.ask(f"{path}/resend/{event}", form={})
    assert answer.headers["location"] == f"/console{path}?done=resent"
    await runner.deliver_due()
    page = await operator.text(path)
    assert "Delivered" in page
    assert "Works" in page
    # A new secret signs beside the old one.
    [other] = SECRET.findall((await operator.confirm(f"{path}/rotate", form={})).body.decode())
    assert other != secret
    assert "webhook.secret_rotated" in await operator.text("/audit?action=webhook")


async def test_a_disabled_endpoint_gets_nothing_and_on_demand_what_it_missed(
    sandbox, operator, receiver, runner
):
    path, _ = await add(operator, receiver.url)
    await sandbox.send("3001")
    answer = await operator.confirm(f"{path}/disable", form={})
    assert answer.headers["location"] == f"/console{path}?done=disabled"
    await runner.deliver_due()
    assert receiver.messages == []
    page = await operator.text(path)
    assert "Disabled" in page
    assert webhook_endpoints.DISABLED_BY_A_PERSON in page
    assert "/resend/" not in page
    await operator.confirm(f"{path}/disable", form={})
    await operator.ask(f"{path}/enable", form={"replay": "yes"})
    await runner.deliver_due()
    assert b"claim.received" in b"".join(message.body for message in receiver.messages)
    assert "Works" in await operator.text(path)


async def test_what_cannot_be_is_refused_with_every_reason(sandbox, operator):
    form = {"url": "ftp://example.com", "sites": "B-1"}
    answer = await operator.ask(LIST, form=form)
    page = answer.body.decode()
    assert (answer.status_code, "must begin with https" in page) == (400, True)
    assert "Choose sites of this vendor only." in page
    for path in ("/accounts/NOBODY/webhooks", f"{LIST}/W1", f"{LIST}/%3Cb%3E"):
        assert (await operator.ask(path)).status_code == 404, path
    # Another vendor's endpoint is not there, whatever is done with it.
    path, _ = await add(operator, "https://example.com/hook")
    foreign = path.replace("ACME", "OTHER")
    assert (await operator.ask(foreign)).status_code == 404
    for verb in ("ping", "rotate", "disable", "enable", "resend/E1", "resend/1"):
        answer = await operator.ask(f"{foreign}/{verb}", form={"confirmed": "yes"})
        assert answer.status_code == 404, verb
    for _ in range(webhook_endpoints.ENDPOINTS_PER_VENDOR_MAX):
        answer = await operator.ask(LIST, form={"url": "https://example.com/hook"})
    assert (answer.status_code, b"at most: remove one first" in answer.body) == (409, True)
