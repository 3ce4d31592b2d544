"""The rows of the table of pages for what operators run: connections, files, accounts, people and audit."""

from clearlane.console import (
    accounts_page,
    audit_page,
    connection_page,
    connections_page,
    file_page,
    files_page,
    me_page,
    people_page,
    person_page,
    sandbox_page,
    webhook_page,
    webhooks_page,
)
from clearlane.console.page_row import EVERYBODY, OPERATORS, SEND, PageRow

CONNECTION_PAGES = (
    PageRow(
        path="/payers",
        roles=OPERATORS,
        menu="/payers",
        show=connections_page.show_connections,
        notices=connection_page.NOTICES,
    ),
    PageRow(
        path="/payers/{type}/{payer}",
        roles=OPERATORS,
        menu="/payers",
        show=connection_page.show_connection,
        notices=connection_page.NOTICES,
    ),
    *(
        PageRow(
            path=f"/payers/{{type}}/{{payer}}/{verb}",
            methods=SEND,
            roles=OPERATORS,
            menu="/payers",
            show=show,
        )
        for verb, show in (
            ("pause", connection_page.pause),
            ("resume", connection_page.resume),
            ("try", connection_page.try_now),
            ("test/{route}", connection_page.check),
            ("change/{route}", connection_page.change),
        )
    ),
)

FILE_PAGES = (
    PageRow(path="/files", roles=OPERATORS, menu="/files", show=files_page.show_files),
    PageRow(
        path="/files/in/{id}",
        roles=OPERATORS,
        menu="/files",
        show=file_page.show_incoming,
        notices=file_page.IN_NOTICES,
    ),
    PageRow(
        path="/files/out/{id}",
        roles=OPERATORS,
        menu="/files",
        show=file_page.show_outgoing,
        notices=file_page.OUT_NOTICES,
    ),
    *(
        PageRow(path=f"/files/{path}", roles=OPERATORS, menu="/files", show=show)
        for path, show in (
            ("in/{id}/raw", file_page.download_incoming),
            ("out/{id}/raw", file_page.download_outgoing),
            ("in/{id}/x12", file_page.explain_incoming),
            ("out/{id}/x12", file_page.explain_outgoing),
        )
    ),
    *(
        PageRow(path=f"/files/{path}", methods=SEND, roles=OPERATORS, menu="/files", show=show)
        for path, show in (
            ("in/{id}/replay", file_page.replay),
            ("in/{id}/accept", file_page.accept),
            ("in/{id}/discard", file_page.discard),
            ("out/{id}/resend", file_page.resend),
            ("out/{id}/delivered", file_page.mark_delivered),
        )
    ),
)

SANDBOX_PAGES = (
    PageRow(
        path="/sandbox",
        roles=OPERATORS,
        menu="/sandbox",
        show=sandbox_page.show_sandbox,
        notices=sandbox_page.NOTICES,
    ),
    *(
        PageRow(path=f"/sandbox/{path}", methods=SEND, roles=OPERATORS, menu="/sandbox", show=show)
        for path, show in (
            ("send", sandbox_page.send_scenario),
            ("payer", sandbox_page.set_mode),
            ("clock", sandbox_page.set_clock),
        )
    ),
)

ACCOUNT_PAGES = (
    PageRow(
        path="/accounts",
        roles=OPERATORS,
        menu="/accounts",
        show=accounts_page.show_accounts,
        notices=accounts_page.NOTICES,
    ),
    *(
        PageRow(
            path=f"/accounts/{path}", methods=SEND, roles=OPERATORS, menu="/accounts", show=show
        )
        for path, show in (
            ("vendor", accounts_page.add_vendor),
            ("rotate", accounts_page.rotate_secret),
            ("vendor-state", accounts_page.set_vendor_state),
            ("site", accounts_page.add_site),
            ("site-state", accounts_page.set_site_state),
            ("baa", accounts_page.set_baa),
            ("corrections", accounts_page.set_corrections),
        )
    ),
)

WEBHOOK_PAGES = (
    PageRow(
        path="/accounts/{vendor}/webhooks",
        roles=OPERATORS,
        menu="/accounts",
        show=webhooks_page.show_webhooks,
    ),
    PageRow(
        path="/accounts/{vendor}/webhooks/{endpoint}",
        roles=OPERATORS,
        menu="/accounts",
        show=webhook_page.show_webhook,
        notices=webhook_page.NOTICES,
    ),
    *(
        PageRow(
            path=f"/accounts/{{vendor}}/webhooks{path}",
            methods=SEND,
            roles=OPERATORS,
            menu="/accounts",
            show=show,
        )
        for path, show in (
            ("", webhooks_page.add_webhook),
            ("/{endpoint}/ping", webhook_page.ping),
            ("/{endpoint}/rotate", webhook_page.rotate),
            ("/{endpoint}/disable", webhook_page.disable),
            ("/{endpoint}/enable", webhook_page.enable),
            ("/{endpoint}/resend/{event}", webhook_page.resend),
        )
    ),
)

PEOPLE_PAGES = (
    PageRow(
        path="/people",
        roles=OPERATORS,
        menu="/people",
        show=people_page.show_people,
        notices=people_page.NOTICES,
    ),
    *(
        PageRow(path=f"/people/{path}", methods=SEND, roles=OPERATORS, menu="/people", show=show)
        for path, show in (
            ("invite", people_page.invite),
            ("reset", people_page.reset),
            ("state", people_page.set_state),
        )
    ),
    PageRow(
        path="/people/{id}",
        roles=OPERATORS,
        menu="/people",
        show=person_page.show_person,
        notices=person_page.NOTICES,
    ),
    PageRow(
        path="/people/{id}/role",
        methods=SEND,
        roles=OPERATORS,
        menu="/people",
        show=person_page.set_role,
    ),
    PageRow(
        path="/people/{id}/sessions",
        methods=SEND,
        roles=OPERATORS,
        menu="/people",
        show=person_page.end_sessions,
    ),
    PageRow(path="/me", roles=EVERYBODY, menu="/me", show=me_page.show_me, notices=me_page.NOTICES),
    PageRow(path="/me/credentials", methods=SEND, roles=EVERYBODY, show=me_page.store_credentials),
    PageRow(path="/me/recovery-codes", methods=SEND, roles=EVERYBODY, show=me_page.renew_codes),
    PageRow(path="/me/sessions", methods=SEND, roles=EVERYBODY, show=me_page.end_sessions),
)

AUDIT_PAGES = (PageRow(path="/audit", roles=OPERATORS, menu="/audit", show=audit_page.show_audit),)

OPERATOR_PAGES: tuple[PageRow, ...] = (
    *CONNECTION_PAGES,
    *FILE_PAGES,
    *SANDBOX_PAGES,
    *ACCOUNT_PAGES,
    *WEBHOOK_PAGES,
    *PEOPLE_PAGES,
    *AUDIT_PAGES,
)
