"""Take claims in: ``submit`` is called by the API with a document of claims.

``submit`` reads the claims and looks up enrollments; ``prepare_claims`` judges them and makes their rows, claims of
several documents together (``microbatch``); ``submit`` then stores them in one transaction and returns a receipt.
"""
