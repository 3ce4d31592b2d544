"""``clearlane payment``, and PDFs of payments and claims."""
