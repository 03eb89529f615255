"""Reading user input: tables of any library, labels and weights.

``table.read_table`` opens a table, whose columns are read one at a time as ``Values`` (``values``):
one array each, whatever kind of table it is.

- ``table``, ``objects``: arrays and lists; ``frames``: data frames; ``parquet``: Parquet files.
- ``binary``: all-0/1 tables, which need no encoding.
- ``labels``, ``weights``: y and ``sample_weight``; ``row_hashes``: by what rows are recognised.
- ``writing``: text columns that are numbers (``written_numbers``) or dates (``written_dates``).
- ``clock``: dates and times as numbers and as text; ``exact``: comparing values with a number.

Nothing here knows about tests or trees.
"""
