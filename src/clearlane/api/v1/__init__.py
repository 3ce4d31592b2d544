"""``/clearlane/v1``, Clearlane's own API beside V3. Adding a resource is one module here and one row in ``endpoints``."""
