"""What happened, as vendors are told it: the types of events, their ids and their envelope.

Knows ids and states only: no patient data, no database and no HTTP.
"""
