"""How long data are kept: ``cutoffs`` says before which moment they are old, ``purge_runs`` what each purge of them did last.

``purge_records`` removes records (claims, payments, payers' files, proofs), and ``cut_audit_trail`` the beginning of the trail.
``make_partitions`` makes the partitions of the database that data are kept in, ahead of time.
The purges of what is kept for a shorter time are where their data are: in ``inquiry``, ``intake`` and ``notify``.
"""
