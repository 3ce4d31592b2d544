"""Events, which report to vendors what happened: their types, their ids and their envelope.

Knows ids and states only: no patient data, no database and no HTTP.
"""
