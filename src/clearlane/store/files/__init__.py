"""Files that sites send and fetch: their rows, parts, sets and the claims that wait to be released."""
