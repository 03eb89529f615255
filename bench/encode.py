"""Measure the encoding of raw tables: time, and peak memory of the process.

    python bench/encode.py --rows 10000000 --against 1000000

Makes a Parquet file of 20 mixed columns in a temporary folder (numbers, whole numbers, text,
categories, dates, datetimes, booleans; a tenth of the values missing in some), then, each in a
separate process:

- encodes the file column by column into packed bits (``scan_parquet``), and fits a tree on it;
- encodes and fits ``--against`` rows in memory (a pandas frame), and on the same rows fits
  scikit-learn's tree after OrdinalEncoder (fully grown, and with 32 leaves) and OneHotEncoder.

Memory is the peak of the resident set from /proc, so this runs on Linux only. A benchmark, not a
test: results depend on the machine and on its load.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK = 1_000_000  # rows of the file made at a time
WORDS = np.array(["red", "green", "blue", "white", "black", "brown", "grey", "pink"])


def make(rng: np.random.Generator, n: int) -> pa.Table:
    """Make rows of 20 columns; the label mostly depends on some of them."""

    def with_missing(values: np.ndarray) -> pa.Array:
        return pa.array(values, mask=rng.random(n) < 0.1)

    age, hours = rng.integers(18, 90, n), rng.integers(0, 80, n)
    colour = WORDS[rng.integers(0, len(WORDS), n)]
    income = rng.lognormal(10, 1, n)
    columns: dict[str, Any] = {
        "age": with_missing(age),
        "hours": hours,
        "income": with_missing(income),
        "debt": rng.lognormal(8, 2, n),
        "score": rng.normal(size=n).astype(np.float32),
        "rate": rng.random(n),
        "height": with_missing(rng.normal(170, 10, n).round(1)),
        "weight": rng.normal(70, 12, n).round(1),
        "visits": rng.poisson(3, n),
        "account": rng.integers(0, 10**12, n),
        "colour": with_missing(colour),
        "town": np.char.add("town ", rng.integers(0, 500, n).astype(str)),
        "code": np.char.add("k", rng.integers(0, 30, n).astype(str)),
        "plan": pa.array(rng.choice(["free", "basic", "pro"], n)).dictionary_encode(),
        "smoker": rng.choice(["no", "yes"], n),
        "member": rng.random(n) < 0.3,
        "insured": with_missing(rng.random(n) < 0.6),
        "joined": np.datetime64("2015-01-01") + rng.integers(0, 3000, n),
        "seen": with_missing(np.datetime64("2022-01-01", "us") + rng.integers(0, 10**14, n)),
        "wait": rng.integers(0, 10**11, n).astype("m8[us]"),
    }
    likely = ((age > 45) & (colour == "red")) | ((hours > 60) & (income > 30_000))
    label = likely ^ (rng.random(n) < 0.1)
    return pa.table(columns | {"label": np.where(label, "yes", "no")})


def write(path: Path, n_rows: int) -> None:
    rng, writer = np.random.default_rng(0), None
    for start in range(0, n_rows, CHUNK):
        rows = make(rng, min(CHUNK, n_rows - start))
        if writer is None:
            writer = pq.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    assert writer is not None
    writer.close()


def memory(field: str) -> int:
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


def encode_file(path: str, seconds: float) -> dict[str, Any]:
    from maptree import BinaryEncoder, MAPTreeClassifier, scan_parquet
    from maptree.tables.labels import read_labels
    from maptree.tables.table import read_table

    table = scan_parquet(path)
    X = table.drop("label")
    MAPTreeClassifier(max_expansions=5).fit([[0, "a"], [1, "b"]], [0, 1])  # loads what loads late
    before = memory("VmRSS")
    started, busy = time.perf_counter(), time.process_time()
    _, codes = read_labels(table["label"], len(table))
    labels = time.perf_counter() - started
    encoder = BinaryEncoder()
    packed = encoder.encode_table(read_table(BinaryEncoder(), X, reset=True), codes, None)
    encoded = time.perf_counter() - started
    result = {
        "rows": len(table),
        "tests": packed.n_columns,
        "labels seconds": labels,
        "encode seconds": encoded,
        "encode processor seconds": time.process_time() - busy,
        "packed MB": packed.n_bytes / 1e6,
        "before MB": before / 1e6,
        "peak MB": memory("VmHWM") / 1e6,
    }
    del packed
    started = time.perf_counter()
    model = MAPTreeClassifier(time_limit=seconds).fit(X, table["label"])
    result |= {
        "fit seconds": time.perf_counter() - started,
        "fit peak MB": memory("VmHWM") / 1e6,
        "of which until the best tree": _last_improvement(model),
        "status": model.certificate_.status,
        "leaves": model.tree_.n_leaves,
    }
    started = time.perf_counter()
    accuracy = (model.predict(X) == table["label"].to_numpy()).mean()
    return result | {"predict seconds": time.perf_counter() - started, "accuracy": accuracy}


def as_numbers(frame: Any) -> Any:
    """Convert dates and times to numbers, because scikit-learn's tree does not accept them."""
    import pandas as pd

    frame = frame.copy()
    for name in ("joined", "seen", "wait"):
        raw = frame[name]
        frame[name] = pd.to_numeric(raw).astype(float).where(raw.notna())
    frame["insured"] = frame["insured"].astype("boolean").astype("Float64").astype(float)
    return frame


def against(path: str, how: str, seconds: float) -> dict[str, Any]:
    """Fit on a pandas frame in memory, half of the rows, and score on the other half."""
    from sklearn.compose import make_column_transformer
    from sklearn.metrics import log_loss
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    from maptree import BinaryEncoder, MAPTreeClassifier

    frame = pq.read_table(path).to_pandas(date_as_object=False)
    y = frame.pop("label").to_numpy()
    half = len(frame) // 2
    train, test = frame[:half], frame[half:]
    result: dict[str, Any] = {"rows": half, "how": how}
    if how == "maptree":
        encoder = BinaryEncoder()
        result |= _timed("encode", lambda: encoder.fit(train, y[:half]).transform_packed(train))
        model: Any = MAPTreeClassifier(time_limit=seconds)
    else:
        words = ["colour", "town", "code", "plan", "smoker"]
        first = (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
            if how != "one-hot"
            else OneHotEncoder(handle_unknown="ignore", min_frequency=0.01)
        )
        columns = make_column_transformer((first, words), remainder="passthrough")
        size = {"max_leaf_nodes": 32} if how == "32 leaves" else {"min_samples_leaf": 50}
        model = make_pipeline(columns, DecisionTreeClassifier(**size, random_state=0))
        train, test = as_numbers(train), as_numbers(test)
        result |= _timed("encode", lambda: columns.fit_transform(train))
    result |= _timed("fit", lambda: model.fit(train, y[:half]))
    if how == "maptree":
        result["leaves"] = model.tree_.n_leaves
        result["of which until the best tree"] = _last_improvement(model)
    else:
        result["leaves"] = int(model[-1].get_n_leaves())
    probabilities = model.predict_proba(test)
    result["accuracy"] = (model.classes_[probabilities.argmax(axis=1)] == y[half:]).mean()
    result["log loss"] = log_loss(y[half:], probabilities)
    result["peak MB"] = memory("VmHWM") / 1e6
    return result


def _last_improvement(model: Any) -> float:
    trace = model.trace_
    best = trace["log_posterior"] == trace["log_posterior"][-1]
    return float(trace["seconds"][best][0])


def _timed(name: str, work: Any) -> dict[str, float]:
    started, busy = time.perf_counter(), time.process_time()
    work()
    return {
        f"{name} seconds": time.perf_counter() - started,
        f"{name} processor seconds": time.process_time() - busy,
    }


def run(*arguments: str) -> dict[str, Any]:
    """Run one case in a separate process."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def show(title: str, found: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in found.items():
        print(f"  {name:<28} {value:,.3f}" if isinstance(value, float) else f"  {name:<28} {value}")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="number of rows in the file")
    parser.add_argument(
        "--against",
        type=int,
        default=2_000_000,
        help="number of rows in memory; half to fit, half to score",
    )
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="time limit of a fit in seconds"
    )
    parser.add_argument("--case", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        name, path, *rest, seconds = options.case
        found = (
            encode_file(path, float(seconds))
            if name == "file"
            else against(path, rest[0], float(seconds))
        )
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.rows:
            path = Path(folder, "large.parquet")
            write(path, options.rows)
            print(f"{options.rows:,} rows, a file of {path.stat().st_size / 1e6:,.0f} MB")
            show("maptree, from the file", run("file", str(path), str(options.seconds)))
            path.unlink()
        if options.against:
            path = Path(folder, "small.parquet")
            write(path, options.against)
            for how in ("maptree", "ordinal", "32 leaves", "one-hot"):
                show(f"{how}, in memory", run("frame", str(path), how, str(options.seconds)))


if __name__ == "__main__":
    main()
