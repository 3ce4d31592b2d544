"""What ``make release`` does: build, compare, check, describe, install and use what is published."""
