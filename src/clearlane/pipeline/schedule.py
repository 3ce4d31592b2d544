"""The work of an installation: its queues, workflows, ticks and schedules. A new verb is a new row.

The engine adds its own schedules (recovery and purge).
"""

from clearlane.engine import self_check
from clearlane.engine.workflows import Workflow, WorkQueue, WorkSchedule, WorkTables, WorkTick
from clearlane.pipeline.filing import checkpoints, stamp_checkpoints
from clearlane.pipeline.follow_up import (
    awaited_enrollments,
    measure_answers,
    overdue_claims,
    watch_filing_limits,
)
from clearlane.pipeline.inbound import post, receive, sender_responses
from clearlane.pipeline.inquiry import inquiry_schedule
from clearlane.pipeline.intake import purge_not_accepted
from clearlane.pipeline.intake.files import (
    daily_summary,
    file_inquiries,
    file_work,
    purge_files,
    release_claims,
)
from clearlane.pipeline.notify import purge_events
from clearlane.pipeline.operator import import_codes, try_codes
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query import claim_summary
from clearlane.pipeline.query.installation import claim_counts
from clearlane.pipeline.retention import make_partitions, purge_records
from clearlane.pipeline.sandbox import enrollment_answers
from clearlane.pipeline.secondary import draft_work

# Each queue has a thread of the engine's library, woken when there is work: there are few queues. ``poll_seconds`` is how
# soon a node notices the work of another one. A piece of work is a batch or a file, never a claim.
QUEUES = (
    # A payer that does not answer occupies a place until its time limit: there are places for many.
    WorkQueue(name=dispatch.QUEUE, at_once=64, poll_seconds=1.25),
    WorkQueue(name=post.QUEUE, at_once=4, poll_seconds=1.25),
    WorkQueue(
        name=file_work.QUEUE,
        at_once=file_work.FILES_AT_ONCE,
        poll_seconds=file_work.POLL_SECONDS,
    ),
    # For work that no one waits for, and `clearlane worker --self-check`.
    WorkQueue(name=self_check.QUEUE, at_once=8, poll_seconds=5.0),
)

WORKFLOWS = (
    Workflow(name=self_check.NAME, verb=self_check.run_self_check, queue=self_check.QUEUE),
    Workflow(
        name=dispatch.DELIVER,
        verb=dispatch.deliver_batch,
        queue=dispatch.QUEUE,
        find_finished=dispatch.find_delivered,
    ),
    Workflow(name=post.NAME, verb=post.post, queue=post.QUEUE, find_finished=post.find_posted),
    Workflow(
        name=file_work.NAME,
        verb=file_work.work_on_file,
        queue=file_work.QUEUE,
        begins_at_once=True,
    ),
)

# What looks for due rows of our own runs by a timer of each node, without a record: a record costs ten times as much.
TICKS: tuple[WorkTick, ...] = (
    WorkTick(name=dispatch.TICK, verb=dispatch.dispatch_tick, every_seconds=dispatch.EVERY_SECONDS),
    # A run ends with the slowest mailbox, and the next run must not wait for it.
    WorkTick(
        name=receive.NAME,
        verb=receive.receive_tick,
        every_seconds=receive.EVERY_SECONDS,
        at_once=64,
    ),
    WorkTick(name=file_work.TICK, verb=file_work.file_tick, every_seconds=file_work.EVERY_SECONDS),
    WorkTick(
        name=release_claims.NAME,
        verb=release_claims.release_tick,
        every_seconds=release_claims.EVERY_SECONDS,
    ),
    WorkTick(
        name=inquiry_schedule.ASK,
        verb=inquiry_schedule.inquiry_tick,
        every_seconds=inquiry_schedule.ASK_EVERY_SECONDS,
    ),
    WorkTick(
        name=file_inquiries.NAME,
        verb=file_inquiries.inquiry_file_tick,
        every_seconds=file_inquiries.EVERY_SECONDS,
    ),
    WorkTick(
        name=overdue_claims.NAME,
        verb=overdue_claims.overdue_tick,
        every_seconds=overdue_claims.EVERY_SECONDS,
    ),
    WorkTick(
        name=awaited_enrollments.NAME,
        verb=awaited_enrollments.enrollment_wait_tick,
        every_seconds=awaited_enrollments.EVERY_SECONDS,
    ),
    WorkTick(
        name=enrollment_answers.NAME,
        verb=enrollment_answers.enrollment_tick,
        every_seconds=enrollment_answers.EVERY_SECONDS,
    ),
    WorkTick(
        name=claim_counts.NAME,
        verb=claim_counts.count_tick,
        every_seconds=claim_counts.EVERY_SECONDS,
    ),
    WorkTick(
        name=sender_responses.NAME,
        verb=sender_responses.response_tick,
        every_seconds=sender_responses.EVERY_SECONDS,
    ),
    WorkTick(
        name=draft_work.NAME,
        verb=draft_work.draft_tick,
        every_seconds=draft_work.EVERY_SECONDS,
    ),
    WorkTick(
        name=checkpoints.NAME,
        verb=checkpoints.checkpoint_tick,
        every_seconds=checkpoints.EVERY_SECONDS,
    ),
    WorkTick(
        name=stamp_checkpoints.NAME,
        verb=stamp_checkpoints.stamp_tick,
        every_seconds=stamp_checkpoints.EVERY_SECONDS,
    ),
    WorkTick(
        name=make_partitions.NAME,
        verb=make_partitions.partition_tick,
        every_seconds=make_partitions.EVERY_SECONDS,
    ),
    WorkTick(name=try_codes.NAME, verb=try_codes.trial_tick, every_seconds=try_codes.EVERY_SECONDS),
)

SCHEDULES: tuple[WorkSchedule, ...] = (
    WorkSchedule(
        name=watch_filing_limits.NAME,
        verb=watch_filing_limits.filing_tick,
        cron=watch_filing_limits.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=measure_answers.NAME,
        verb=measure_answers.measure_tick,
        cron=measure_answers.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=inquiry_schedule.PURGE,
        verb=inquiry_schedule.purge_tick,
        cron=inquiry_schedule.PURGE_EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=purge_not_accepted.NAME,
        verb=purge_not_accepted.purge_tick,
        cron=purge_not_accepted.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=purge_records.NAME,
        verb=purge_records.purge_tick,
        cron=purge_records.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=purge_files.NAME,
        verb=purge_files.purge_tick,
        cron=purge_files.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=purge_events.NAME,
        verb=purge_events.purge_tick,
        cron=purge_events.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=import_codes.NAME,
        verb=import_codes.purge_tick,
        cron=import_codes.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=daily_summary.NAME,
        verb=daily_summary.summary_tick,
        cron=daily_summary.EVERY,
        queue=self_check.QUEUE,
    ),
    WorkSchedule(
        name=claim_summary.NAME,
        verb=claim_summary.refresh_tick,
        cron=claim_summary.EVERY,
        queue=self_check.QUEUE,
    ),
)

TABLES = WorkTables(queues=QUEUES, workflows=WORKFLOWS, schedules=SCHEDULES, ticks=TICKS)
