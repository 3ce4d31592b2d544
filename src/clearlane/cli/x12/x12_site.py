"""What is known of the claims of a file that a site would send: its payers, what they want, and the settings of rules."""

from pathlib import Path

from clearlane.claims.kinds import KINDS
from clearlane.claims.rules import RuleInputs
from clearlane.claims.rules.file_findings import KnownOfClaim
from clearlane.claims.rules.settings import with_payer
from clearlane.claims.view import ClaimView
from clearlane.cli.command.operator_command import run_in_installation
from clearlane.cli.command.storage_command import refuse
from clearlane.store.installation.rule_settings import load_rule_settings
from clearlane.wiring import Installation


def load_known(site: str, data: Path | None) -> KnownOfClaim:
    """Return what adds the payer of a claim and the settings of rules to what the rules know."""

    async def load(installation: Installation) -> KnownOfClaim:
        if installation.accounts.any_site(site) is None:
            refuse(f"There is no site {site}. clearlane site list shows them.")
        settings = await load_rule_settings(installation.database)
        payers = installation.payers

        def add(inputs: RuleInputs, view: ClaimView) -> RuleInputs:
            payer = payers.find(view.payer.id or "", KINDS[view.form.kind].payer_type)
            return with_payer(inputs, payer, settings, site)

        return add

    return run_in_installation(data, load)
