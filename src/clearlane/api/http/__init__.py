"""HTTP itself: connections, TLS, bodies, limits, and plain responses. Knows no version of the API."""
