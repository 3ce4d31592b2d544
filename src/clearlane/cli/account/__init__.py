"""``clearlane vendor``, ``site``, ``user``, ``instance``, ``sftp`` and ``console``."""
