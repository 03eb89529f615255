"""Scores of numbers and counts on held-out rows, from JSON values."""

from __future__ import annotations

from maptree.files.json_values import fields, items, number, text, whole
from maptree.trees.measured_scores import Estimate, MeasuredBaseline, MeasuredScores

_COUNT = 2**62


def read_measured_scores(value: object, where: str) -> MeasuredScores | None:
    """Return what ``asdict`` made of scores, checked."""
    if value is None:
        return None
    given = fields(value, where, list(MeasuredScores.__dataclass_fields__))
    log_score = given["log_score"]
    return MeasuredScores(
        rows=whole(given["rows"], f"{where}.rows", 1, _COUNT),
        rmse=_read_estimate(given["rmse"], f"{where}.rmse", least=0.0),
        r2=None if given["r2"] is None else _read_estimate(given["r2"], f"{where}.r2", most=1.0),
        log_score=None if log_score is None else _read_estimate(log_score, f"{where}.log_score"),
        level=number(given["level"], f"{where}.level", 0.0, 1.0),
        cover=_read_estimate(given["cover"], f"{where}.cover", 0.0, 1.0),
        width=number(given["width"], f"{where}.width", least=0.0),
        method=text(given["method"], f"{where}.method"),
        baselines=tuple(
            _read_baseline(baseline, f"{where}.baselines[{i}]")
            for i, baseline in enumerate(items(given["baselines"], f"{where}.baselines"))
        ),
    )


def _read_estimate(
    value: object, where: str, least: float = float("-inf"), most: float = float("inf")
) -> Estimate:
    given = fields(value, where, list(Estimate.__dataclass_fields__))
    error = given["error"]
    return Estimate(
        number(given["value"], f"{where}.value", least, most),
        None if error is None else number(error, f"{where}.error", least=0.0),
    )


def _read_baseline(value: object, where: str) -> MeasuredBaseline:
    given = fields(value, where, list(MeasuredBaseline.__dataclass_fields__))
    r2, log_score = given["r2"], given["log_score"]
    return MeasuredBaseline(
        name=text(given["name"], f"{where}.name"),
        rmse=number(given["rmse"], f"{where}.rmse", least=0.0),
        r2=None if r2 is None else number(r2, f"{where}.r2", most=1.0),
        log_score=None if log_score is None else number(log_score, f"{where}.log_score"),
    )
