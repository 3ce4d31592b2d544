"""The verbs, and the durable engine that carries them through a crash.

The only band that knows domains and I/O together. Nothing is imported here: the engine's library
costs most of a second, and commands that do not need it must not pay for it.
"""
