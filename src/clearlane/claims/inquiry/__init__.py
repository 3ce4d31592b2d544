"""Ask a payer for the status of a claim (276), and read what it answers (277).

``status_inquiry`` is the question, made from any claim's view; ``write_276`` writes it, ``read_277`` reads the reply, and
``status_answer`` is what is stored of it, ``answer_result`` its meaning in words. Questions of a sender's own file are read by
``read_276`` and answered by ``answer_277``. Knows no connection, no store and no clock.
"""
