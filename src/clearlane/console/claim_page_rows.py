"""The rows of the table of pages about claims."""

from clearlane.console import claim_page, claims_page, search_page
from clearlane.console.page_row import BILLERS, EVERYBODY, SEND, PageRow

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
