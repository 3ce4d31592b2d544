"""The table of pages: every address of the console, its roles, and the module that shows it.

A page is one module, one template in ``pages/`` and its rows here. An action is a POST; its form was read and its
CSRF token checked before the module is called.
"""

from clearlane.console import (
    claim_page,
    claims_page,
    first_steps,
    frame_assets,
    home_page,
    payment_downloads,
    payment_page,
    payments_page,
    sandbox_clock,
    search_page,
    sign_in_page,
)
from clearlane.console.page_row import (
    BILLERS,
    EVERYBODY,
    NOBODY_SIGNED_IN,
    SEND,
    PageRow,
)

FRAME_PAGES = (
    PageRow(path="/style.css", roles=NOBODY_SIGNED_IN, show=frame_assets.show_style),
    PageRow(path="/console.js", roles=NOBODY_SIGNED_IN, show=frame_assets.show_script),
    PageRow(path="/icon.svg", roles=NOBODY_SIGNED_IN, show=frame_assets.show_icon),
    PageRow(path="/login", roles=NOBODY_SIGNED_IN, show=sign_in_page.show_sign_in),
    PageRow(path="/login", methods=SEND, roles=NOBODY_SIGNED_IN, show=sign_in_page.submit_sign_in),
    # Not for HEAD: link previews and scanners must not use up a one-time address.
    PageRow(
        path="/enter/{code}",
        methods=frozenset({"GET"}),
        roles=NOBODY_SIGNED_IN,
        show=sign_in_page.open_login_url,
    ),
    PageRow(
        path="/open/{code}",
        methods=frozenset({"GET"}),
        roles=NOBODY_SIGNED_IN,
        show=sign_in_page.open_sign_in_address,
    ),
    PageRow(path="/logout", methods=SEND, roles=EVERYBODY, show=sign_in_page.submit_sign_out),
    PageRow(path="/sandbox/advance", methods=SEND, roles=BILLERS, show=sandbox_clock.advance),
)

HOME_PAGES = (
    PageRow(path="/", roles=EVERYBODY, menu="/", show=home_page.show_home),
    PageRow(path="/first-claim", methods=SEND, roles=BILLERS, show=first_steps.send_sample),
)

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

CLAIM_PAGES = (
    PageRow(path="/claims", roles=EVERYBODY, menu="/claims", show=claims_page.show_claims),
    PageRow(path="/search", roles=EVERYBODY, menu="/claims", show=search_page.show_search),
    PageRow(path="/worklists", roles=EVERYBODY, menu="/claims", show=claims_page.show_worklists),
    PageRow(path="/claims.csv", roles=EVERYBODY, show=claims_page.download_claims),
    PageRow(
        path="/claims/{number}",
        roles=EVERYBODY,
        menu="/claims",
        show=claim_page.show_claim,
        notices=claim_page.NOTICES,
    ),
    PageRow(path="/claims/{number}/notes", methods=SEND, roles=BILLERS, show=claim_page.add_note),
)

PAGES: tuple[PageRow, ...] = (*FRAME_PAGES, *HOME_PAGES, *CLAIM_PAGES, *PAYMENT_PAGES)
