"""Sets of categories: their order, when they are used, and what their tests answer and say."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from maptree import (
    BinaryEncoder,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    SMCTreeClassifier,
    load_model,
)
from maptree.encoding import category_sets
from maptree.encoding.category_sets import Order, in_sets
from maptree.schema.columns import Column, Schema
from maptree.tables.deadline import OutOfTimeError, until
from maptree.tables.values import Categories, Values
from maptree.words.certificate import certificate_sentences
from maptree.words.tests import TestWords

SETS = BinaryEncoder(category_sets=True)

# The order and its groups, against plain computations


def evidence(counts):
    """The probability of labels in a leaf, one row after the other."""
    found, seen = 0.0, [0] * len(counts)
    for k, count in enumerate(counts):
        for _ in range(int(count)):
            found += math.log((seen[k] + 2.5) / (sum(seen) + 2.5 * len(counts)))
            seen[k] += 1
    return found


def rise(inside, every):
    """By how much a division raises the log likelihood."""
    outside = [a - b for a, b in zip(every, inside, strict=True)]
    return evidence(inside) + evidence(outside) - evidence(every)


def total(rows):
    return [sum(column) for column in zip(*rows, strict=True)]


def places(counts):
    """Rates with 20 rows more, along the direction in which they differ most."""
    counts = np.asarray(counts, dtype=float)
    every = counts.sum(axis=0) / counts.sum()
    rates = np.array([(row + 20 * every) / (row.sum() + 20) - every for row in counts])
    scaled = rates * np.sqrt(counts.sum(axis=1))[:, None]
    return rates @ np.linalg.svd(scaled)[2][0]


def plain_groups(rows, at):
    """Divide rows of counts that are in order of their places; the groups, and what they gain."""
    gain, end = 0.0, None
    for i in range(1, len(rows)):
        net = rise(total(rows[:i]), total(rows)) - len(rows) * math.log(2)
        if at[i] - at[i - 1] > 1e-9 and net > gain:
            gain, end = net, i
    if end is None:
        return [len(rows)], 0.0
    first, second = plain_groups(rows[:end], at[:end]), plain_groups(rows[end:], at[end:])
    return first[0] + second[0], gain + first[1] + second[1]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_groups_are_those_of_a_plain_computation(seed, n_classes):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 0.3), 4)[rng.integers(0, 4, 12)]
    counts = np.array([rng.multinomial(rng.integers(1, 60), share) for share in shares])
    found = Order.of(counts.astype(float))
    at = places(counts)[found.order]
    at = at if at[0] < at[-1] else -at
    sizes, gain = plain_groups(counts[found.order].tolist(), at)
    ends = np.cumsum(sizes) - 1
    assert found.gain == pytest.approx(gain, abs=1e-6)
    assert found.position[found.order].tolist() == np.repeat(ends, sizes).tolist()
    assert found.unknown == found.position[found.order[np.argmin(np.abs(at))]]


@pytest.mark.parametrize("seed", range(20))
def test_the_best_division_of_two_classes_is_a_set_in_order(seed):
    rng = np.random.default_rng(seed)
    n = 7
    yes = rng.integers(0, 40, n)
    counts = np.column_stack([40 - yes, yes])  # of as many rows each, so smoothing moves none
    every = total(counts.tolist())

    def of(chosen):
        return rise(total([counts[i].tolist() for i in chosen]), every)

    found = Order.of(counts.astype(float))
    in_order = [list(found.order[:end]) for end in range(1, n)]
    divisions = [c for k in range(1, n) for c in itertools.combinations(range(n), k)]
    assert max(map(of, in_order)) == pytest.approx(max(map(of, divisions)), abs=1e-9)
    rates = yes[found.order]
    assert (np.diff(rates) >= 0).all()
    # Those of equal rates are in one group, whose position is that of its last.
    for i in range(n):
        assert found.position[i] >= np.flatnonzero(rates == yes[i])[-1]


@pytest.mark.parametrize("n_categories", [2, 40, 500, 3000])
@pytest.mark.parametrize("n_rows", [1, 3, 30, 1000])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.95, 0.05), (0.6, 0.3, 0.1)])
def test_noise_makes_no_groups(n_categories, n_rows, shares):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = n_rows if seed % 2 else rng.geometric(1 / n_rows, n_categories)
        counts = rng.multinomial(rows, shares, n_categories).astype(float)
        assert Order.of(counts).gain == 0


def test_a_column_that_labels_hardly_follow_has_no_sets():
    """The groups must pay twice, and more than a single category does."""
    names = Categories.of([f"town {i}" for i in range(40)])

    def kind(n_yes):
        towns, labels = [], []
        for i, yes in enumerate(n_yes):
            towns += [i] * 30
            labels += [1] * yes + [0] * (30 - yes)
        values = Values("category", "str", np.array(towns), categories=names)
        return in_sets(values, np.array(labels, dtype=np.uint8), None)

    slightly, clearly = [13, 17] * 20, [8, 22] * 20
    single = [0] * 39 + [30]
    assert kind(slightly) is None
    assert kind(single) is None
    assert Order.of(np.array([[30 - yes, yes] for yes in single], float)).gain > 0
    assert kind(clearly).n_groups == 2


@pytest.mark.parametrize(("n_classes", "looked_at"), [(28, 1), (29, 0)])
def test_too_many_cells_are_not_looked_at(n_classes, looked_at, monkeypatch):
    seen = []
    monkeypatch.setattr(category_sets, "_divide", lambda *given: seen.append(given) or (ONE, 0.0))
    rows = np.arange(4000)
    names = Categories.of([f"town {i}" for i in range(40)])
    values = Values("category", "str", rows % 40, categories=names)
    assert in_sets(values, rows // 40 % n_classes, None) is None
    assert len(seen) == looked_at


ONE = np.array([39])  # the last of 40 categories in one group


def test_work_is_linear_in_the_categories(monkeypatch):
    looked_at, gains = [], category_sets._gains
    monkeypatch.setattr(
        category_sets, "_gains", lambda *given: looked_at.append(len(given[0])) or gains(*given)
    )
    n = 200
    yes = np.arange(n) * 500.0
    counts = np.column_stack([yes[::-1], yes])
    assert len(np.unique(Order.of(counts).position)) > 50
    assert sum(looked_at) < 16 * n
    looked_at.clear()
    monkeypatch.setattr(category_sets, "_MOST_LEVELS", 3)
    assert len(np.unique(Order.of(counts).position)) == 8
    assert sum(looked_at) < 3 * n


def test_looking_at_sets_ends_at_the_deadline():
    with until(0.0), pytest.raises(OutOfTimeError):
        Order.of(np.ones((40, 2)))


# Tables


def towns(n=3000, k=40, n_classes=2, seed=0, holes=0.05):
    """A table with a column of many categories that matter, another that does not, and a number."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, k, n)
    shares = rng.dirichlet(np.full(n_classes, 0.5), k)
    y = (rng.random((n, 1)) > shares.cumsum(axis=1)[town, :-1]).sum(axis=1)
    names = np.array([f"town {i:02d}" for i in range(k)], dtype=object)[town]
    names[rng.random(n) < holes] = None
    street = np.array([f"street {i}" for i in range(50)], dtype=object)[rng.integers(0, 50, n)]
    frame = pd.DataFrame({"town": names, "street": street, "age": rng.integers(18, 80, n)})
    return frame, np.array(["no", "yes", "maybe"])[y]


@pytest.fixture(scope="module")
def table():
    return towns()


@pytest.mark.parametrize("max_thresholds", [None, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_tests_are_about_sets(n_classes, max_thresholds):
    X, y = towns(n_classes=n_classes)
    encoder = BinaryEncoder(max_thresholds, category_sets=True).fit(X, y)
    town, street, _ = encoder.schema_
    assert (town.kind, street.kind) == ("sets", "category")
    n_groups = len(BinaryEncoder(category_sets=True).fit(X, y).schema_[0].thresholds) + 1
    assert 2 < n_groups < 17
    assert town.note.startswith(
        f"40 categories, tested in sets of {n_groups} groups learnt from the labels"
    )
    assert sorted(town.categories) == [f"town {i:02d}" for i in range(40)]
    if n_classes == 2:
        rate = pd.Series(y == "yes").groupby(X["town"].to_numpy()).mean()
        n = X["town"].value_counts()
        smoothed = (rate * n + 20 * (y == "yes")[X["town"].notna()].mean()) / (n + 20)
        in_order = smoothed[list(town.categories)].to_numpy()
        assert (np.diff(in_order) >= -1e-12).all()
    new = X.copy()
    new.loc[::3, "town"] = "Nowhere"
    new["town"] = pd.Categorical(new["town"])  # with other codes, and another type
    answers = encoder.transform(new)
    position = {name: i for i, name in enumerate(town.categories)}
    for j, test in enumerate(town.tests):
        if test.asks == "missing":
            expected = new["town"].isna()
        else:
            inside, listed = town.categories_of(test)
            assert 0 < len(listed) < 40
            among = new["town"].isin(listed)
            expected = among if inside else ~among & new["town"].notna()
            at = new["town"].astype(object).map(lambda name: position.get(name, town.unknown))
            same = at.where(new["town"].notna(), 99) <= test.value
            assert (same == expected).all()
        assert (answers[:, j] == expected).all()


def test_when_there_are_sets(table):
    X, y = table
    kinds = {
        "labels": BinaryEncoder(category_sets=True).fit(X, y),
        "none": BinaryEncoder(category_sets=True).fit(X),
        "off": BinaryEncoder().fit(X, y),
        "few": BinaryEncoder(max_categories=40, category_sets=True).fit(X, y),
        "numbers": BinaryEncoder(category_sets=True).fit(
            X.assign(town=pd.Categorical(X["town"].str[5:].astype(float))), y
        ),
    }
    found = {name: encoder.schema_[0].kind for name, encoder in kinds.items()}
    assert found == {name: "sets" if name == "labels" else "category" for name in kinds}
    with pytest.raises(ValueError, match="category_sets"):
        BinaryEncoder(category_sets="auto").fit(X, y)


def test_neither_the_order_of_rows_nor_their_repetition_matters(table):
    X, y = table
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    given = BinaryEncoder(None, category_sets=True).fit(X, y, weights).schema_[0]
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(len(X)), weights))
    X = X.iloc[repeated].assign(
        town=lambda f: pd.Categorical(f["town"], f["town"].dropna().unique())
    )
    again = BinaryEncoder(None, category_sets=True).fit(X, y[repeated]).schema_[0]
    assert given.kind == "sets"
    assert replace(again, dtype=given.dtype) == given


def test_words():
    column = Column("c", "sets", "str", tuple(range(11)), tuple("abcdefghijkl"), unknown=5)
    words = TestWords(Schema((column,)))
    assert [words.test(t) for t in (0, 2, 4, 5, 8, 10)] == [
        "c = a",
        "c in {a, b, c}",
        "c in {a, b, c, d, e}",
        "c not in {l, k, j, i, h, g}",
        "c not in {l, k, j}",
        "c != l",
    ]
    assert words.condition([(0, False), (2, True)]) == "c in {b, c}"
    assert words.condition([(5, False), (8, True)]) == "c in {i, h, g}"
    assert words.condition([(0, False), (10, True)]) == "c not in {a, l}"
    assert words.condition([(0, False)], unseen=True) == "c != a or missing"
    assert words.condition([(2, False), (3, True)], unseen=True) == "c = d"
    wide = replace(
        column, thresholds=tuple(range(25)), categories=tuple("abcdefghijklmnopqrstuvwxyz")
    )
    words = TestWords(Schema((replace(wide, unknown=12, has_missing=True),)))
    assert words.test(9) == "c in a set of 10 (a, b, c, ...)"
    assert words.condition([(9, False)]) == "c not in a set of 10 (a, b, c, ...) or missing"
    assert words.test(14) == "c not in a set of 11 (z, y, x, ...)"
    assert words.condition([(1, False), (14, True)]) == (
        "c not in sets of 2 (a, b) and 11 (z, y, x, ...)"
    )
    names = [words.test(t) for t in range(26)]
    assert len(set(names)) == 26
    assert "a set of" not in " ".join(TestWords(words.schema, math.inf).test(t) for t in range(26))


# Models


@pytest.mark.parametrize("rates", [(0.1, 0.9), (0.3, 0.7)])
def test_intervals_cover_the_rates_of_towns_of_two_kinds(rates):
    """Divisions of noise would give leaves whose intervals are too narrow and off the rates."""
    of_row = np.repeat(np.arange(60), 100)
    X = pd.DataFrame({"town": [f"town {i:02d}" for i in of_row]})
    true = np.repeat(rates, 3000)
    covered = []
    for seed in range(50):
        y = np.random.default_rng(seed).random(6000) < true
        model = MAPTreeClassifier(time_limit=None, encoder=SETS).fit(X, y)
        town = model.encoder_.schema_[0]
        assert model.certificate_.optimal
        assert (model.tree_.n_leaves, len(town.thresholds)) == (2, 1)
        low, high = model.predict_interval(X[::3000])[:, 1].T
        covered += ((low <= rates) & (rates <= high)).tolist()
    assert 0.9 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize(
    "options",
    [
        {"encoder": BinaryEncoder(None, category_sets=True), "split_prior": "columns"},
        {"encoder": SETS, "column_weights": {"town": 3}},
    ],
)
def test_a_model_and_its_file(table, tmp_path, options):
    X, y = table
    model = MAPTreeClassifier(time_limit=None, max_expansions=40, max_depth=4, **options).fit(X, y)
    assert any("town in" in rule for rule in model.rules())
    new = X.copy()
    new.loc[::3, "town"] = "Nowhere"
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.rules() == model.rules()
    assert (again.predict_proba(new) == model.predict_proba(new)).all()
    assert again.encoder_.schema_[0].unknown == model.encoder_.schema_[0].unknown
    module = {}
    exec(model.to_python(), module)
    rows = new.astype(object).where(new.notna(), None).to_dict("records")
    assert [module["leaf"](row) for row in rows] == model.apply(new).tolist()
    pipeline = model.to_sklearn()
    assert pipeline.predict_proba(new) == pytest.approx(model.predict_proba(new))
    described = [node for node in model.to_dict()["nodes"] if node.get("operator") == "not in"]
    assert all(isinstance(node["value"], list) for node in described)
    # A chain may start from the tree, of the same table or of the loaded model.
    for start in (model, again):
        chain = MCMCTreeClassifier(initial_tree=start, n_samples=1, n_chains=1, **options)
        assert chain.fit(X, y).tree_.n_leaves > 1


def test_an_initial_tree_with_other_sets_is_refused(table):
    X, y = table
    model = MAPTreeClassifier(time_limit=None, max_expansions=20, max_depth=3, encoder=SETS)
    model.fit(X, y)
    other = MCMCTreeClassifier(initial_tree=model, n_samples=1, n_chains=1, encoder=SETS)
    with pytest.raises(ValueError, match=r"initial_tree tests .* not among the tests"):
        other.fit(*towns(seed=5))


def test_the_certificate_is_about_these_sets(table):
    X, y = table
    options = {
        "encoder": BinaryEncoder(None, category_sets=True),
        "max_depth": 1,
        "time_limit": None,
    }
    model = MAPTreeClassifier(**options).fit(X, y)
    town, street, age = model.encoder_.schema_
    n_sets, n_others = len(town.thresholds), 1 + len(street.tests)
    over = (
        f"over all {len(age.thresholds)} thresholds of 1 column, these {n_sets} sets of categories"
    )
    assert f"{over} and {n_others} other tests" in certificate_sentences(model.fitted_)[0]


def test_a_sampler(table):
    X, y = table
    model = SMCTreeClassifier(n_particles=20, random_state=0, encoder=SETS).fit(X, y)
    assert model.encoder_.schema_[0].kind == "sets"
    assert model.predict_proba(X.assign(town="Nowhere")).shape == (len(X), 2)


def test_an_encoder_of_an_earlier_version_makes_no_sets(table):
    values = BinaryEncoder(category_sets=False).fit(*table).to_dict()
    assert values["parameters"].pop("category_sets") is False
    encoder = BinaryEncoder.from_dict(values)
    assert encoder.category_sets is False
    assert encoder.fit(*table).schema_[0].kind == "category"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unknown": 40}, r"columns\[0\].unknown is 40"),
        ({"unknown": -1}, r"columns\[0\].unknown is -1"),
        ({"unknown": "a"}, r"columns\[0\].unknown is 'a'"),
        ({"kind": "ordered"}, r"columns\[0\].unknown must be given for sets"),
        ({"unknown": None}, r"columns\[0\].unknown"),
        ({"categories": list(range(40))}, "must be text"),
        ({"thresholds": [39], "levels": [0]}, "not a position before the last"),
    ],
)
def test_json_is_checked(table, changes, message):
    encoder = BinaryEncoder(category_sets=True).fit(*table)
    values = encoder.to_dict()
    assert BinaryEncoder.from_dict(values).schema_ == encoder.schema_
    values["columns"][0] |= changes
    with pytest.raises(ValueError, match=message):
        BinaryEncoder.from_dict(values)
