"""What belongs to a vendor rather than to its claims: sites, calls, links to the console."""
