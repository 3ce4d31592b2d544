"""How long data are kept: ``cutoffs`` says before which moment they are old, ``purge_runs`` what each purge of them did last.

The purges themselves are where their data are: in ``inquiry``, ``intake``, ``notify`` and ``operator``.
"""
