"""The tables of the engine: every queue, every kind of work, every tick. A new verb is a new row.

The engine adds its own ticks (takeover and purge) by itself.
"""

from clearlane.engine import self_check
from clearlane.engine.workflows import Queue, Schedule, Tables, Workflow
from clearlane.pipeline.eligibility import inquiry_schedule
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.outbound import dispatch

# Every look and every tick costs a little of a core on a node that has nothing to do, so there is one look a second
# and a tick every other: work waits for half a second on average. A node starts 16 pieces a second at most,
# and a piece is a batch, never a claim.
QUEUES = (
    Queue(name=self_check.QUEUE, at_once=8, look_seconds=1.0),
    # Payers that do not answer each hold a place until they are given up: there are enough for many.
    Queue(name=dispatch.QUEUE, at_once=64, look_seconds=1.0),
    Queue(name=dispatch.TICKS, at_once=2, look_seconds=1.0),
    # A look into mailboxes ends with the slowest of them, and the next look must not wait for that.
    Queue(name=receive.QUEUE, at_once=64, look_seconds=1.0),
    Queue(name=post.QUEUE, at_once=4, look_seconds=1.0),
    Queue(name=inquiry_schedule.QUEUE, at_once=2, look_seconds=1.0),
)

WORKFLOWS = (
    Workflow(name=self_check.NAME, verb=self_check.smoke, queue=self_check.QUEUE),
    Workflow(name=dispatch.DELIVER, verb=dispatch.deliver, queue=dispatch.QUEUE),
    Workflow(name=post.NAME, verb=post.post, queue=post.QUEUE),
)

SCHEDULES: tuple[Schedule, ...] = (
    Schedule(name=dispatch.TICK, verb=dispatch.tick, cron=dispatch.EVERY, queue=dispatch.TICKS),
    Schedule(name=receive.NAME, verb=receive.collect, cron=receive.EVERY, queue=receive.QUEUE),
    Schedule(
        name=inquiry_schedule.ASK,
        verb=inquiry_schedule.ask,
        cron=inquiry_schedule.ASK_EVERY,
        queue=inquiry_schedule.QUEUE,
    ),
    Schedule(
        name=inquiry_schedule.FORGET,
        verb=inquiry_schedule.forget,
        cron=inquiry_schedule.FORGET_EVERY,
        queue=inquiry_schedule.QUEUE,
    ),
)

TABLES = Tables(queues=QUEUES, workflows=WORKFLOWS, schedules=SCHEDULES)
