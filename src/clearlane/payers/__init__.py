"""Who can be reached and how. Knows no HTTP, no database and no X12."""
