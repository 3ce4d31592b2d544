"""What operators ask about the whole installation: its health, and counts over all clients."""
