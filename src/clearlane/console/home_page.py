"""Home: what needs the user, and the health of the installation for operators."""

from starlette.responses import Response

from clearlane.console.page_request import PageRequest
from clearlane.pipeline.query.health import health


async def show_home(request: PageRequest) -> Response:
    """Show what needs the user."""
    parts = health(await request.context.measures.current()) if request.is_operator else []
    return request.render("home.html", "Home", health=parts)
