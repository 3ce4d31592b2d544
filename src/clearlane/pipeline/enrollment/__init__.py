"""Enroll providers with payers.

The API calls ``enroll`` to store the providers of a request; operators move them on with
``pipeline.operator.enrollment_admin``. ``pipeline.intake`` calls ``enrollment_lookup``, to find out whether the billing
providers of claims are enrolled, and ``billing_zip_lookup``, which completes billing addresses without a ZIP code. ``list_enrollments`` says how far each
provider is with each payer, ``provider_progress`` how far one is, ``era_answer`` why there is no ERA about a claim, and ``inquiry_enrollment`` why a
payer is not asked.
"""
