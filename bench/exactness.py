"""Compare the samplers with posteriors enumerated by brute force: two tables.

    python bench/exactness.py

The problems and the oracle are those of the tests, which require a total variation below 0.02 and
an evidence within three standard errors.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from maptree import MCMCTreeClassifier, SMCTreeClassifier
from report import environment, facts, number, output, table, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # the oracle lives there
from tiny import TINY, estimated, exact, total_variation

SEED = 1
CHAINS = {"n_samples": 250_000, "n_chains": 4}
ISLANDS = {"n_particles": 8000, "n_islands": 40}

_CAPTION = (
    "Trees: all that are possible, their posterior computed by brute force in code that shares "
    "nothing with the library. Total variation: half the sum of the differences in probability, 0 "
    "to 1. Log evidence: log P(labels | table), the sum over all trees; estimated by SMC with its "
    "standard error."
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="output path without .json (bench/results/exactness)")
    out = output(parser.parse_args().out, "exactness")
    document: dict[str, Any] = {
        "environment": environment(),
        "settings": {"seed": SEED, "mcmc": CHAINS, "smc": ISLANDS},
        "rows": [measure(name) for name in TINY],
    }
    write(out, document, markdown(document))
    print(markdown(document))
    return 0


def measure(name: str) -> dict[str, Any]:
    """Fit both samplers to a problem; return their errors."""
    problem, (posterior, log_evidence) = TINY[name], exact(name)
    given = {
        "alpha": problem.alpha,
        "beta": problem.beta,
        "rho": problem.rho,
        "encoder": None,
        "random_state": SEED,
    }
    chains = MCMCTreeClassifier(**CHAINS, **given).fit(problem.X, problem.y)
    filters = SMCTreeClassifier(**ISLANDS, **given).fit(problem.X, problem.y)
    rows, columns = problem.X.tolist(), problem.X.T.tolist()
    return {
        "problem": name,
        "classes": problem.n_classes,
        "rows": len(rows),
        "distinct_rows": len(set(map(tuple, rows))),
        "columns": len(columns),
        "distinct_columns": len({max(tuple(c), tuple(1 - v for v in c)) for c in columns}),
        "trees": len(posterior),
        "mcmc_total_variation": total_variation(estimated(chains), posterior),
        "mcmc_ess": chains.diagnostics().ess,
        "mcmc_r_hat": chains.diagnostics().r_hat,
        "smc_total_variation": total_variation(estimated(filters), posterior),
        "log_evidence": log_evidence,
        "smc_log_evidence": filters.log_evidence_,
        "smc_standard_error": filters.log_evidence_error_,
    }


def markdown(document: dict[str, Any]) -> str:
    """Return the whole report."""
    rows, settings = document["rows"], document["settings"]
    mcmc, smc = settings["mcmc"], settings["smc"]
    parts = [
        "# The samplers against the enumerated posterior",
        facts(document["environment"]),
        f"{_CAPTION} Seed {settings['seed']}.",
        f"## MCMC: {mcmc['n_chains']} chains of {mcmc['n_samples']:,} samples",
        table(
            ["problem", "classes", "rows (distinct)", "columns (distinct)", "trees",
             "total variation", "R-hat", "effective size"],
            [
                [
                    *_problem(row),
                    number(row["mcmc_total_variation"]),
                    number(row["mcmc_r_hat"]),
                    number(row["mcmc_ess"], 0),
                ]
                for row in rows
            ],
        ),
        f"## SMC: {smc['n_islands']} islands of {smc['n_particles']:,} particles",
        table(
            ["problem", "classes", "rows (distinct)", "columns (distinct)", "trees",
             "total variation", "log evidence", "estimated", "standard error", "off by"],
            [
                [
                    *_problem(row),
                    number(row["smc_total_variation"]),
                    number(row["log_evidence"]),
                    number(row["smc_log_evidence"]),
                    number(row["smc_standard_error"], 5),
                    f"{_off(row):.1f} errors",
                ]
                for row in rows
            ],
        ),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _problem(row: dict[str, Any]) -> list[str]:
    return [
        row["problem"],
        str(row["classes"]),
        f"{row['rows']} ({row['distinct_rows']})",
        f"{row['columns']} ({row['distinct_columns']})",
        str(row["trees"]),
    ]


def _off(row: dict[str, Any]) -> float:
    return abs(row["smc_log_evidence"] - row["log_evidence"]) / float(row["smc_standard_error"])


if __name__ == "__main__":
    sys.exit(main())
