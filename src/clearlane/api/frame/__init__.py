"""What every version of the API is built from: endpoints, request checks, errors, idempotency, OpenAPI."""
