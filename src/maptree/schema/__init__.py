"""The columns of a fitted table and their binary tests, as values and as JSON."""
