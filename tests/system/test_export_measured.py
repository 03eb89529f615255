"""Trees of numbers and counts, run in their target systems on columns of every kind."""

from __future__ import annotations

import json
import pickle
import platform
import sqlite3
import subprocess
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.tree import export_text

from control import HANGS
from maptree import MAPTreeRegressor, Tree
from maptree.export.encoded_inputs import encoded_inputs
from maptree.export.plain_tree import PlainTree, node_lines
from maptree.parameters.outcomes import CountPrior, NumberPrior
from maptree.parameters.prior import Prior
from maptree.trees.outcomes import Counts, Numbers
from mixed_table import Case
from models import change
from sql_tables import duckdb_table, postgresql_table, sqlite_table
from test_export_c import FLAGS, READ, field
from test_export_c import MAIN as C_MAIN
from test_export_javascript import MAIN as JS_MAIN
from test_export_javascript import js_value
from test_export_onnx import MISSING, as_arrays
from test_export_python import walk


@dataclass(frozen=True)
class Measured(Case):
    """A regressor, rows to compare its exports on, and their exposures."""

    model: Any
    years: np.ndarray

    @property
    def exposed(self) -> pa.Table:
        """The rows with the column of their exposures."""
        return self.table.append_column("years", pa.array(self.years))


@pytest.fixture(scope="session", params=["numbers", "counts"])
def measured(request, mixed) -> Measured:
    """The tree of the classifier, with other leaves."""
    rng, tree = np.random.default_rng(0), mixed.model.tree_
    rows = rng.integers(1, 1000, (tree.node_count, 1))
    if request.param == "numbers":
        z = rng.normal(0, 256, tree.node_count).round().astype(int)
        spread = rng.integers(0, 256**2, tree.node_count)
        sums = np.stack([rows[:, 0] * z, rows[:, 0] * (z * z + spread)], axis=1)
        outcome = Numbers(-512.75, 1234.5, NumberPrior())
    else:
        sums = np.stack([rng.integers(0, 5000, len(rows)), rng.integers(1, 2**24, len(rows))], 1)
        outcome = Counts(1.75, 2.5, 2**16, True, CountPrior())
    model = MAPTreeRegressor(likelihood="normal" if request.param == "numbers" else "poisson")
    fitted = replace(
        mixed.model.fitted_,
        tree=Tree(tree.feature, tree.left, tree.right, rows, sums),
        classes=np.empty(0),
        prior=Prior(0.95, 0.5, np.empty(0)),
        measured=outcome,
    )
    model._keep(fitted, mixed.model.encoder_)
    return Measured(model, mixed.table, rng.uniform(0.01, 20, len(mixed.table)))


@pytest.fixture
def compare(measured, note):
    """Compare what a target gives for every row with the model, and keep a line of the table."""

    def compare(target, version, leaves, means, intervals, exposure=None):
        model, table = measured.model, measured.table
        np.testing.assert_array_equal(np.asarray(leaves), model.apply(table))
        if intervals is not None:  # without an exposure
            expected = model.predict_interval(table)
            assert (
                np.abs(np.asarray(intervals) / np.where(expected, expected, 1) - 1)[
                    expected != 0
                ].max()
                < 1e-15
            )
            np.testing.assert_array_equal(np.asarray(intervals)[expected == 0], 0)
        expected = model.predict(table, exposure)
        worst = float(np.abs(np.asarray(means) / expected - 1).max())
        # predict takes the mean of counts from n and p, which costs some digits.
        assert worst <= (1e-15 if isinstance(model.fitted_.measured, Numbers) else 1e-10)
        name = f"{target}, {model.fitted_.measured.name}"
        more = ", with exposure" if exposure is not None else ""
        note(f"{name}{more}", version, len(table), f"{worst:.1e} of it" if worst else "0")

    return compare


def of_counts(measured):
    return measured.model.likelihood == "poisson"


def test_python(measured, compare):
    module = {}
    exec(compile(measured.model.to_python(), "exported", "exec"), module)
    rows, version = measured.rows, platform.python_version()
    leaves = [module["leaf"](row) for row in rows]
    intervals = [module["predict_interval"](row) for row in rows]
    compare("Python", version, leaves, [module["predict"](row) for row in rows], intervals)
    if not of_counts(measured):
        found = np.array([module["predict_dist"](row) for row in rows]).T
        dist = measured.model.predict_dist(measured.table)
        np.testing.assert_array_equal(found, [dist.df, dist.loc, dist.scale])
        return
    years = measured.years
    means = [module["predict"](row, e) for row, e in zip(rows, years, strict=True)]
    compare("Python", version, leaves, means, None, years)
    dist = measured.model.predict_dist(measured.table, years)
    found = [module["predict_dist"](row, e) for row, e in zip(rows, years, strict=True)]
    np.testing.assert_allclose(np.array(found).T, [dist.n, dist.p], rtol=1e-14)
    with pytest.raises(ValueError, match="exposure is 0: pass a number above 0"):
        module["predict"](rows[0], 0)


def test_json(measured, compare):
    tree = json.loads(measured.model.to_json())
    leaves = [walk(tree, row) for row in measured.rows]
    nodes = [tree["nodes"][leaf] for leaf in leaves]
    assert tree["outcome"] == measured.model.fitted_.measured.name
    intervals = [node["interval"] for node in nodes]
    version = f"{tree['format']} {tree['version']}"
    compare("JSON", version, leaves, [node["prediction"] for node in nodes], intervals)
    dist = measured.model.predict_dist(measured.table)
    for name in ("size",) if of_counts(measured) else ("df", "scale"):
        expected = dist.n if name == "size" else getattr(dist, name)
        np.testing.assert_array_equal([node[name] for node in nodes], expected)


def test_pipeline(measured, compare):
    pipeline = pickle.loads(pickle.dumps(measured.model.to_sklearn()))
    answers = pipeline[:-1].transform(measured.table)
    predicted = pipeline.predict(measured.table)
    compare("scikit-learn", sklearn.__version__, pipeline[-1].apply(answers), predicted, None)
    text = export_text(pipeline[-1], max_depth=20)
    assert text.count("value: ") == measured.model.tree_.n_leaves
    assert not hasattr(clone(pipeline)[-1], "tree_")
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert clone(pipeline).fit(X, np.exp(X[:, 0]).round()).score(X, np.exp(X[:, 0])) > 0.5


def in_columns(rows):
    """Split rows of (row_id, leaf, prediction, interval or size), brought into order."""
    rows = sorted(rows)
    return [r[1] for r in rows], [r[2] for r in rows], [r[3:] for r in rows]


def in_database(measured, compare, target, version, run, table):
    """Compare SQL without and with the exposure; ``run`` executes it."""
    dialect = target.lower()
    sql = measured.model.to_sql(dialect, table, keep=["row_id"])
    compare(target, version, *in_columns(run(sql).fetchall()))
    if not of_counts(measured):
        with pytest.raises(TypeError, match="exposure is for trees that predict counts"):
            measured.model.to_sql(dialect, table, exposure="years")
        return
    sql = measured.model.to_sql(dialect, table, keep=["row_id"], exposure="years")
    leaves, means, sizes = in_columns(run(sql).fetchall())
    compare(target, version, leaves, means, None, measured.years)
    np.testing.assert_array_equal(
        [size for (size,) in sizes], measured.model.predict_dist(measured.table).n
    )


def test_duckdb(measured, compare):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    duckdb_table(connection, '"my ""table"""', measured.exposed)
    run = connection.execute
    in_database(measured, compare, "DuckDB", duckdb.__version__, run, 'my "table"')


def test_sqlite(measured, compare):
    connection = sqlite3.connect(":memory:")
    sqlite_table(connection, "leaves", measured.exposed)
    run = connection.execute
    in_database(measured, compare, "SQLite", sqlite3.sqlite_version, run, "leaves")


@pytest.mark.system
def test_postgresql(measured, compare, postgresql):
    with postgresql() as connection:
        postgresql_table(connection, '"my ""table"""', measured.exposed)
        version = connection.execute("SHOW server_version").fetchone()[0].split()[0]
        in_database(measured, compare, "PostgreSQL", version, connection.execute, 'my "table"')


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_exposures_that_are_none(dialect):
    model = MAPTreeRegressor(likelihood="poisson").fit(
        [[0], [1]] * 9, [1, 5] * 9, exposure=[1] * 18
    )
    sql = model.to_sql(dialect, feature_names=["x"], keep=[], exposure="years")
    if dialect == "sqlite":
        connection, values = sqlite3.connect(":memory:"), "(0, 2.0), (0, 0), (0, NULL), (0, 'two')"
    else:
        connection = pytest.importorskip("duckdb").connect()
        values = "(0, 2.0), (0, 0.0), (0, NULL), (0, -1)"
    connection.execute("CREATE TABLE data (x INTEGER, years NUMERIC)")
    connection.execute(f"INSERT INTO data VALUES {values}")
    found = [row[1] for row in connection.execute(sql).fetchall()]
    assert found[0] == pytest.approx(model.predict([[0]], exposure=2)[0], rel=1e-12)
    assert found[1:] == [None, None, None]


def test_onnx(measured, compare):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")

    def run(model, outputs, arrays):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return session.run(outputs, arrays)

    model, version = measured.model, onnxruntime.__version__
    exported, arrays = model.to_onnx(missing_text=MISSING), as_arrays(measured)
    compare("ONNX", version, *run(exported, ["leaf", "prediction", "interval"], arrays))
    if not of_counts(measured):
        with pytest.raises(TypeError, match="exposure is for trees that predict counts"):
            model.to_onnx(exposure=True)
        return
    arrays["exposure"] = measured.years[:, np.newaxis]
    exported = model.to_onnx(missing_text=MISSING, exposure=True)
    leaves, means, sizes = run(exported, ["leaf", "prediction", "size"], arrays)
    compare("ONNX", version, leaves, means, None, measured.years)
    np.testing.assert_array_equal(sizes, model.predict_dist(measured.table).n)
    one = MAPTreeRegressor(likelihood="poisson").fit([[3.5]] * 3, [1, 2, 3])
    found = run(one.to_onnx(exposure=True), ["prediction"], {"exposure": np.array([[1.0], [2.0]])})
    np.testing.assert_allclose(found[0], one.predict([[3.5]] * 2, exposure=[1, 2]))
    found = run(one.to_onnx(), ["interval"], {"rows": np.zeros(2)})
    np.testing.assert_array_equal(found[0], one.predict_interval([[3.5]] * 2))


C_PREDICTS = """
    double years = strtod(next(), NULL), interval[2], dist[3] = {0};
    (void)years;
    maptree_predict_interval(&row, interval);
    %s
    printf("%%d %%.17g %%.17g %%.17g %%.17g %%.17g\\n", maptree_leaf(&row), %s, interval[0],
           interval[1], %s, dist[1]);
  }
}
"""


@pytest.mark.system
def test_c(measured, compare, tool, tmp_path):
    compiler, counts = tool("cc"), of_counts(measured)
    tree = PlainTree.of(measured.model.fitted_)
    inputs = encoded_inputs(tree, "C")
    (tmp_path / "exported.c").write_text(measured.model.to_c(), encoding="ascii")
    reads = "\n".join(f"    {READ[given.type].format(given.name)}" for given in inputs)
    start = C_MAIN[: C_MAIN.index("    double p[")]
    dist = f"maptree_predict_dist(&row, {'years, ' if counts else ''}dist);"
    means = [
        f"maptree_predict(&row{more})" for more in ([", 1", ", years"] if counts else ["", ""])
    ]
    ends = C_PREDICTS % (dist, *means)
    (tmp_path / "main.c").write_text(start % reads + ends)
    built = [compiler, *FLAGS, "main.c", "-o", "main"]
    subprocess.run(built, cwd=tmp_path, check=True, timeout=HANGS)
    names = [tree.columns[given.column].name for given in inputs]
    lines = []
    for row, years in zip(measured.rows, measured.years.tolist(), strict=True):
        lines += [field(given, row[name]) for given, name in zip(inputs, names, strict=True)]
        lines.append(years.hex())
    ran = subprocess.run(
        [tmp_path / "main"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    found = np.array([[float(x) for x in line.split()] for line in ran.stdout.splitlines()])
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True)
    version = version.stdout.strip()
    compare("C99", version, found[:, 0], found[:, 1], found[:, 2:4])
    if counts:
        compare("C99", version, found[:, 0], found[:, 4], None, measured.years)
        p = measured.model.predict_dist(measured.table, measured.years).p
        np.testing.assert_allclose(found[:, 5], p, rtol=1e-14)
    else:
        np.testing.assert_array_equal(found[:, 5], measured.model.predict(measured.table))


JS_PREDICTS = """
  const years = row.years;
  console.log(JSON.stringify([leaf(row), predict(row), predictInterval(row), predict(row, years),
    Object.values(predictDist(row, years))]));
}
"""


@pytest.mark.system
def test_javascript(measured, compare, tool, tmp_path):
    node = tool("node")
    (tmp_path / "exported.mjs").write_text(measured.model.to_javascript(), encoding="ascii")
    start = JS_MAIN[: JS_MAIN.index("  const probabilities")]
    start = start.replace("predictProba", "predictInterval, predictDist")
    (tmp_path / "main.mjs").write_text(start + JS_PREDICTS)
    rows = [
        {name: js_value(value, i) for name, value in row.items()} | {"years": years}
        for i, (row, years) in enumerate(zip(measured.rows, measured.years.tolist(), strict=True))
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ran = subprocess.run(
        [node, "main.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    leaves = [row[0] for row in found]
    compare("JavaScript", version, leaves, [row[1] for row in found], [row[2] for row in found])
    dist = np.array([row[4] for row in found]).T
    if of_counts(measured):
        compare("JavaScript", version, leaves, [row[3] for row in found], None, measured.years)
        expected = measured.model.predict_dist(measured.table, measured.years)
        np.testing.assert_allclose(dist, [expected.n, expected.p], rtol=1e-14)
    else:
        expected = measured.model.predict_dist(measured.table)
        np.testing.assert_array_equal(dist, [expected.df, expected.loc, expected.scale])


def test_pictures_say_what_rules_say():
    X = [[48], [55], [61], [66], [72], [80]] * 5
    y = [640 + 9 * (i % 7) + 400 * (area > 63) for i, (area,) in enumerate(X)]
    model = MAPTreeRegressor().fit(X, y)
    change(model, training=replace(model.fitted_.training, target="rent, n = net"))
    rules = model.rules(["area"])
    tree = PlainTree.of(model.fitted_)
    for leaf in tree.leaves:
        assert any(rule.endswith(", ".join(node_lines(tree, leaf))) for rule in rules)
    for picture in (model.to_dot(), model.to_latex()):
        assert picture.count("rent, n = net") == 2
    assert model.to_mermaid().count("n #61; 15") == 2


def test_names_of_added_columns():
    X = np.array([[1.0, 2.0], [3.0, 4.0]] * 9)
    model = MAPTreeRegressor().fit(X, X[:, 0] + np.arange(18) % 3)
    assert '("leaf", "prediction", "lower", "upper")' in model.to_sql()
    taken = model.to_sql(feature_names=["Upper", "b"])
    assert '("maptree_leaf", "maptree_prediction", "maptree_lower"' in taken
    one = MAPTreeRegressor().fit([[3.5], [3.5]], [1.0, 2.0])
    with pytest.raises(ValueError, match="What it predicts is the same for every row"):
        one.to_sklearn()
