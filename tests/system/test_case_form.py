"""The script of the report's form, run in node: sets of categories, unknown and missing ones."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maptree
from control import HANGS
from maptree import BinaryEncoder
from maptree.pictures.report.case_form import page_data
from maptree.pictures.tree_view import view_tree
from maptree.schema.columns import Column, Schema
from models import model_of
from random_tables import random_tree

pytestmark = pytest.mark.system

EXACT = Path(maptree.__file__).parent / "pictures" / "report" / "page" / "exact.js"
WALK = """
const { nodes, fields, values } = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(values.map((value) => {
  let node = 0;
  while (nodes[node].children) {
    const { test, children } = nodes[node];
    node = children[answersYes(test, fields[test.field].kind, value) ? 0 : 1];
  }
  return node;
})));
"""


@pytest.mark.parametrize("seed", range(5))
def test_sets(seed):
    rng = np.random.default_rng(seed)
    names = tuple(f"town {i}" for i in rng.permutation(30))
    unknown = int(rng.integers(30))
    column = Column("town", "sets", "str", tuple(range(29)), names, True, unknown=unknown)
    encoder = BinaryEncoder.of_schema(Schema((column,)))
    rows = pd.DataFrame({"town": [*names, "Nowhere", None]})
    model = model_of((), random_tree(encoder.transform(rows), rng), encoder=encoder)
    data = page_data(view_tree(model.fitted_))
    assert data["fields"][0]["options"] == list(names)
    given = json.dumps(data | {"values": [*range(31), None]})
    ran = subprocess.run(
        ["node", "-e", EXACT.read_text(encoding="utf-8") + WALK],
        input=given,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    assert json.loads(ran.stdout) == model.apply(rows).tolist()
