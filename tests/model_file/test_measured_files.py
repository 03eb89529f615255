"""Model files of numbers and counts: the round trip is exact, and damaged files are refused."""

from __future__ import annotations

import copy
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_hostile_models import USES, comb_values, wide_values, work

from fuzz.inputs.model_bytes import places, try_input
from junk_values import junk
from maptree import MAPTreeClassifier, MAPTreeRegressor, load_model
from maptree.files import strict_json
from maptree.model_file import PARAMETERS
from maptree.model_file.reading import parse_model
from problems import examples


def table(n=240):
    rng = np.random.default_rng(5)
    age = rng.integers(18, 80, n).astype(float)
    age[::7] = np.nan
    frame = pd.DataFrame({"age": age, "colour": rng.choice(["red", "blue", "grün"], n)})
    return frame, rng


def of_numbers(**parameters):
    frame, rng = table()
    y = 500 + 90 * (frame["age"] > 45) + 60 * (frame["colour"] == "red") + rng.normal(0, 9, 240)
    model = MAPTreeRegressor(time_limit=None, max_expansions=300, **parameters)
    return model.fit(frame, pd.Series(y, name="rent")), frame


def of_counts(exposed=True, **parameters):
    frame, rng = table()
    years = rng.uniform(0.5, 3, 240)
    visits = rng.poisson(years * np.where(frame["colour"] == "red", 5, 1))
    model = MAPTreeRegressor(
        time_limit=None, max_expansions=300, likelihood="poisson", **parameters
    )
    return model.fit(frame, visits, exposure=years if exposed else None), frame


MODELS = {"numbers": of_numbers, "counts": of_counts, "whole": lambda: of_counts(exposed=False)}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    """A regressor, and the rows that it was fitted on."""
    found, frame = MODELS[request.param]()
    assert found.tree_.depth >= 1
    return found, frame


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The values of valid files, by what the models predict."""
    path, found = tmp_path_factory.mktemp("measured") / "model.json", {}
    for name, make in MODELS.items():
        make()[0].save(path)
        found[name] = json.loads(path.read_bytes())
    return found


def round_trip(model, folder):
    path = folder / "model.json"
    model.save(path)
    return load_model(path)


def same(again, model, X):
    """Every public answer is the same, to the last bit."""
    assert type(again) is MAPTreeRegressor
    for answer in ("predict", "predict_interval", "apply"):
        np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))
    np.testing.assert_array_equal(again.predict_quantile(X, 0.3), model.predict_quantile(X, 0.3))
    for name, values in vars(model.predict_dist(X)).items():
        np.testing.assert_array_equal(getattr(again.predict_dist(X), name), values)
    assert again.rules() == model.rules()
    assert again.export_text() == model.export_text()
    assert again.tree_ == model.tree_
    assert again.fitted_.measured == model.fitted_.measured
    assert again.certificate_ == model.certificate_
    assert again.training_ == model.training_
    np.testing.assert_array_equal(again.trace_, model.trace_)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_the_round_trip_is_exact(model, tmp_path):
    found, frame = model
    again = round_trip(found, tmp_path)
    same(again, found, frame)
    params, ours = again.get_params(), found.get_params()
    assert params == ours
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    if found.likelihood == "poisson":
        exposure = np.linspace(0.1, 9, len(frame))
        expected = found.predict_interval(frame, exposure=exposure)
        np.testing.assert_array_equal(again.predict_interval(frame, exposure=exposure), expected)


@pytest.mark.parametrize("encoder", ["auto", None])
def test_a_matrix_with_weights_and_another_prior(tmp_path, encoder):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (90, 3))
    y = 5.0 * X[:, 0] + rng.normal(size=90)
    model = MAPTreeRegressor(encoder=encoder, kappa=0.5, nu=np.float64(2), noise=1).fit(
        X, y, np.arange(90) % 4
    )
    again = round_trip(model, tmp_path)
    same(again, model, X)
    assert (again.kappa, again.nu, again.noise) == (0.5, 2.0, 1)


def test_a_constant_and_a_single_leaf(tmp_path):
    X = [[1], [2]] * 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of intervals without width
        same_y = MAPTreeRegressor().fit(X, [7.5] * 10)
    none = MAPTreeRegressor(likelihood="poisson").fit(X, [0] * 10)
    for model in (same_y, none):
        same(round_trip(model, tmp_path), model, X)


@pytest.mark.parametrize("factor", [1e297, 1e-300])
def test_extreme_magnitudes(tmp_path, factor):
    frame, rng = table()
    y = (500 + 90 * (frame["colour"] == "red") + rng.normal(size=240)) * factor
    model = MAPTreeRegressor(max_expansions=50).fit(frame, y)
    same(round_trip(model, tmp_path), model, frame)


def test_rates_that_are_no_floats_are_not_saved(tmp_path):
    model = MAPTreeRegressor(likelihood="poisson").fit([[0], [1]] * 9, [1, 4] * 9, exposure=1e-300)
    with pytest.raises(ValueError, match=r"cannot be saved.*In another unit of y"):
        model.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="too large for an export"):
        model.to_python()
    assert not list(tmp_path.iterdir())


def test_a_bound_that_is_infinite(tmp_path):
    frame, rng = table(50)
    model = MAPTreeRegressor(time_limit=1e-9)
    with pytest.warns(UserWarning, match="time_limit"):
        model.fit(frame, rng.normal(size=50))
    assert model.certificate_.log_posterior_bound == math.inf
    same(round_trip(model, tmp_path), model, frame)


def test_all_parameters_but_the_callback_are_stored():
    expected = sorted(MAPTreeRegressor().get_params(deep=False))
    assert sorted({*PARAMETERS["measured"], "callback"}) == expected


def test_classes_have_the_version_that_earlier_releases_read(tmp_path):
    X, y = [[0], [1]] * 6, ["no", "yes"] * 6
    MAPTreeClassifier().fit(X, y).save(tmp_path / "model.json")
    values = json.loads((tmp_path / "model.json").read_bytes())
    assert values["version"] == 7
    with pytest.raises(ValueError, match="is missing outcome"):
        parse_model(values | {"version": 8})


# Damaged files


def edited(values, path, value):
    values = copy.deepcopy(values)
    inner = values
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return values


EDITS = [
    ("numbers", ("outcome",), None, "outcome is null"),
    ("numbers", ("outcome",), [], "outcome.kind is None"),
    ("numbers", ("outcome", "kind"), "counts", "outcome is missing exposure"),
    ("numbers", ("outcome", "kind"), ["numbers"], "outcome.kind is"),
    ("numbers", ("outcome", "mean"), 2.0**1021, "outcome.mean is"),
    ("numbers", ("outcome", "mean"), "500", "outcome.mean is '500'"),
    ("numbers", ("outcome", "sd"), -1.0, "outcome.sd is -1.0"),
    ("numbers", ("outcome", "sd"), 5e-324, "outcome.sd is 5e-324"),
    ("numbers", ("outcome", "sd"), 0, "numbers can add up to"),
    ("numbers", ("outcome", "kappa"), 0, "kappa=0 is out of range"),
    ("numbers", ("outcome", "nu"), "3", "nu='3' is not a number"),
    ("numbers", ("outcome", "noise"), 1e300, r"noise=1e\+300 is out of range"),
    ("numbers", ("outcome", "rate"), 1, "unknown rate"),
    ("numbers", ("classes",), None, "unknown classes"),
    ("numbers", ("rho",), [], "unknown rho"),
    ("numbers", ("average",), None, "unknown average"),
    ("numbers", ("version",), 7, "is missing classes"),
    ("numbers", ("tree", "rows", 0), 241, r"tree.rows\[0\] is not the sum"),
    ("numbers", ("tree", "rows", 1), 0, r"tree.rows\[1\] is 0"),
    ("numbers", ("tree", "rows", 0), 2**26, r"tree.rows\[0\] is 67108864"),
    ("numbers", ("tree", "rows"), [240], "tree.rows has 1 entries"),
    ("numbers", ("tree", "counts"), [[240]], "unknown counts"),
    ("numbers", ("tree", "sums", 0), [1], r"tree.sums\[0\] has 1 entries"),
    ("numbers", ("tree", "sums", 0), [0, 0], r"tree.sums\[0\] is not the sum"),
    ("numbers", ("tree", "sums", 0, 1), 2**51, r"tree.sums\[0\]\[1\] is"),
    ("numbers", ("tree", "sums", 0, 1), 0.5, r"tree.sums\[0\]\[1\] is 0.5"),
    ("numbers", ("training", "rows"), 239, "training.rows"),
    ("numbers", ("training", "class_counts"), [], "unknown class_counts"),
    ("numbers", ("parameters", "likelihood"), "gamma", "likelihood='gamma' is unknown"),
    ("numbers", ("parameters", "likelihood"), 1, "likelihood=1 is unknown"),
    ("numbers", ("parameters", "kappa"), -1, "kappa=-1 is out of range"),
    ("numbers", ("parameters", "shape"), None, "shape=None is not a number"),
    ("numbers", ("parameters", "rho"), 2.5, "unknown rho"),
    ("numbers", ("certificate", "gap"), "inf", "certificate.gap is 'inf'"),
    ("counts", ("certificate", "log_posterior_bound"), "inf", "log_posterior_bound is 'inf'"),
    ("counts", ("outcome", "exposure"), 0, "outcome.exposure is 0"),
    ("counts", ("outcome", "exposure"), 1e-300, "too large or too small for a float"),
    ("counts", ("outcome", "units"), 2, "outcome.units is 2: it must be 1 or 65536"),
    ("counts", ("outcome", "units"), 1, "counts can add up to"),
    ("counts", ("outcome", "exposed"), 1, "outcome.exposed is 1"),
    ("counts", ("outcome", "exposed"), False, "exposure and units must be 1"),
    ("counts", ("outcome", "shape"), 1e9, "shape=1000000000.0 is out of range"),
    ("counts", ("tree", "sums", 0, 0), -1, r"tree.sums\[0\] is not the sum"),
    ("whole", ("outcome", "units"), 65536, "exposure and units must be 1"),
    ("whole", ("outcome", "exposure"), 2.0, "exposure and units must be 1"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "path", "value", "message"), EDITS)
def test_nonsense_is_refused_with_its_place(files, tmp_path, kind, path, value, message):
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(edited(files[kind], path, value)), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        load_model(file)
    assert len(str(caught.value)) < 700


def shifted(values, place, by):
    """Change a sum of a leaf, and those of all nodes above it."""
    values = copy.deepcopy(values)
    tree = values["tree"]
    node = tree["feature"].index(-1)
    while node is not None:
        tree["sums"][node][place] += by
        above = [i for i in range(node) if node in (tree["left"][i], tree["right"][i])]
        node = above[0] if above else None
    return values


@pytest.mark.parametrize(
    ("kind", "place", "by", "message"),
    [
        ("numbers", 0, 10**6, "numbers can add up to"),
        ("numbers", 0, 300, r"tree.sums\[0\] is not that of numbers with mean 0"),
        ("numbers", 1, -(10**9), "numbers can add up to"),
        ("numbers", 1, 257 * 240 * 3, r"deviation 1"),
        ("counts", 0, -(10**6), "counts can add up to"),
        ("counts", 0, 2**25, "events: at most 33,554,432"),
        ("counts", 1, 1000, r"not that of exposures with mean 1"),
        ("whole", 1, 1, "counts can add up to"),
    ],
)
def test_sums_that_no_rows_have_are_refused(files, kind, place, by, message):
    with pytest.raises(ValueError, match=message):
        parse_model(shifted(files[kind], place, by))


def test_every_truncation_is_refused(files):
    content = strict_json.dump(files["counts"])
    for end in range(0, len(content) - 2, 61):
        with pytest.raises(ValueError, match="it is "):
            parse_model(strict_json.parse(content[:end]))


@examples(60)
@given(st.data())
def test_any_edit_of_a_value_is_read_or_refused(files, data):
    """Whatever a part is replaced by: a model that predicts or a ValueError, nothing else."""
    values = copy.deepcopy(files[data.draw(st.sampled_from(sorted(files)))])
    # The parts that only these files have, more often than the others.
    within = data.draw(st.sampled_from([values, values["outcome"], values["tree"]]))
    container, key = data.draw(st.sampled_from(list(places(within))))
    action = data.draw(st.sampled_from(["replace", "scale", "swap", "delete"]))
    if action == "replace":
        container[key] = data.draw(junk)
    elif action == "scale" and type(container[key]) in (int, float):
        container[key] *= data.draw(st.sampled_from([-1, 2, 1e-3, 1e3, 1e12, 1e150, 1e-150]))
    elif action == "swap":
        other, place = data.draw(st.sampled_from(list(places(values))))
        container[key] = copy.deepcopy(other[place])
    else:
        del container[key]
    try:
        content = strict_json.dump(values)
    except ValueError:
        return
    try_input(content)


# Work


def as_counts(values, files):
    """The tree of a file of classes as one of counts, with an event in every row."""
    rows = [sum(counts) for counts in values["tree"]["counts"]]
    tree = {name: values["tree"][name] for name in ("feature", "left", "right")}
    given = files["whole"] | {name: values[name] for name in ("schema", "matrix")}
    given["tree"] = tree | {"rows": rows, "sums": [[n, n] for n in rows]}
    given["training"] = given["training"] | {"rows": rows[0], "seen": None}
    given["feature_importances"] = values["feature_importances"]
    given["parameters"] = given["parameters"] | {"split_prior": "tests"}
    return given


@pytest.mark.parametrize("use", [use for use in USES if use not in ("to_html", "in a notebook")])
@pytest.mark.parametrize(("values", "n"), [(comb_values, 4), (wide_values, 500)])
def test_twice_the_size_is_twice_the_work(files, use, values, n):
    if use == "to_onnx":
        pytest.importorskip("onnx")
    small = as_counts(values(n), files)
    large = as_counts(values(n + 1 if values is comb_values else 2 * n), files)
    work(USES[use], small)  # what is done once
    calls, length = work(USES[use], small)
    more_calls, longer = work(USES[use], large)
    assert more_calls <= 2.4 * calls + 100
    assert longer <= 2.4 * length + 100
