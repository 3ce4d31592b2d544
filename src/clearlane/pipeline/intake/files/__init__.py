"""Take files in that sites send, whatever they hold, and write the files that go back to them.

``upload`` stores a file raw, part by part, before anything of it is understood. A timer runs ``file_work``: it starts one
piece of durable work for the first waiting file of each site. A large file has a process of its own (``file_process``). ``process_file`` does that work: ``file_reading`` reads the
file once, streaming, has its claims judged (``judge_page``) and staged (``staged_row``) in pages, and says what becomes of
its interchanges, groups and sets. A process beside that of a large file may judge some of the pages (``page_process``); ``acknowledge_file`` writes TA1 and 999 of that, or a report in words, with numbers of ``control_block`` and sentences of ``rejection_reason``; one transaction then accepts the file. ``release_claims``
moves the staged claims of accepted sets into the table of claims, page by page. ``file_inquiries`` asks the inquiries of
270 and 276 files and gathers the answers into 271 and 277 files. ``file_responses`` writes the files that
sites fetch, also those that payers' files become. ``purge_files`` removes old ones. ``daily_summary`` writes a summary of each day (``site_day``).

Claims of shadow files are judged in the same way and become rows that are never sent (``shadow_row``). A shadow file may hold
statements of another clearinghouse instead: ``other_statements`` reads them and ``import_statements`` matches them.
"""
