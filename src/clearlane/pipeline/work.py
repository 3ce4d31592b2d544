"""The tables of the engine: every queue, every kind of work, every tick. A new verb is a new row.

The engine adds its own ticks (takeover and purge) by itself.
"""

from clearlane.pipeline import asking_due, collect, dispatch, post, smoke
from clearlane.pipeline.desk import Queue, Schedule, Tables, Workflow

# Every look and every tick costs a little of a core on a node that has nothing to do, so there is one look a second
# and a tick every other: work waits for half a second on average. A node starts 16 pieces a second at most,
# and a piece is a batch, never a claim.
QUEUES = (
    Queue(name=smoke.QUEUE, at_once=8, look_seconds=1.0),
    # Payers that do not answer each hold a place until they are given up: there are enough for many.
    Queue(name=dispatch.QUEUE, at_once=64, look_seconds=1.0),
    Queue(name=dispatch.TICKS, at_once=2, look_seconds=1.0),
    # A look into mailboxes ends with the slowest of them, and the next look must not wait for that.
    Queue(name=collect.QUEUE, at_once=64, look_seconds=1.0),
    Queue(name=post.QUEUE, at_once=4, look_seconds=1.0),
    Queue(name=asking_due.QUEUE, at_once=2, look_seconds=1.0),
)

WORKFLOWS = (
    Workflow(name=smoke.NAME, verb=smoke.smoke, queue=smoke.QUEUE),
    Workflow(name=dispatch.DELIVER, verb=dispatch.deliver, queue=dispatch.QUEUE),
    Workflow(name=post.NAME, verb=post.post, queue=post.QUEUE),
)

SCHEDULES: tuple[Schedule, ...] = (
    Schedule(name=dispatch.TICK, verb=dispatch.tick, cron=dispatch.EVERY, queue=dispatch.TICKS),
    Schedule(name=collect.NAME, verb=collect.collect, cron=collect.EVERY, queue=collect.QUEUE),
    Schedule(
        name=asking_due.ASK,
        verb=asking_due.ask,
        cron=asking_due.ASK_EVERY,
        queue=asking_due.QUEUE,
    ),
    Schedule(
        name=asking_due.FORGET,
        verb=asking_due.forget,
        cron=asking_due.FORGET_EVERY,
        queue=asking_due.QUEUE,
    ),
)

TABLES = Tables(queues=QUEUES, workflows=WORKFLOWS, schedules=SCHEDULES)
