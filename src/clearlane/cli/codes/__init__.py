"""``clearlane codes``: code lists with days."""
