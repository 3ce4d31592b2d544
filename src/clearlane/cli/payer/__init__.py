"""``clearlane payer`` and ``route``: who can be reached, and how."""
