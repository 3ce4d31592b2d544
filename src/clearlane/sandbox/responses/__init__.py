"""Files that simulated payers write: 999, TA1, 277CA, 277, 271 and 835."""
