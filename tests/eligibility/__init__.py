"""A package, so that the service of its fixtures ends with its last test: one that idles costs time."""
