"""Programs that a node starts beside itself for one kind of work: processes, and no commands of a person.

    file_program          processes one large file of a site
    page_program          judges pages of claims for ``file_program``
    submission_program    submits documents of claims when many come
    reading_program       reads large files of payers; opens no installation
    helper_program        what those share that open an installation and answer orders

Each is started as ``python -m clearlane.programs.<name>``, gets its orders through a pipe and ends with it. What starts
them is in ``pipeline``: ``helper_process`` and ``intake/files/file_process``.
"""
