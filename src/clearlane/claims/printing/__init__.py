"""Claims on paper: which text goes where on the pre-printed form of each kind of claim, and what does not fit.

    sheet_type      the two ways in which a claim is put on paper
    printed_form    a form: its boxes, their places, the rows for service lines
    form_notation   texts as forms write them: capital letters, days, amounts, codes
    cms1500_boxes   medical claims: CMS-1500 (02/12)
    ada_boxes       dental claims: ADA 2024
    ub04_boxes      institutional claims: UB-04
    fill_form       a claim placed on its form, page by page

The forms themselves are their publishers': neither their drawing nor their words are here. The places were measured.
Values come from the view of a claim, so that it does not matter what the claim came as. Knows no PDF.
"""
