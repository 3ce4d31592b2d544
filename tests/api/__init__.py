"""A package, so that the service of this room ends with its last test: one that idles costs time."""
