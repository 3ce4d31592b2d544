"""The words everyone shares. Knows the standard library and nothing else of the house."""
