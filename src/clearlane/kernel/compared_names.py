"""Names and member ids as they are compared: without case, accents, spaces and punctuation. Knows no claim."""

import unicodedata

NAME_START_LETTERS = 3


def search_name(text: str) -> str:
    """Return a last name, or a member id, as they are compared."""
    if text.isascii() and text.isalnum():  # most of them
        return text.upper()
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return "".join(filter(str.isalnum, text)).upper()


def name_start(text: str) -> str:
    """Return the first letters of a last name, as names are compared; all of a shorter one."""
    return search_name(text)[:NAME_START_LETTERS]
