"""Vendors, their credentials and their sites. Knows no HTTP and no database."""
