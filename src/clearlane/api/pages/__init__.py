"""Public pages of the service: its root, the reference, and the documentation.

The modules are loaded with the first request for one of their pages: most nodes answer programs alone.
"""

SEGMENTS = {"RootPage": "", "Documentation": "docs", "Reference": "reference"}
"""Begins the path of every page, by the name of what answers it."""
