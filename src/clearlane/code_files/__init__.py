"""Files of code lists, each as its publisher writes it: bytes in, codes with their days out.

``content`` opens a file, plain or as the publisher's zip, within limits, and ``workbook`` reads an XLSX sheet. ``columns``
reads tables by their headings, ``fixed_width`` files whose fields have fixed positions. ``readers`` is the table of the
lists. Knows no database, no claim and no network: none of these files is fetched by the service.
"""
