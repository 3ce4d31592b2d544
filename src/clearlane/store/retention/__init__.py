"""How long rows are kept, what is held for the law, and the removal of what is old, of all kinds and clients."""
