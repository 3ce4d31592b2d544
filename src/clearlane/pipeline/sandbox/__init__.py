"""What the time of a sandbox brings: ``sandbox_control`` advances its clock, changes its payers and runs the work that is due then.

``enrollment_answers`` records what simulated payers answer to enrollments by themselves.
"""
