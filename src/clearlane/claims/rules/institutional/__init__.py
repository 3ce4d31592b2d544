"""Rules of institutional claims. A rule has the number that the trade's list of edits gives it: I110 is edit 10.

Importing the package registers its rules, in the order of that list.
"""

from clearlane.claims.rules.institutional import stay  # noqa: F401

# isort: split
from clearlane.claims.rules.institutional import claim_codes  # noqa: F401

# isort: split
from clearlane.claims.rules.institutional import (  # noqa: F401
    care_providers,
    medicare,
    revenue_lines,
)
