"""Delivers due webhooks once, as a process of its own, so that it can die at a crash point.

Started with one argument, a JSON object that names the database.
"""

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path

from clearlane.connect.webhook_http import WebhookSender
from clearlane.events.retries import RETRY_SECONDS
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline.notify.webhook_runner import WebhookRunner
from clearlane.store.accounts.accounts import load_accounts
from clearlane.store.vault.vault import Vault
from tests.contexts import work_context
from tests.databases import START, Place
from tests.manual_clock import ManualClock


async def main(given):
    place = Place(given["kind"], given["url"], Path(given["data"]))
    database = await place.open(ManualClock(START))
    vault = Vault(database, place.keys(), ManualClock(START))
    await vault.load()
    accounts = await load_accounts(database, vault.pepper)
    context = work_context(
        database, vault, accounts=accounts, data=place.data, node=given["node"], sandbox=True
    )
    # Later than the pause after a failure, and not than the lease of the process that died: it had the same directory.
    wall = ManualClock(SystemClock().now() + given["nth"] * timedelta(seconds=RETRY_SECONDS[0] + 1))
    runner = WebhookRunner(context, WebhookSender(sandbox=True), wall)
    try:
        await runner.deliver_due()
    finally:
        await runner.stop()
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
