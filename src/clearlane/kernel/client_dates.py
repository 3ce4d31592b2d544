"""Days as the programs of callers write them in queries and eligibility requests.

Besides ``yyyy-mm-dd``: one-digit months and days, slashes, a time of day with or without a zone (read as the day it
names), month first as .NET writes it in the invariant culture, and RFC 1123. Dates of claims are not read here.
"""

import re
from datetime import date

DATE_CHARACTERS_MAX = 64


_TIME = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,7})?)?"
# In a query, the plus sign of a zone arrives as a blank.
_ZONE = r"(?:\s?Z|\s?GMT|\s?UTC|[ +-]\d\d:?\d\d)?"
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?P<y>\d{{4}})-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}})(?:[T ]{_TIME}{_ZONE})?",
        rf"(?P<y>\d{{4}})/(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})(?:[T ]{_TIME}{_ZONE})?",
        rf"(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})/(?P<y>\d{{4}})(?: {_TIME}(?: ?[AP]M)?{_ZONE})?",
        rf"(?:[a-z]{{3,9}}, )?(?P<d>\d{{1,2}})[ -](?P<m>[a-z]{{3}})[ -](?P<y>\d{{4}})(?: {_TIME}{_ZONE})?",
    )
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
FORMS_IN_WORDS = "yyyy-mm-dd, yyyy/mm/dd, mm/dd/yyyy, or one of these with a time"


def parse_client_date(text: str) -> date | None:
    """Return the day that a text names in one of the forms; None if it is none, or no calendar day."""
    if len(text) > DATE_CHARACTERS_MAX:
        return None
    text = text.strip()
    for form in _FORMS:
        match = form.fullmatch(text)
        if match:
            month = match["m"]
            number = int(month) if month.isdigit() else _MONTHS.get(month.lower(), 0)
            try:
                return date(int(match["y"]), number, int(match["d"]))
            except ValueError:
                return None
    return None
