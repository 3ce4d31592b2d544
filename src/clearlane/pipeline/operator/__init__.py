"""Decisions of operators, called by the command line and the console; each is audited.

``batch_admin`` and ``inbox_admin`` act on batches and on payers' files, ``enrollment_admin`` records what payers
answered to enrollments. ``sandbox_control`` advances the clock of a sandbox and runs the work that is due then.
"""
