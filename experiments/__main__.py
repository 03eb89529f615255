"""Run the paper's experiments, draw its figures, write the report.

    python -m experiments run --family speed --budget quick
    python -m experiments figures
    python -m experiments report

A run computes only missing rows, and stores each row as soon as it is complete: stop it in any way,
start it again, and it continues.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from experiments.budgets import BUDGETS
from experiments.cells import Cell
from experiments.data import available
from experiments.families import FAMILIES, cells
from experiments.progress import Watch
from experiments.results import select
from experiments.run import missing, run, summary
from experiments.settings import CART_4
from experiments.store import DamagedError, Store
from experiments.systems import MODULES, load
from maptree.datasets import CP4IM_SETS, DatasetNotFoundError, load_cp4im


def main() -> int:
    """Do what the command line says."""
    options = _read_options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # handle it like Ctrl-C
    at = options.results / "results.sqlite"
    if options.command is not _run and not at.exists():
        print(f"There is no {at}: run `python -m experiments run` first.", file=sys.stderr)
        return 1
    try:
        options.results.mkdir(parents=True, exist_ok=True)
        store = Store(at)
    except (OSError, sqlite3.Error, ValueError) as error:
        print(f"Cannot store results in {options.results}: {error}", file=sys.stderr)
        return 1
    with store:
        try:
            status: int = options.command(options, store)
        except DamagedError as error:
            print(error, file=sys.stderr)
            return 1
    return status


def _run(options: argparse.Namespace, store: Store) -> int:
    families = FAMILIES if options.family == "all" else (options.family,)
    try:
        sets = [] if families == ("synthetic",) else _sets(options.sets)
    except DatasetNotFoundError as error:
        print(f"Not run: {error}", file=sys.stderr)
        return 1
    wanted = [cell for family in families for cell in cells(family, options.budget, sets)]
    if options.systems is not None:
        try:
            wanted = _of_systems(wanted, options.systems)
        except ImportError as error:
            print(f"Not run: --systems {' '.join(options.systems)}: {error}", file=sys.stderr)
            return 1
    if not wanted:
        print("Not run: no cell matches this family, set and system.", file=sys.stderr)
        return 1
    left = missing(wanted, store, options.retry)
    keys = {cell.key for cell in wanted}
    print(f"{len(keys)} cells, {len(keys) - len(left)} already done", file=sys.stderr)
    try:
        _compute(left, options, store)
    except (OSError, ValueError, sqlite3.Error) as error:
        print(f"Not run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. Finished cells are stored; run again to continue.", file=sys.stderr)
        return 130
    finally:
        print(summary([row for row in store.load() if row["key"] in keys]))
    return 0


def _of_systems(wanted: list[Cell], names: list[str]) -> list[Cell]:
    """Return the cells of these systems; one of your own gets those of CART 4, without parameters.

    Raises ImportError if there is no module of that name.
    """
    found = [cell for cell in wanted if cell.system in names]
    for name in names:
        if name not in MODULES:
            load(name)
            like = [cell for cell in wanted if CART_4.is_of(vars(cell))]
            found += [replace(cell, system=name, params={}) for cell in like]
    return found


def _sets(asked: list[str] | None) -> list[str]:
    """Return the sets to run on. They are downloaded here, once, not by every process.

    Sets given by name must exist; by default it is all that are found.
    """
    if asked is not None:
        for name in asked:
            load_cp4im(name)
        return asked
    present, absent = available()
    if absent:
        print(f"Without {', '.join(absent)}. {next(iter(absent.values()))}", file=sys.stderr)
    return present


def _compute(left: list[Cell], options: argparse.Namespace, store: Store) -> None:
    if not left:
        return
    if options.dask is None:
        from experiments.local import rows_from_here

        with Watch(left, options.jobs) as watch:
            run(left, store, lambda todo: rows_from_here(todo, options.jobs), watch.row)
        return

    from distributed import Client

    from experiments.cluster import check_workers, quiet_dask, rows_from_cluster

    quiet_dask()
    with Client(options.dask, timeout=10) as client:
        workers = check_workers(client)
        print(f"{workers} workers at {options.dask}", file=sys.stderr)
        with Watch(left, workers) as watch:
            run(left, store, lambda todo: rows_from_cluster(todo, client), watch.row)


def _figures(options: argparse.Namespace, store: Store) -> int:
    from experiments.figures import draw

    return _write(draw, options, store)


def _report(options: argparse.Namespace, store: Store) -> int:
    from experiments.report import write

    return _write(write, options, store)


def _write(how: Callable[..., list[Path]], options: argparse.Namespace, store: Store) -> int:
    rows = store.load()
    if not any(select(rows, options.budget, options.sets).families.values()):
        print(
            f"Nothing to show: of {len(rows)} rows in {options.results} none is of the budget "
            f"{options.budget}{' on these sets' if options.sets else ''}.",
            file=sys.stderr,
        )
        return 1
    for file in how(rows, options.results, options.budget, options.sets):
        print(f"Written: {file}", file=sys.stderr)
    return 0


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="run | figures | report")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--results",
        type=Path,
        default=Path("build/paper"),
        metavar="DIR",
        help="folder of results.sqlite, figures/ and report.md (build/paper)",
    )
    common.add_argument(
        "--budget",
        choices=BUDGETS,
        default="quick",
        help="quick: half an hour on two cores; minute: the same with 60 s per run in the speed "
        "family; full: the paper's own, several days (quick)",
    )
    common.add_argument(
        "--sets",
        nargs="+",
        metavar="NAME",
        choices=[known.name for known in CP4IM_SETS],
        help="only these sets (all that are found)",
    )

    runs = commands.add_parser("run", parents=[common], help="compute the rows that are missing")
    runs.set_defaults(command=_run)
    runs.add_argument(
        "--family", choices=("all", *FAMILIES), default="all", help="which experiment (all)"
    )
    runs.add_argument(
        "--systems",
        nargs="+",
        metavar="NAME",
        help=f"only these systems, of {', '.join(MODULES)}, or a module of your own "
        "(experiments/README.md)",
    )
    runs.add_argument(
        "--jobs",
        type=int,
        default=_cores(),
        metavar="N",
        help="number of cells to compute at a time (all cores)",
    )
    runs.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="compute on the Dask cluster with this scheduler, such as tcp://10.0.0.1:8786",
    )
    runs.add_argument("--retry", action="store_true", help="recompute timeouts, crashes and errors")

    commands.add_parser(
        "figures", parents=[common], help="draw all figures for which there are enough rows"
    ).set_defaults(command=_figures)
    commands.add_parser(
        "report", parents=[common], help="write report.md from the rows"
    ).set_defaults(command=_report)
    options = parser.parse_args()
    if getattr(options, "jobs", 1) < 1:
        parser.error(f"--jobs {options.jobs}: pass a number of at least 1")
    return options


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
