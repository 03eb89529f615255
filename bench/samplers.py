"""Measure the samplers set by set: seconds and the best tree over several seeds; and the search.

    python bench/samplers.py --sets anneal kr-vs-kp --seeds 10

A benchmark, not a test: results depend on the machine and on its load. README.md in this folder
explains them.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sets
from maptree import MAPTreeClassifier, MCMCTreeClassifier, SMCTreeClassifier
from report import environment, facts, number, output, table, write

FIRST_SEED = 42
COSTS = 5e-4  # costs closer than this are equal

_CAPTION = (
    "Cost is the negative log posterior of the best tree that a run saw, at the default prior: "
    "best and mean over the seeds, with a bootstrapped 95% interval of the mean. Seconds are means "
    "over the seeds, of all of `fit`, on one thread. Published: the published Python samplers, "
    "1000 iterations and 300 particles, seed 42. Search: the cost that MAPTreeClassifier has after "
    "as many seconds (the best of 3 runs). Bold: the best run of the sampler beat the search."
)


@dataclass(frozen=True)
class Variant:
    """A sampler with its settings, and the published one to compare it with."""

    title: str
    model: Any
    published: str


def variants(iterations: int, particles: int) -> dict[str, Variant]:
    """Return the variants to measure."""

    def mcmc(n: int) -> Variant:
        model = MCMCTreeClassifier(n_samples=n, burn_in=0, thin=1, n_chains=1, initial_tree=None)
        return Variant(f"MCMC: one chain of {n:,} iterations", model, "published_mcmc")

    def smc(how: str, **params: Any) -> Variant:
        model = SMCTreeClassifier(n_particles=particles, **params)
        return Variant(f"SMC: {particles:,} particles, {how}", model, "published_smc")

    return {
        "mcmc": mcmc(iterations),
        "mcmc_ten_times": mcmc(10 * iterations),
        "smc": smc("optimal proposal, node by node"),
        "smc_level": smc("optimal proposal, level by level", growth="level"),
        "smc_prior": smc("prior proposal, node by node", proposal="prior"),
        "smc_islands": smc("prior proposal, 20 islands of them", proposal="prior", n_islands=20),
    }


def main() -> int:
    options = _read_options()
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {
            "seeds": options.seeds,
            "iterations": options.iterations,
            "particles": options.particles,
        },
        "sets": len(options.sets),
        "rows": [],
    }
    compared = variants(options.iterations, options.particles)
    for model in (MCMCTreeClassifier(), SMCTreeClassifier(), MAPTreeClassifier()):
        model.fit([[0], [1]] * 4, [0, 1] * 4)  # lazy imports happen now
    try:
        for name in options.sets:
            X, y = sets.load(name)
            anchor = sets.anchor(name, *X.shape) or {}
            row: dict[str, Any] = {"set": name, "rows": X.shape[0], "columns": X.shape[1]}
            for key, variant in compared.items():
                found = measure(variant.model, X, y, options.seeds)
                found["published"] = anchor.get(variant.published)
                found["search_cost"] = search(X, y, found["seconds"])
                row[key] = found
            row["best_known"] = anchor.get("best_known")
            document["rows"].append(row)
            write(options.out, document, markdown(document))
            print(f"{name}: {_progress(row)}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
    if document["rows"]:
        print(markdown(document))
        print(f"Written: {options.out}.json and .md", file=sys.stderr)
    return 0 if len(document["rows"]) == len(options.sets) else 130


def measure(model: Any, X: Any, y: Any, n_seeds: int) -> dict[str, Any]:
    """Fit with each seed; return seconds, and the costs of the best trees."""
    seconds, costs = [], []
    for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
        model.set_params(random_state=seed)
        started = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - started)
        costs.append(-model.log_posterior_)
    low, high = bootstrap(np.array(costs))
    return {
        "seconds": float(np.mean(seconds)),
        "best": min(costs),
        "mean": float(np.mean(costs)),
        "interval": [low, high],
        "costs": costs,
        "all_seconds": seconds,
    }


def bootstrap(values: NDArray[np.float64], n_draws: int = 10_000) -> tuple[float, float]:
    """Return the 95% interval of the mean by resampling the values.

    >>> bootstrap(np.array([3.0, 3.0, 3.0]))
    (3.0, 3.0)
    """
    draws = np.random.default_rng(0).choice(values, size=(n_draws, len(values)))
    low, high = np.quantile(draws.mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def search(X: Any, y: Any, seconds: float, n_runs: int = 3) -> float:
    """Return the lowest cost that the search reaches in this many seconds, in a few runs."""
    costs = []
    for _ in range(n_runs):
        model = MAPTreeClassifier(time_limit=seconds).fit(X, y)
        costs.append(-model.certificate_.log_posterior)
    return min(costs)


def markdown(document: dict[str, Any]) -> str:
    """Return the whole report."""
    settings, rows = document["settings"], document["rows"]
    unfinished = document["sets"] - len(rows)
    compared = variants(settings["iterations"], settings["particles"])
    parts = [
        "# The samplers",
        f"Not finished: {unfinished} of {document['sets']} sets are missing." if unfinished else "",
        facts(document["environment"]),
        f"{settings['seeds']} seeds, from {FIRST_SEED} on. {_CAPTION}",
    ]
    for key, variant in compared.items():
        found = [(row, row[key]) for row in rows]
        parts += [f"## {variant.title}", table(_HEADER, [_line(*one) for one in found])]
        parts.append("\n".join(f"- {line}" for line in counts(found)))
    return "\n\n".join(part for part in parts if part) + "\n"


_HEADER = (
    "set",
    "s",
    "best",
    "mean",
    "95% interval",
    "published s",
    "times as fast",
    "published cost",
    "search",
    "best known",
)


def _line(row: dict[str, Any], found: dict[str, Any]) -> list[str]:
    published = found["published"]
    low, high = found["interval"]
    best = number(found["best"], 2)
    return [
        row["set"],
        number(found["seconds"], 4),
        f"**{best}**" if ahead(found) else best,
        number(found["mean"], 2),
        f"{low:.2f} to {high:.2f}",
        number(published and published["seconds"], 0),
        number(published and published["seconds"] / found["seconds"], 0),
        number(published and published["cost"], 1),
        number(found["search_cost"], 2),
        number(row["best_known"], 2),
    ]


def ahead(found: dict[str, Any]) -> bool:
    """Return whether the best run of a sampler beat the search of the same length."""
    return bool(found["best"] < found["search_cost"] - COSTS)


def counts(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[str]:
    """Return the conclusions of a table."""
    lines = []
    known = [(row["set"], one) for row, one in found if one["published"]]
    if known:
        least = min(one["published"]["seconds"] / one["seconds"] for _, one in known)
        lines.append(f"At least {least:,.0f} times as fast as published.")
        for what in ("best", "mean"):
            # Published costs have one decimal.
            worse = [name for name, one in known if one[what] > one["published"]["cost"] + 0.05]
            lines.append(
                f"The {what} cost is at most the published one on {len(known) - len(worse)} of "
                f"{len(known)} sets" + (f", not on {', '.join(worse)}." if worse else ".")
            )
    won = [row["set"] for row, one in found if ahead(one)]
    lines.append(
        f"Better than the search on {len(won)} sets" + (f": {', '.join(won)}." if won else ".")
    )
    return lines


def _progress(row: dict[str, Any]) -> str:
    keys = [key for key in row if key.startswith(("mcmc", "smc"))]
    return ", ".join(f"{key} {row[key]['mean']:.2f} in {row[key]['seconds']:.4f} s" for key in keys)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", help="sets to measure (all that are found)"
    )
    parser.add_argument("--seeds", type=int, default=10, help="from 42 on (10)")
    parser.add_argument(
        "--iterations", type=int, default=1000, help="iterations of the chain (1000)"
    )
    parser.add_argument("--particles", type=int, default=300, help="particles of the island (300)")
    parser.add_argument("--out", help="output path without .json (bench/results/samplers)")
    options = parser.parse_args()
    options.out = output(options.out, "samplers")
    try:
        if min(options.seeds, options.iterations, options.particles) <= 0:
            raise ValueError("--seeds, --iterations and --particles must be above 0")
        options.sets = sets.choose(options.sets)
    except ValueError as error:
        parser.error(str(error))
    return options


if __name__ == "__main__":
    sys.exit(main())
