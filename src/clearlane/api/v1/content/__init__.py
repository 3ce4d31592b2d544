"""What claims and documents hold, opened: a claim as it is sent, parts of listed claims, payers' documents, and sums of claims."""
