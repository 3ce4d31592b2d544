"""Bring accepted claims to payers.

A timer runs ``dispatch`` every other second: it loads waiting claims, has ``write_batch`` write them as one file
for a route, stores the batch, and starts ``deliver`` for each batch that is due. ``deliver`` transfers the file and
records the outcome; ``delivery_policy`` decides, without I/O, which batch is next, over which route, and what follows
from a failure. ``requeue_refused`` queues the claims of files that a payer refused for their envelope again.
"""
