"""The kept comparison with EBM and BART, which the site shows."""

from __future__ import annotations

import averages
from raw_generalisation import kept, means
from report import RESULTS


def test_the_kept_report_is_that_of_the_kept_fits():
    settings = [*averages.SETTINGS, *averages.PEERS]
    rows = kept(RESULTS / "averages-peers.jsonl")
    of = [means(rows, settings, key) for key in ("log_loss", "accuracy", "processor_seconds")]
    report = (RESULTS / "averages-peers.md").read_text(encoding="utf-8")
    shown = report.partition("## Summary\n\n")[2].partition("\n\n## Mixing")[0]
    assert shown == averages.summary(*of, settings)


def test_the_comparison_has_tables_of_the_other_report():
    assert {*averages.TWO_CLASSES} < {*averages.TABLES}
    rows = kept(RESULTS / "averages-peers.jsonl")
    assert {row["table"] for row in rows} <= {*averages.TWO_CLASSES}
