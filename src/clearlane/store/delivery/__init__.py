"""What goes to payers and comes from them: payers, routes, batches, inbox files, control numbers."""
