"""The durable work of an installation: its queues, workflows and schedules. A new verb is a new row.

The engine adds its own schedules (recovery and purge).
"""

from clearlane.engine import self_check
from clearlane.engine.workflows import Workflow, WorkQueue, WorkSchedule, WorkTables
from clearlane.pipeline.eligibility import inquiry_schedule
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query import claim_summary

# Every poll costs a little CPU on an idle node, so a queue is polled once a second and a schedule runs every other
# second: work waits half a second on average. A piece of work is a batch or a file, never a claim.
QUEUES = (
    WorkQueue(name=self_check.QUEUE, at_once=8, poll_seconds=1.0),
    # A payer that does not answer occupies a place until its time limit: there are places for many.
    WorkQueue(name=dispatch.QUEUE, at_once=64, poll_seconds=1.0),
    WorkQueue(name=dispatch.TICK_QUEUE, at_once=2, poll_seconds=1.0),
    # A run ends with the slowest mailbox, and the next run must not wait for it.
    WorkQueue(name=receive.QUEUE, at_once=64, poll_seconds=1.0),
    WorkQueue(name=post.QUEUE, at_once=4, poll_seconds=1.0),
    WorkQueue(name=inquiry_schedule.QUEUE, at_once=2, poll_seconds=1.0),
)

WORKFLOWS = (
    Workflow(name=self_check.NAME, verb=self_check.run_self_check, queue=self_check.QUEUE),
    Workflow(name=dispatch.DELIVER, verb=dispatch.deliver_batch, queue=dispatch.QUEUE),
    Workflow(name=post.NAME, verb=post.post, queue=post.QUEUE),
)

SCHEDULES: tuple[WorkSchedule, ...] = (
    WorkSchedule(
        name=dispatch.TICK,
        verb=dispatch.dispatch_tick,
        cron=dispatch.EVERY,
        queue=dispatch.TICK_QUEUE,
    ),
    WorkSchedule(
        name=receive.NAME, verb=receive.receive_tick, cron=receive.EVERY, queue=receive.QUEUE
    ),
    WorkSchedule(
        name=inquiry_schedule.ASK,
        verb=inquiry_schedule.inquiry_tick,
        cron=inquiry_schedule.ASK_EVERY,
        queue=inquiry_schedule.QUEUE,
    ),
    WorkSchedule(
        name=inquiry_schedule.PURGE,
        verb=inquiry_schedule.purge_tick,
        cron=inquiry_schedule.PURGE_EVERY,
        queue=inquiry_schedule.QUEUE,
    ),
    WorkSchedule(
        name=claim_summary.NAME,
        verb=claim_summary.refresh_tick,
        cron=claim_summary.EVERY,
        queue=inquiry_schedule.QUEUE,
    ),
)

TABLES = WorkTables(queues=QUEUES, workflows=WORKFLOWS, schedules=SCHEDULES)
