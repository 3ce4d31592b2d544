"""The HTTPS API: server, request checks, errors and OpenAPI, independent of versions; each version in its own package."""
