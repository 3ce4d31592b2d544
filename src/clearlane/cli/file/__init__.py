"""Commands about files that sites send and fetch, over the service; and the programs that a node starts beside it for large files."""
