"""Vendors, sites, people who sign in, and instances of proxy login."""
