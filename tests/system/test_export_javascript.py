"""The ES module, run in node."""

from __future__ import annotations

import datetime as dt
import json
import math
import subprocess
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from control import HANGS
from maptree import MAPTreeClassifier
from models import HOSTILE_NAMES, asking, change, number

pytestmark = pytest.mark.system

MAIN = """
import { readFileSync } from "node:fs";
import { leaf, predict, predictProba } from "./exported.mjs";
const marked = { nan: NaN, inf: Infinity, "-inf": -Infinity, undefined: undefined };
function revive(value) {
  if (value === null || typeof value !== "object") return value;
  if ("big" in value) return BigInt(value.big);
  if ("date" in value) return new Date(value.date);
  return marked[value.mark];
}
for (const line of readFileSync("rows.jsonl", "utf8").split("\\n").filter(Boolean)) {
  const row = Object.fromEntries(Object.entries(JSON.parse(line)).map(([k, v]) => [k, revive(v)]));
  const probabilities = predictProba(row).map((p) => p.toPrecision(17));
  console.log(JSON.stringify([leaf(row), predict(row), probabilities]));
}
"""


def js_value(value, row):
    """JSON, with marks for what it lacks."""
    if value is None:
        return {"mark": "undefined"} if row % 2 else None
    if isinstance(value, float):
        return value if math.isfinite(value) else {"mark": str(value)}
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.timedelta):
        return {"big": str(value // dt.timedelta(microseconds=1) * 1000)}
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            return value.isoformat("T" if row % 2 else " ")
        utc = value.astimezone(dt.UTC)
        if utc.microsecond % 1000 == 0 and row % 3 == 0:
            return {"date": utc.isoformat()}
        return utc.isoformat().replace("+00:00", "Z" if row % 2 else "+00:00")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    big = isinstance(value, int) and not isinstance(value, bool) and (abs(value) > 2**53 or row % 2)
    return {"big": str(value)} if big else value


def test_javascript(case, compare, tool, tmp_path):
    node = tool("node")
    (tmp_path / "exported.mjs").write_text(case.model.to_javascript(), encoding="ascii")
    (tmp_path / "main.mjs").write_text(MAIN)
    rows = [{k: js_value(v, i) for k, v in row.items()} for i, row in enumerate(case.rows)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ran = subprocess.run(
        [node, "main.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    compare(
        "JavaScript, in node",
        version,
        case,
        [row[0] for row in found],
        [[float(p) for p in row[2]] for row in found],
        [row[1] for row in found],
    )


def test_hostile_names(tool, tmp_path):
    model = asking(*[number(1.5, name=name) for name in HOSTILE_NAMES])
    change(model, classes=np.array(HOSTILE_NAMES[:2]))
    rows = [dict.fromkeys(HOSTILE_NAMES, 2.0) | {name: 1.0} for name in HOSTILE_NAMES]
    (tmp_path / "exported.mjs").write_text(model.to_javascript(), encoding="ascii")
    (tmp_path / "main.mjs").write_text(MAIN)
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = [tool("node"), "main.mjs"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    table = pa.Table.from_pylist(rows)
    assert [row[0] for row in found] == model.apply(table).tolist()
    assert [row[1] for row in found] == model.predict(table).tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2021-03-04T12:30:00+02:00", "in UTC"),
        (12, "ISO 8601"),
    ],
)
def test_times_that_cannot_be_compared_are_refused(mixed, tool, tmp_path, value, message):
    source = mixed.model.to_javascript() + f"\ntime({json.dumps(value)}, true);\n"
    (tmp_path / "main.mjs").write_text(source)
    ran = subprocess.run([tool("node"), "main.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode != 0
    assert message in ran.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, ""),
        ({"price": "$1,000.50"}, "$1,000.50 is text: pass a number"),
        ({"day": "31.12.2020"}, "31.12.2020 is not ISO 8601 text"),
    ],
)
def test_text_that_fit_read_is_not_compared_in_silence(tool, tmp_path, change, message):
    rows = [(f"${k % 40}.50", f"{k % 28 + 1}.{k // 28 + 1}.2020") for k in range(200)]
    frame = pa.table({"price": [row[0] for row in rows], "day": [row[1] for row in rows]})
    y = [k % 40 > 20 and k > 90 for k in range(200)]
    model = MAPTreeClassifier(max_expansions=50).fit(frame, y)
    assert len(model.fitted_.used_columns) == 2
    row = json.dumps({"price": 30.5, "day": "2020-07-01"} | change)
    source = f"{model.to_javascript()}\nconsole.log(predict({row}));\n"
    (tmp_path / "main.mjs").write_text(source)
    ran = subprocess.run([tool("node"), "main.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert (message in ran.stderr) if message else ran.stdout == "true\n"
