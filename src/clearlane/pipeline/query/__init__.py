"""Read what is stored; every access to claims is audited.

``list_statuses`` and ``retrieve_documents`` are called by the API, ``claim_history`` by the command line, ``health``
by the console. They are independent of each other and write nothing but audit rows.
"""
