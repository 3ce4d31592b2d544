"""The rows of the table of pages for what operators run: connections, files, accounts, people and audit."""

from clearlane.console import page_questions
from clearlane.console.account import me_page
from clearlane.console.frame.page_row import EVERYBODY, OPERATORS, SEND, PageRow, before
from clearlane.console.operator import (
    accounts_page,
    audit_page,
    connection_page,
    connections_page,
    file_page,
    files_page,
    people_page,
    person_page,
    sandbox_page,
    webhook_page,
    webhooks_page,
)

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
            **before(asked),
        )
        for verb, show, asked in (
            ("pause", connection_page.pause, page_questions.PAUSE_PAYER),
            ("resume", connection_page.resume, page_questions.RESUME_PAYER),
            ("try", connection_page.try_now, page_questions.REPEATS_SAFELY),
            ("test/{route}", connection_page.check, page_questions.SENDS_NOTHING),
            ("change/{route}", connection_page.change, page_questions.UNDONE_BESIDE),
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
        PageRow(
            path=f"/files/{path}",
            methods=SEND,
            roles=OPERATORS,
            menu="/files",
            show=show,
            **before(asked),
        )
        for path, show, asked in (
            ("in/{id}/replay", file_page.replay, page_questions.REPEATS_SAFELY),
            ("in/{id}/accept", file_page.accept, page_questions.ACCEPT_FILE),
            ("in/{id}/accept-test", file_page.accept_test, page_questions.ACCEPT_TEST_FILE),
            ("in/{id}/discard", file_page.discard, page_questions.DISCARD_FILE),
            ("out/{id}/resend", file_page.resend, page_questions.RESEND_FILE),
            ("out/{id}/delivered", file_page.mark_delivered, page_questions.CONFIRM_DELIVERY),
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
        PageRow(
            path=f"/sandbox/{path}",
            methods=SEND,
            roles=OPERATORS,
            menu="/sandbox",
            show=show,
            unasked=page_questions.ONLY_THE_SANDBOX,
        )
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
            path=f"/accounts/{path}",
            methods=SEND,
            roles=OPERATORS,
            menu="/accounts",
            show=show,
            **before(asked),
        )
        for path, show, asked in (
            ("vendor", accounts_page.add_vendor, page_questions.ADDS),
            ("rotate", accounts_page.rotate_secret, page_questions.NEW_PASSWORD),
            ("vendor-state", accounts_page.set_vendor_state, page_questions.VENDOR_STATE),
            ("site", accounts_page.add_site, page_questions.ADDS),
            ("site-state", accounts_page.set_site_state, page_questions.SITE_STATE),
            ("baa", accounts_page.set_baa, page_questions.AGREEMENT),
            ("corrections", accounts_page.set_corrections, page_questions.UNDONE_BESIDE),
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
            **before(asked),
        )
        for path, show, asked in (
            ("", webhooks_page.add_webhook, page_questions.ADDS),
            ("/{endpoint}/ping", webhook_page.ping, page_questions.SENDS_NOTHING),
            ("/{endpoint}/rotate", webhook_page.rotate, page_questions.NEW_WEBHOOK_SECRET),
            ("/{endpoint}/disable", webhook_page.disable, page_questions.DISABLE_WEBHOOK),
            ("/{endpoint}/enable", webhook_page.enable, page_questions.UNDONE_BESIDE),
            ("/{endpoint}/resend/{event}", webhook_page.resend, page_questions.REPEATS_SAFELY),
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
        PageRow(
            path=f"/people/{path}",
            methods=SEND,
            roles=OPERATORS,
            menu="/people",
            show=show,
            **before(asked),
        )
        for path, show, asked in (
            ("invite", people_page.invite, page_questions.ADDS),
            ("reset", people_page.reset, page_questions.RESET_PERSON),
            ("state", people_page.set_state, page_questions.PERSON_STATE),
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
        unasked=page_questions.UNDONE_BESIDE,
    ),
    PageRow(
        path="/people/{id}/sessions",
        methods=SEND,
        roles=OPERATORS,
        menu="/people",
        show=person_page.end_sessions,
        ask=page_questions.END_SESSIONS,
    ),
    PageRow(path="/me", roles=EVERYBODY, menu="/me", show=me_page.show_me, notices=me_page.NOTICES),
    *(
        PageRow(path=path, methods=SEND, roles=EVERYBODY, menu="/me", show=show, **before(asked))
        for path, show, asked in (
            ("/me/credentials", me_page.store_credentials, page_questions.NEEDS_CREDENTIALS),
            ("/me/recovery-codes", me_page.renew_codes, page_questions.NEEDS_CREDENTIALS),
            ("/me/sessions", me_page.end_sessions, page_questions.END_OWN_SESSIONS),
        )
    ),
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
