"""Vendor API V3, frozen: the table of endpoints, the wire shapes, and one module of handlers per resource."""
