"""Files for people: described, compared, redacted, as a page."""
