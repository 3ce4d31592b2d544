"""Measurements, each against a peer or a minimum in the same run. `make bench` runs them all."""
