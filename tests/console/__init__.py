"""A package, so that the service of these tests stops after the last of them."""
