"""The audit chain: written with every change, verified, searched, and anchored outside the database."""
