"""The tables of the engine: every queue, every kind of work, every tick. A new verb is a new row.

The engine adds its own ticks (takeover and purge) by itself.
"""

from clearlane.pipeline import smoke
from clearlane.pipeline.desk import Queue, Schedule, Tables, Workflow

# Looking twice a second costs 0.4 % of a core on SQLite and 0.8 % on PostgreSQL when there is nothing
# to do, half of what four looks cost, and lets work wait a quarter of a second on average. A node
# starts 16 pieces a second at most, and a piece is a batch, never a claim.
QUEUES = (Queue(name=smoke.QUEUE, at_once=8, look_seconds=0.5),)

WORKFLOWS = (Workflow(name=smoke.NAME, verb=smoke.smoke, queue=smoke.QUEUE),)

SCHEDULES: tuple[Schedule, ...] = ()

TABLES = Tables(queues=QUEUES, workflows=WORKFLOWS, schedules=SCHEDULES)
