"""Commands about files that sites send and fetch, over the service."""
