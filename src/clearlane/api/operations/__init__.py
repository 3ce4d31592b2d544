"""What operators read from a node: health, metrics, and logs."""
