"""Figures and report from made-up rows: files, what is marked as missing, tables that count."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from experiments import figures, report
from experiments.figures import sheets_of
from experiments.figures.sheet import LOOK
from experiments.results import select
from made_up_rows import made_up

SETS = ["anneal", "audiology", "german-credit", "hepatitis", "vote"]
NAMES = [
    "speed-main",
    "speed-others",
    "generalisation-main",
    "synthetic-main",
    "synthetic-cart",
    "synthetic-dl85",
    "synthetic-gosdt",
    "synthetic-streed",
    "hyperparameters",
]


def drawn(sheet):
    """All words in a figure, in one line."""
    with mpl.rc_context(LOOK):
        figure = sheet.picture()
        FigureCanvasAgg(figure).draw()
    words = " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))
    return " ".join(words.split())


def sheet(family, name, rows, budget="quick"):
    made = sheets_of(family, select(rows, budget))
    return next(one for one in made if one.name == name)


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    rows = made_up("quick", SETS, gosdt="missing")
    (folder / "figures").mkdir()
    (folder / "figures" / "of-another-budget.png").touch()
    files = figures.draw(rows, folder)
    return folder, files, report.write(rows, folder)


def test_every_figure_is_there_as_png_and_svg_with_its_table(paper):
    folder, files, _ = paper
    found = {path.name for path in (folder / "figures").iterdir()}
    assert found == {path.name for path in files}, "nothing old is left"
    for name in NAMES:
        png, svg, table = (folder / "figures" / f"{name}.{end}" for end in ("png", "svg", "md"))
        assert png.read_bytes().startswith(b"\x89PNG")
        assert png.stat().st_size > 20_000
        assert ET.parse(svg).getroot().tag.endswith("svg")
        assert "| set |" in table.read_text() or "| setting |" in table.read_text()
    for name in ("time-to-quality", "certificates"):
        assert f"{name}.md" in found


def test_the_report_has_all_of_it(paper):
    folder, _, written = paper
    assert [path.name for path in written] == ["report.md", "claims.md", "rows.csv"]
    text = (folder / "report.md").read_text()
    for name in NAMES:
        assert f"](figures/{name}.png)" in text
    for fact in (
        "budget: quick: speed with runs of 10 s; otherwise 2 s a fit, 3 of 10 folds",
        "machine: a processor, 2 cores",
        "versions: maptree 0.1.0, numpy 2.4",
        "rows: 1260 of 1260 wanted, 1140 ok, 120 missing",
        "| speed | smc | 250 | 250 | 0 | 0 | 0 | 0 | 0 | 0 | - |",
        "| generalisation | gosdt | 30 | 0 | 0 | 0 | 0 | 0 | 30 | 0 | 30 times because of",
        "| vote | 3/3 | 3/3 | 3/3 | 6/6 | 0/6 | 6/6 |",
        "sets without rows: australian-credit, heart-cleveland,",
    ):
        assert fact in text
    linked = {part.split(")")[0] for part in text.split("](figures/")[1:]}
    assert all((folder / "figures" / name).is_file() for name in linked)


def test_the_rows_are_there_as_a_table(paper):
    folder, *_ = paper
    with (folder / "rows.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 1260
    assert sum(line["outcome"] == "missing" for line in lines) == 120
    made = {row["key"]: row for row in made_up("quick", SETS, gosdt="missing")}
    for line, row in zip(lines, made.values(), strict=True):
        assert (line["system"], line["set"]) == (row["system"], row["set"])
        assert line["seed"] == ("" if row["seed"] is None else str(row["seed"]))
        if row["log_posterior"] is not None:
            assert float(line["log_posterior"]) == pytest.approx(row["log_posterior"])
    assert "](rows.csv)" in (folder / "report.md").read_text()
    synthetic = next(line for line in lines if line["family"] == "synthetic")
    assert (synthetic["params"], synthetic["rows"], synthetic["noise"]) == (
        "alpha=0.95 beta=0.5 rho=2.5",
        "100",
        "0.0",
    )


def test_sets_without_rows_are_those_without_rows():
    rows = made_up("quick", ["vote"], ("speed",))
    text = report.report(select(rows, "quick", ["vote", "lymph"]))
    assert "- rows: 120 of 240 wanted, 120 ok\n" in text
    (line,) = [line for line in text.splitlines() if line.startswith("- sets without rows")]
    assert "lymph" in line
    assert "vote" not in line
    assert "- rows: 0 of 0 wanted\n" in report.report(select([], "quick"))


def test_a_system_that_is_missing_is_in_the_figure_with_count_and_reason():
    rows = made_up("quick", SETS, gosdt="missing", smc="memory")
    text = drawn(sheet("generalisation", "generalisation-main", rows))
    assert text.count("15 of 15 missing (because of missing)") == 2
    assert "GOSDT 1/32" in text
    assert text.count("no result") == 8  # two settings, four panels
    assert "SMC: 50 of 50 memory" in drawn(sheet("speed", "speed-main", rows))
    assert "SMC (no result)" in drawn(sheet("speed", "speed-main", rows))
    synthetic = drawn(sheet("synthetic", "synthetic-gosdt", rows))
    assert "GOSDT 1/32, GOSDT 10/32: 15 of 15 missing (because of missing)" in synthetic
    assert "GOSDT 10/32 (no result)" in synthetic


def test_likelihoods_are_named_by_their_definitions():
    rows = made_up("quick", SETS, ("generalisation",))
    made = sheet("generalisation", "generalisation-main", rows)
    text = drawn(made)
    assert "published: marginal, fresh prior" in text
    assert "posterior predictive" in text
    for name in ("ll published", "ll predictive", "ll own"):
        assert name in made.tables[0]


def test_settings_that_the_budget_leaves_out_are_named():
    quick = made_up("quick", ["vote"], ("generalisation", "synthetic"))
    without = "Not in this budget: CART 2, 3, 5 to 8."
    made = sheet("synthetic", "synthetic-cart", quick)
    assert without in made.caption
    assert without in drawn(made)
    for name in ("synthetic-main", "synthetic-gosdt"):
        made = sheet("synthetic", name, quick)
        assert "Not in this budget" not in made.caption + drawn(made)
    caption = sheet("generalisation", "generalisation-main", quick).caption
    assert "Not in this budget: CART 2, 3, 5 to 8; DL8.5 2, 3, 6; STreeD 2, 3, 6." in caption
    assert "generalisation-full, is drawn by the full budget only" in caption
    full = made_up("full", ["vote"], ("synthetic",))
    made = sheet("synthetic", "synthetic-cart", full, "full")
    assert "Not in this budget" not in made.caption + drawn(made)


def test_all_settings_have_a_figure_in_the_full_budget():
    rows = made_up("full", ["vote"], ("generalisation",))
    text = drawn(sheet("generalisation", "generalisation-full", rows, "full"))
    for label in ("CART 2", "CART 8", "DL8.5 6", "STreeD 6", "GOSDT 10/32"):
        assert label in text


def test_proofs_are_marked_and_certificates_say_the_gap():
    rows = made_up("quick", SETS, ("speed",))
    text = drawn(sheet("speed", "speed-main", rows))
    assert "proved optimal" in text
    made = sheet("speed", "speed-main", rows)
    with mpl.rc_context(LOOK):
        lines = made.picture().axes[0].get_lines()
    (star,) = [line for line in lines if line.get_marker() == "*"]
    (run,) = [
        row
        for row in rows
        if (row["system"], row["set"]) == ("maptree", "anneal")
        and "max_expansions" not in row["params"]
    ]
    assert star.get_xdata() == [run["seconds"]], "of the run that the tables are of"
    tables = sheet("speed", "certificates", rows).tables[0]
    assert "| anneal | MAPTree | optimal |" in tables
    assert "| audiology | MAPTree | time limit |" in tables


def test_a_set_without_any_result_is_an_empty_panel_that_says_so():
    rows = [row for row in made_up("quick", SETS, ("speed",)) if row["set"] != "vote"]
    made = sheets_of("speed", select(rows, "quick", SETS))
    assert "no result" in drawn(made[1])
    assert "MCMC, SMC: 50 of 50 not run" in drawn(made[1])
    assert "| vote | - |" in made[2].tables[0]


def test_nothing_run_gives_a_report_that_says_so(tmp_path):
    report.write([], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.count("Not run.") == 4
    assert figures.draw([], tmp_path) == []
