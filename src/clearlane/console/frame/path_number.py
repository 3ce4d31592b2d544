"""Numbers in addresses, such as the id of a file."""

from clearlane.console.frame.page_request import NoSuchPage, PageRequest

DIGITS_MAX = 15


def path_number(request: PageRequest, name: str, what: str) -> int:
    """Return the number in a part of the address; an address without one leads nowhere."""
    number = read_number(request.parts[name])
    if number is None:
        raise NoSuchPage(f"There is no such {what}.")
    return number


def read_number(text: str) -> int | None:
    """Return a whole number of at most :data:`DIGITS_MAX` digits; None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
    return int(text) if is_number else None
