"""The SFTP server: practice systems put their files and get what came back.

``listener`` listens and limits connections; ``account_sign_in`` decides who may come in; ``account_session`` is a connection that
has signed in; ``host_keys`` makes the keys by which clients know the server, ``algorithms`` lists what it agrees to, and
``packet_stream`` reads packets as clients write them. ``site_files`` answers the requests of one session,
with the names of ``folders``; ``transfers`` holds the files that are being sent or fetched. Nothing is a path on a disk:
both folders are views of the database.
"""
