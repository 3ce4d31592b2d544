"""What every page of the console uses: requests, forms, rendering, and texts."""
