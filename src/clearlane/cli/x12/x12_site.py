"""What is known of the claims of a file that a site would send: its payers, what they want, settings of rules, code lists."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from clearlane.claims.kinds import KINDS
from clearlane.claims.rules import RuleInputs
from clearlane.claims.rules.file_findings import KnownOfClaim
from clearlane.claims.rules.settings import with_payer
from clearlane.claims.view import ClaimView
from clearlane.cli.command.chosen_site import find_site
from clearlane.cli.command.operator_command import run_in_installation
from clearlane.payers.sender_payers import SenderPayers
from clearlane.pipeline.intake.code_lookup import CodeLookup
from clearlane.store.delivery import payer_aliases
from clearlane.store.installation.code_lists import load_code_lists
from clearlane.wiring import Installation
from clearlane.x12.codes.code_editions import CodeLists

T = TypeVar("T")


def check_as_site(site: str, data: Path | None, check: Callable[[KnownOfClaim], T]) -> T:
    """Run a check with what adds payer, settings and the code lists in force to what the rules know of a claim.

    The check runs in a thread of its own: a list that is too large for memory is asked for the codes of each claim.
    """

    async def work(installation: Installation) -> T:
        found = find_site(installation, site)
        async with installation.database.read(found.scope) as tx:
            aliases = await payer_aliases.list_aliases(tx)
        by_alias = {one.alias_key: one.payer_id for one in aliases}
        payers = SenderPayers(installation.payers, by_alias)
        settings = installation.rule_settings
        lists, lookup = await load_code_lists(installation.database), CodeLookup()
        loop = asyncio.get_running_loop()

        def known_lists(view: ClaimView) -> CodeLists:
            if not lists.large:
                return lists
            asked = lookup.complete_view(
                installation.database,
                lists,
                view,
                seconds_max=installation.settings.write_seconds_max,
            )
            return asyncio.run_coroutine_threadsafe(asked, loop).result()

        def add(inputs: RuleInputs, view: ClaimView) -> RuleInputs:
            payer = payers.find(view.payer.id or "", KINDS[view.form.kind].payer_type)
            known = with_payer(inputs, payer, settings, site)
            return replace(known, code_lists=known_lists(view))

        return await asyncio.to_thread(check, add)

    return run_in_installation(data, work)
