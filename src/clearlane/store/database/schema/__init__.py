"""All tables of the database, one module per package that owns them. A module is imported when one of its names is asked for.

    from clearlane.store.database.schema import claims          # the module that declares it, and no other
    from clearlane.store.database.schema import metadata        # every module: rights, backup and tests rely on all tables

Declaring a hundred tables takes a tenth of what a command costs. No table has the name of a module here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearlane.store.database.schema.api import *  # noqa: F403
    from clearlane.store.database.schema.api_key_tables import *  # noqa: F403
    from clearlane.store.database.schema.code_list_tables import *  # noqa: F403
    from clearlane.store.database.schema.console import *  # noqa: F403
    from clearlane.store.database.schema.core import *  # noqa: F403
    from clearlane.store.database.schema.counts import *  # noqa: F403
    from clearlane.store.database.schema.delivery import *  # noqa: F403
    from clearlane.store.database.schema.enrollment import *  # noqa: F403
    from clearlane.store.database.schema.event_tables import *  # noqa: F403
    from clearlane.store.database.schema.failed_deliveries import *  # noqa: F403
    from clearlane.store.database.schema.files import *  # noqa: F403
    from clearlane.store.database.schema.follow_up import *  # noqa: F403
    from clearlane.store.database.schema.inquiry_tables import *  # noqa: F403
    from clearlane.store.database.schema.payment_tables import *  # noqa: F403
    from clearlane.store.database.schema.proofs import *  # noqa: F403
    from clearlane.store.database.schema.recovery_code_tables import *  # noqa: F403
    from clearlane.store.database.schema.retention import *  # noqa: F403
    from clearlane.store.database.schema.returned_files import *  # noqa: F403
    from clearlane.store.database.schema.rules import *  # noqa: F403
    from clearlane.store.database.schema.series import *  # noqa: F403
    from clearlane.store.database.schema.sftp_tables import *  # noqa: F403
    from clearlane.store.database.schema.webhooks import *  # noqa: F403
    from clearlane.store.database.schema.worklist import *  # noqa: F403

# The names of each module, all that it has in ``__all__``.
NAMES_OF = {
    "api": ("idempotent_answers",),
    "api_key_tables": ("api_key_secrets", "api_keys"),
    "code_list_tables": (
        "EDITION_STATES", "IN_FORCE", "LOADING", "ON_TRIAL", "REMOVED", "TRIAL_STATES", "code_lists",
        "code_trial_claims", "code_trials", "codes",
    ),
    "console": (
        "console_sessions", "console_user_sites", "console_users", "instances", "login_urls", "sign_in_links",
    ),
    "core": (
        "ANCHORED_ACTION", "APP_ROLE", "BACKUP_ACTION", "BIG_INTEGER", "CLIENT_TABLES", "COMPLETE_STATE",
        "DEFAULT_RIGHTS", "EVERYTHING", "HEAD", "MigrationOperations", "NEVER_SENT_STATES", "NOT_ACCEPTED_STATE",
        "NOT_SUPERSEDED_CLAIM", "RESTORE_ACTIONS", "REVISIONS_CHANNEL", "RIGHTS", "ROUTE_ACTIONS",
        "SHADOW_NOT_ACCEPTED_STATE", "SHADOW_STATE", "SHADOW_STATES", "SITES_SETTING", "STATES_WITH_ERRORS",
        "VENDORS_SETTING", "audit", "audit_cut", "audit_head", "claim_events", "claim_ids", "claim_references",
        "claims", "client_table", "data_keys", "enable_row_security", "hop_payers", "id_column", "installation_keys",
        "installation_table", "log_level", "metadata", "nodes", "one_of", "owner_columns", "payers", "revisions",
        "routes", "row_security", "sites", "takeovers", "vendor_secrets", "vendor_table", "vendors",
    ),
    "counts": ("claim_counts", "report_sums"),
    "delivery": (
        "INBOX_STATES", "batch_claims", "batches", "claim_facts", "control_numbers", "documents", "file_refusals",
        "inbox", "line_references", "parked_statements", "polls", "route_counts", "route_health", "sandbox_agenda",
        "sandbox_ledger", "sandbox_state", "seen_files",
    ),
    "enrollment": ("billing_zips", "enrollment_events", "enrollment_payers", "enrollments"),
    "event_tables": ("due_scans", "event_head", "events", "installation_events"),
    "failed_deliveries": ("delivery_failures",),
    "files": (
        "LISTED_FILE", "client_file_parts", "client_file_sets", "client_files", "file_claims", "file_inquiries",
        "payer_aliases", "shadow_answers", "shadow_claims", "staged_claims",
    ),
    "follow_up": (
        "answer_delays", "answer_figures", "answer_scans", "filing_alarms", "overdue_steps", "site_filing_limits",
    ),
    "inquiry_tables": (
        "INQUIRY_STATES", "OPEN_INQUIRY", "UNANSWERED_INQUIRY", "inquiries", "inquiry_requests",
    ),
    "payment_tables": (
        "claim_payments", "payment_shares", "payments", "provider_adjustments", "unmatched_claim_payments",
    ),
    "proofs": ("proof_checkpoints", "proof_entries", "proof_stamps"),
    "recovery_code_tables": ("recovery_codes",),
    "retention": (
        "legal_holds", "purged_batch_claims", "purged_claim_payments", "retention_periods",
    ),
    "returned_files": ("due_responses", "payees"),
    "rules": ("rule_overrides", "rule_settings"),
    "series": ("series_members",),
    "sftp_tables": ("sftp_accounts", "sftp_host_keys", "sftp_keys", "sftp_usage"),
    "webhooks": ("webhook_deliveries", "webhook_endpoints"),
    "worklist": (
        "claim_drafts", "claim_notes", "claim_summaries", "secondary_drafts", "work_items",
    ),
}  # fmt: skip
OF_ALL_TABLES = frozenset({"CLIENT_TABLES", "metadata"})
"""Names whose value is complete only once every table is declared."""
_MODULE_OF = {name: module for module, names in NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:  # Any: a table, or what is said of tables
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    of_all = name in OF_ALL_TABLES
    for module in NAMES_OF if of_all else (_MODULE_OF[name],):
        found = import_module(f"{__name__}.{module}")
        own = NAMES_OF[module] if of_all else {*NAMES_OF[module]} - OF_ALL_TABLES
        globals().update((each, getattr(found, each)) for each in own)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
