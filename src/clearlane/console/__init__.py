"""The web console: users sign in and see the claims of their sites and the health of the installation.

``app`` and the pages behind it are loaded with the first request for one: a node that no one looks at does without.
"""

SEGMENT = "console"
"""Begins the path of every page."""
