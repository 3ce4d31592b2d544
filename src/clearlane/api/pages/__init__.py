"""Public pages of the service: its root, the reference, and the documentation."""
