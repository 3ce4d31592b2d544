"""Rows of the table of pages for payments and for what operators run: connections, files, accounts, people, audit."""

from clearlane.console import (
    connection_page,
    connections_page,
    file_page,
    files_page,
    payment_downloads,
    payment_page,
    payments_page,
)
from clearlane.console.page_row import BILLERS, EVERYBODY, OPERATORS, SEND, PageRow

PAYMENT_PAGES = (
    PageRow(path="/payments", roles=EVERYBODY, menu="/payments", show=payments_page.show_payments),
    PageRow(
        path="/payments/{id}",
        roles=EVERYBODY,
        menu="/payments",
        show=payment_page.show_payment,
        notices=payment_page.NOTICES,
    ),
    PageRow(path="/payments/{id}/835", roles=EVERYBODY, show=payment_downloads.download_x12),
    PageRow(path="/payments/{id}/csv", roles=EVERYBODY, show=payment_downloads.download_csv),
    PageRow(path="/payments/{id}/pdf", roles=EVERYBODY, show=payment_downloads.download_pdf),
    PageRow(
        path="/payments/{id}/{number}/assign",
        methods=SEND,
        roles=BILLERS,
        show=payment_page.assign,
    ),
    PageRow(
        path="/payments/{id}/{number}/undo", methods=SEND, roles=BILLERS, show=payment_page.undo
    ),
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

MORE_PAGES: tuple[PageRow, ...] = (*PAYMENT_PAGES, *CONNECTION_PAGES, *FILE_PAGES)
