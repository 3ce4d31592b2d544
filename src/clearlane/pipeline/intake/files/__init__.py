"""Take files in that sites send, whatever they hold, and write the files that go back to them.

``upload`` stores a file raw, part by part, before anything of it is understood. ``file_responses`` writes the files that
sites fetch, each once. ``purge_files`` removes old ones.
"""
