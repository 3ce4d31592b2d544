"""Vendor API V3: one table of calls, one file of wire shapes, one thin file per resource."""
