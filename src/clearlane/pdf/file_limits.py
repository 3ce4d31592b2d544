"""How large a PDF file may become, for the process that makes it and for who starts that process.

Knows no PDF library, so that the service need not load one.
"""

PAGES_MAX = 6_500
"""Pages of one file: as many as a process makes within 200 MB. 20,000 claims of three lines take 4,446."""

TOO_MANY_PAGES = "TooManyPages"
"""What the process says of a file that would have more: the name of its exception."""
