"""Certificates and reports on columns are shown in a notebook as HTML, with the same content."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from maptree import BinaryEncoder, MAPTreeClassifier

README = Path(__file__).resolve().parents[2] / "README.md"


def plain(html):
    return unescape(re.sub(r"<[^>]*>", " ", html)).split()


@pytest.mark.parametrize("options", [{}, {"max_expansions": 1}])
def test_a_certificate(options):
    X = [[i % 2, i % 3 % 2, i % 5 % 2, i % 7 % 2] for i in range(210)]
    y = [(i * 7919) % 11 % 2 for i in range(210)]
    certificate = MAPTreeClassifier(**options).fit(X, y).certificate_
    html = certificate._repr_html_()
    assert plain(html) == str(certificate).split()
    assert html.startswith("<div><p><b>Log posterior")


def test_a_report_on_columns():
    X = [[25, "red <b>"], [45, "blue"], [46, None], [60, "red <b>"]]
    encoder = BinaryEncoder().fit(X, ["no", "no", "yes", "yes"])
    report = encoder.report()
    assert isinstance(report, str)
    assert repr(report) == str(report)
    assert report.startswith("Column  Kind")
    html = report._repr_html_()
    assert sorted(plain(html)) == sorted(report.split())
    assert "<b>" not in html
    assert html.count("<tr>") == 3
    assert pickle.loads(pickle.dumps(report)) == report


def test_the_first_example_of_the_readme_needs_nothing_else(tmp_path):
    """Run it where only the packages are that maptree depends on."""
    example = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    refuse = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pandas', 'polars', 'pyarrow', 'matplotlib'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    code = refuse + example.replace("time_limit=10", "max_expansions=50")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "flavanoids" in told.stdout
    assert "Log posterior" in told.stdout
