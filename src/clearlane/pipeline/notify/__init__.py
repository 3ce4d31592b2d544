"""Events out: the feed that vendors follow, and webhooks.

Nothing here decides what happened: events are written in the transaction of what they report. ``feed`` reads them for
vendors; ``webhook_runner`` delivers them to the addresses that ``webhook_endpoints`` keeps, each by a ``webhook_delivery``;
``dead_lease`` tells it whether the process before it is dead. ``purge_events`` removes old ones; the engine runs it.
"""
