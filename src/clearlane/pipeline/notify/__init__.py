"""Events out: the feed that vendors follow, and webhooks.

Nothing here decides what happened: events are written in the transaction of what they tell.
"""
