"""Durable work: workflows in steps that survive a crash, on DBOS. Knows no domain.

``workflows`` defines queues, workflows, ticks and schedules. ``wiring`` asks ``database_age`` whether the database is older
than its anchor, then ``dbos_engine`` starts a node: it prepares ``engine_storage``, loads the library through
``dbos_guard``, and runs the work; ``queue_watch`` wakes the library's threads when their queues have work; ``tick_timer`` runs what only looks for due work. ``node_recovery`` takes over work of nodes that died,
``parked_work`` is what it gave up, and ``workflow_client`` reads and changes the engine's tables for both. ``backlog``
counts what waits; ``self_check`` shows that an engine works; ``fault_injection`` lets tests kill a process at certain
points.
"""
