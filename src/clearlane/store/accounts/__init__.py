"""Vendors, their API keys and sites, people who sign in, and instances of proxy login."""
