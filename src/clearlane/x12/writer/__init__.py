"""Trees and plain data to bytes."""
