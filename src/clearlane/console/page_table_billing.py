"""The rows of the table of pages for billing people: claims, payments, eligibility and enrollments."""

from clearlane.console import page_questions
from clearlane.console.claims import (
    claim_action_handlers,
    claim_page,
    claims_page,
    correct_page,
    fix_cause_page,
    outside_page,
    resend_page,
    search_page,
    worklist_actions,
)
from clearlane.console.frame.page_row import BILLERS, EVERYBODY, OPERATORS, READ, SEND, PageRow
from clearlane.console.patients import eligibility_page, enrollments_page
from clearlane.console.payments import payment_downloads, payment_page, payments_page

CLAIM_PAGES = (
    PageRow(
        path="/claims",
        roles=EVERYBODY,
        menu="/claims",
        show=claims_page.show_claims,
        notices=worklist_actions.NOTICES,
    ),
    PageRow(path="/search", roles=EVERYBODY, menu="/claims", show=search_page.show_search),
    PageRow(
        path="/worklists",
        roles=EVERYBODY,
        menu="/claims",
        show=claims_page.show_worklists,
        notices=worklist_actions.NOTICES,
    ),
    PageRow(path="/claims.csv", roles=EVERYBODY, show=claims_page.download_claims),
    PageRow(
        path="/claims/{number}",
        roles=EVERYBODY,
        menu="/claims",
        show=claim_page.show_claim,
        notices=claim_page.NOTICES,
    ),
    PageRow(
        path="/claims/{number}/notes",
        methods=SEND,
        roles=BILLERS,
        menu="/claims",
        show=claim_page.add_note,
        kept={"do": "look"},
        unasked=page_questions.ADDS,
    ),
    PageRow(
        path="/claims/{number}/correct",
        roles=BILLERS,
        menu="/claims",
        show=correct_page.show_correction,
    ),
    PageRow(
        path="/claims/{number}/correct",
        methods=SEND,
        roles=BILLERS,
        menu="/claims",
        show=correct_page.save_correction,
        kept={"do": "look"},
        ask=page_questions.DISCARD_DRAFT,
    ),
    *(
        PageRow(
            path=f"/claims/{{number}}/{path}",
            methods=methods,
            roles=BILLERS,
            menu="/claims",
            show=show,
            kept=None if methods is READ else {"do": "look"},
            unasked="" if methods is READ else page_questions.REVIEWED,
        )
        for path, methods, show in (
            ("again", READ, resend_page.show_again),
            ("again", SEND, resend_page.send_again),
            ("void", READ, resend_page.show_void),
            ("void", SEND, resend_page.send_void),
            ("outside", READ, outside_page.show_outside),
            ("outside", SEND, outside_page.finish_outside),
        )
    ),
    PageRow(path="/claims/{number}/pdf", roles=EVERYBODY, show=claim_action_handlers.download_pdf),
    PageRow(
        path="/claims/{number}/hold",
        methods=SEND,
        roles=BILLERS,
        show=claim_action_handlers.hold,
        unasked=page_questions.UNDONE_BESIDE,
    ),
    PageRow(
        path="/claims/{number}/release",
        methods=SEND,
        roles=BILLERS,
        menu="/claims",
        show=claim_action_handlers.release,
        ask=page_questions.RELEASE_CLAIM,
    ),
    PageRow(
        path="/claims/{number}/cancel",
        methods=SEND,
        roles=BILLERS,
        menu="/claims",
        show=claim_action_handlers.cancel,
        ask=page_questions.CANCEL_CLAIM,
    ),
    *(
        PageRow(
            path=path,
            methods=SEND,
            roles=BILLERS,
            menu="/claims",
            show=show,
            unasked=page_questions.ONLY_THE_WORKLIST,
        )
        for path, show in (
            ("/claims", worklist_actions.act_on_claims),
            ("/worklists", worklist_actions.act_on_worklists),
        )
    ),
    PageRow(path="/worklists/fix", roles=BILLERS, menu="/claims", show=fix_cause_page.show_cause),
    PageRow(
        path="/worklists/fix",
        methods=SEND,
        roles=BILLERS,
        menu="/claims",
        show=fix_cause_page.send_cause,
        kept={"do": "check"},
        unasked=page_questions.REVIEWED,
    ),
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
        unasked=page_questions.UNDONE_BESIDE,
    ),
    PageRow(
        path="/payments/{id}/{number}/undo",
        methods=SEND,
        roles=BILLERS,
        show=payment_page.undo,
        unasked=page_questions.UNDONE_BESIDE,
    ),
)

ELIGIBILITY_PAGES = (
    PageRow(
        path="/eligibility",
        roles=EVERYBODY,
        menu="/eligibility",
        show=eligibility_page.show_eligibility,
    ),
    PageRow(
        path="/eligibility/ask",
        methods=SEND,
        roles=BILLERS,
        menu="/eligibility",
        show=eligibility_page.ask,
        unasked=page_questions.ADDS,
    ),
    # Before the answers: the first row that fits an address is shown.
    PageRow(path="/eligibility/payers", roles=BILLERS, show=eligibility_page.show_payers),
    PageRow(
        path="/eligibility/payers",
        methods=SEND,
        roles=BILLERS,
        menu="/eligibility",
        show=eligibility_page.find_payers,
        unasked=page_questions.SENDS_NOTHING,
    ),
    PageRow(
        path="/eligibility/{id}",
        roles=EVERYBODY,
        menu="/eligibility",
        show=eligibility_page.show_answer,
    ),
)

ENROLLMENT_PAGES = (
    PageRow(
        path="/enrollments",
        roles=EVERYBODY,
        menu="/enrollments",
        show=enrollments_page.show_enrollments,
    ),
    PageRow(
        path="/enrollments/{id}",
        roles=EVERYBODY,
        menu="/enrollments",
        show=enrollments_page.show_enrollment,
        notices=enrollments_page.NOTICES,
    ),
    PageRow(
        path="/enrollments/{id}/move",
        methods=SEND,
        roles=OPERATORS,
        menu="/enrollments",
        show=enrollments_page.move,
        ask=page_questions.RECORD_ENROLLMENT,
    ),
)

BILLING_PAGES: tuple[PageRow, ...] = (
    *CLAIM_PAGES,
    *PAYMENT_PAGES,
    *ELIGIBILITY_PAGES,
    *ENROLLMENT_PAGES,
)
