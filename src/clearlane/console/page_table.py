"""The table of pages: every row that the modules of the console declare.

A page is one module, one template in ``pages/``, and its name here; its rows are declared at its handlers. An action is a
POST; its form was read and its CSRF token checked before the handler is called.
"""

from clearlane.console import first_steps, home_page
from clearlane.console.account import me_page, sign_in_page
from clearlane.console.claims import (
    claim_action_handlers,
    claim_page,
    claims_page,
    correct_page,
    fix_cause_page,
    next_payer_page,
    outside_page,
    print_page,
    resend_page,
    search_page,
    worklist_actions,
)
from clearlane.console.files import (
    file_page,
    files_page,
    send_claims_page,
    shadow_page,
    site_file_page,
)
from clearlane.console.frame import frame_assets
from clearlane.console.frame.page_row import PageRow
from clearlane.console.new_claim import new_claim_page
from clearlane.console.operator import (
    accounts_page,
    api_keys_page,
    audit_page,
    connection_page,
    connections_page,
    new_connection_page,
    people_page,
    person_page,
    retention_page,
    rules_page,
    sandbox_clock,
    sandbox_page,
    webhook_page,
    webhooks_page,
)
from clearlane.console.patients import eligibility_page, enrollments_page
from clearlane.console.payments import (
    deposit_actions,
    payment_downloads,
    payment_list_csv,
    payment_page,
    payments_page,
)

MODULES = (
    frame_assets, sign_in_page, sandbox_clock, home_page, first_steps,
    claims_page, search_page, claim_page, correct_page, resend_page, outside_page, print_page,
    new_claim_page, claim_action_handlers, worklist_actions, fix_cause_page, next_payer_page,
    payments_page, payment_page, payment_downloads, payment_list_csv, deposit_actions, eligibility_page, enrollments_page,
    connections_page, new_connection_page, connection_page, rules_page, files_page, file_page, site_file_page, shadow_page, send_claims_page,
    sandbox_page,
    accounts_page, api_keys_page, webhooks_page, webhook_page, people_page, person_page, me_page, audit_page, retention_page,
)  # fmt: skip


def _variable_segments(row: PageRow) -> list[bool]:
    return [segment.startswith("{") for segment in row.path.split("/")]


PAGES: tuple[PageRow, ...] = tuple(
    sorted((row for module in MODULES for row in module.pages.rows), key=_variable_segments)
)
"""The first row that fits an address is shown, so ``/eligibility/payers`` comes before ``/eligibility/{id}``."""
