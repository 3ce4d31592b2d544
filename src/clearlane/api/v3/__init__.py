"""Vendor API V3, frozen: the table of endpoints, the shapes of its JSON, and one module of handlers per resource."""
