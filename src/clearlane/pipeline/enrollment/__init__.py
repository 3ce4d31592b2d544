"""Enroll providers with payers.

The API calls ``enroll`` to store the providers of a request; operators move them on with
``pipeline.operator.enrollment_admin``. ``enrollment_lookup`` is called by ``pipeline.intake.submit``, to find out
whether the billing providers of claims are enrolled.
"""
