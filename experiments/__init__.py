"""The paper's experiments: every system on every set, one row per result, figures from the rows.

    python -m experiments --help

Data flows one way: families -> cells -> run -> store -> figures -> report.
"""
