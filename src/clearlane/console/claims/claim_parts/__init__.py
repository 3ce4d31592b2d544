"""What the page of a claim shows: its boxes, files, money and history."""
