"""What users pass, read column by column: tables of any library, labels and weights.

``read_table`` (``table``) hands out ``Values`` (``values``), one array a column, whatever the
table was: an array or a list (``objects``), a data frame (``frames``, ``series``), a Parquet file
(``parquet``), a 0/1 matrix (``binary``). Nothing here knows of tests or trees.
"""
