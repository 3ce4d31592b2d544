"""Pages about patients and providers before a claim: eligibility and enrollments."""
