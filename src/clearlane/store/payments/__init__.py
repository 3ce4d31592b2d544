"""Payments and the claim payments in them."""
