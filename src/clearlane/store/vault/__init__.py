"""What keeps data secret: master keys, the keys that they wrap, sealed payloads, and files that only their owner may read."""
