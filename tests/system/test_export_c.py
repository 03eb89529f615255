"""C source, compiled without warnings and run."""

from __future__ import annotations

import math
import subprocess

import numpy as np
import pytest

from control import HANGS
from maptree.export.encoded_inputs import encoded_inputs
from maptree.export.plain_tree import PlainTree
from mixed_table import whole
from models import HOSTILE_NAMES, asking, category, change, number

pytestmark = pytest.mark.system

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
# One field a line: numbers as strtod and strtoll read them, text in hexadecimal, "-" for NULL.
MAIN = """
#include "exported.c"
#include <stdio.h>
#include <stdlib.h>
static char line[1 << 17];
static char *next(void) {
  if (!fgets(line, sizeof line, stdin)) exit(0);
  return line;
}
static const char *text(char *hex) {
  if (*hex == '-') return NULL;
  char *out = malloc(strlen(hex) / 2 + 1);
  size_t n = 0;
  unsigned byte;
  for (; sscanf(hex + 2 * n, "%%2x", &byte) == 1; ++n) out[n] = (char)byte;
  out[n] = 0;
  return out;
}
int main(void) {
  for (;;) {
    maptree_row row;
%s
    double p[MAPTREE_N_CLASSES];
    maptree_predict_proba(&row, p);
    printf("%%d %%d", maptree_leaf(&row), maptree_predict(&row));
    for (int k = 0; k < MAPTREE_N_CLASSES; ++k) printf(" %%.17g", p[k]);
    printf("\\n");
  }
}
"""
READ = {
    "float": "row.{0} = strtod(next(), NULL);",
    "whole": "row.{0} = (int64_t)strtoll(next(), NULL, 10);",
    "text": "row.{0} = text(next());",
}


def field(given, value):
    if given.type == "float":
        value = math.nan if value is None else float(value)
        return value.hex() if math.isfinite(value) else str(value)
    if given.type == "whole":
        return str(whole(value))
    return "-" if value is None else value.encode().hex()


def test_hostile_names_compile(tool, tmp_path):
    numbers = [number(1.5, name=name, has_missing=True) for name in HOSTILE_NAMES]
    model = asking(*numbers, category(*HOSTILE_NAMES, name="text"))
    change(model, classes=np.array(HOSTILE_NAMES[:2]))
    (tmp_path / "exported.c").write_text(model.to_c(), encoding="ascii")
    built = [tool("cc"), *FLAGS, "-c", "exported.c"]
    subprocess.run(built, cwd=tmp_path, check=True, timeout=HANGS)


def test_c(case, compare, tool, tmp_path):
    compiler = tool("cc")
    tree = PlainTree.of(case.model.fitted_)
    inputs = encoded_inputs(tree, "C")
    (tmp_path / "exported.c").write_text(case.model.to_c(), encoding="ascii")
    reads = "\n".join(f"    {READ[given.type].format(given.name)}" for given in inputs)
    (tmp_path / "main.c").write_text(MAIN % reads)
    built = [compiler, *FLAGS, "main.c", "-o", "main"]
    subprocess.run(built, cwd=tmp_path, check=True, timeout=HANGS)
    names = [tree.columns[given.column].name for given in inputs]
    lines = [
        field(given, row[name])
        for row in case.rows
        for given, name in zip(inputs, names, strict=True)
    ]
    ran = subprocess.run(
        [tmp_path / "main"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in ran.stdout.splitlines()]
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True)
    compare(
        "C99, compiled by cc",
        version.stdout.strip(),
        case,
        [int(row[0]) for row in rows],
        [[float(p) for p in row[2:]] for row in rows],
        [tree.labels[int(row[1])] for row in rows],
    )
