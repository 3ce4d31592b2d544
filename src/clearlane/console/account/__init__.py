"""Sign-in, and a user's own page."""
