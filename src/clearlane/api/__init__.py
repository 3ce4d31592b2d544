"""The front door: https in, verbs called, answers out. Knows the wire; decides nothing of the trade."""
