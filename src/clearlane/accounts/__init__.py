"""Vendors, their credentials and sites, and console users. Knows no HTTP and no database."""
