"""A claim written by hand: its drafts, its form, and what earlier claims of the site fill in."""
