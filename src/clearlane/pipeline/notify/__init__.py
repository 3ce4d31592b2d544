"""Events out: the feed that vendors follow, and webhooks.

Nothing here decides what happened: events are written in the transaction of what they report. ``feed`` reads them for
vendors; ``webhook_runner`` delivers them to the addresses that ``webhook_endpoints`` keeps. ``silent_claims`` adds events
about claims that payers have not answered, ``purge_events`` removes old ones; the engine runs both.
"""
