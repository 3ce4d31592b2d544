"""The table of pages: every address of the console, its roles, and the module that shows it.

A page is one module, one template in ``pages/`` and its rows here. An action is a POST; its form was read and its
CSRF token checked before the module is called.
"""

from clearlane.console import first_steps, home_page, page_questions
from clearlane.console.account import sign_in_page
from clearlane.console.frame import frame_assets
from clearlane.console.frame.page_row import BILLERS, EVERYBODY, NOBODY_SIGNED_IN, SEND, PageRow
from clearlane.console.operator import sandbox_clock
from clearlane.console.page_table_billing import BILLING_PAGES
from clearlane.console.page_table_operators import OPERATOR_PAGES

FRAME_PAGES = (
    PageRow(path="/style.css", roles=NOBODY_SIGNED_IN, show=frame_assets.show_style),
    PageRow(path="/x12.css", roles=NOBODY_SIGNED_IN, show=frame_assets.show_x12_style),
    PageRow(path="/console.js", roles=NOBODY_SIGNED_IN, show=frame_assets.show_script),
    PageRow(path="/icon.svg", roles=NOBODY_SIGNED_IN, show=frame_assets.show_icon),
    PageRow(path="/login", roles=NOBODY_SIGNED_IN, show=sign_in_page.show_sign_in),
    PageRow(path="/login", methods=SEND, roles=NOBODY_SIGNED_IN, show=sign_in_page.submit_sign_in),
    # Not for HEAD: link previews and scanners must not use up a one-time address.
    PageRow(
        path="/enter/{code...}",
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
    PageRow(
        path="/logout",
        methods=SEND,
        roles=EVERYBODY,
        show=sign_in_page.submit_sign_out,
        unasked=page_questions.OWN_SESSION,
    ),
    PageRow(
        path="/sandbox/advance",
        methods=SEND,
        roles=BILLERS,
        show=sandbox_clock.advance,
        unasked=page_questions.ONLY_THE_SANDBOX,
    ),
)

HOME_PAGES = (
    PageRow(path="/", roles=EVERYBODY, menu="/", show=home_page.show_home),
    PageRow(
        path="/first-claim",
        methods=SEND,
        roles=BILLERS,
        show=first_steps.send_sample,
        unasked=page_questions.ONLY_THE_SANDBOX,
    ),
)

PAGES: tuple[PageRow, ...] = (*FRAME_PAGES, *HOME_PAGES, *BILLING_PAGES, *OPERATOR_PAGES)
