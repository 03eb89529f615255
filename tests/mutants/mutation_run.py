"""Mutation testing of what a certificate rests on: costs, bounds, expansions, proofs, row sets.

Mutated are `core/model`, `core/scan`, `core/prove`, and of `core/data` the keys and the ordered
columns.

    python tests/mutants/mutation_run.py [--only REGEX] [--again] [--sample N] [--jobs N] [--kept]

Each change of mutation_points.py is tried against the C++ tests that reach it, the most promising
first, and against random problems with brute force. A mutant that no test notices must be in
kept.toml, with the reason why it cannot give a wrong certificate; any other fails the run. A mutant
that makes a test crash or hang, or reach beyond an array, is noticed. Those in kept.toml take every
test that reaches them, most of the time of all, and are tried only when asked for.
"""

import argparse
import hashlib
import json
import math
import os
import re
import resource
import selectors
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mutation_points import Point, Rewriter, files

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "mutants"
BUILT = WORK / "build" / "core_test"
# What subproblems are recognised by, and what thresholds are.
OF_DATA = {
    Path("core/data") / f"{name}.{kind}"
    for name in ("blake2b", "keyed_hash", "ordered_columns", "row_keys")
    for kind in ("cpp", "hpp")
}
# Tests that say nothing of certificates.
WITHOUT = (
    "data/[!kor]*.cpp",
    "data/route.cpp",
    "improve/*.cpp",
    "sample/[!t]*.cpp",
    "search/memory.cpp",
    "search/limits.cpp",
)
WITHOUT_NAMES = {
    "a_memory_limit_is_kept",
    "expansions_are_counted_to_the_last",
    "polls_keep_their_distance",
    "threads_that_collect_keep_to_the_time",
    "mutants_as_planned",
    # It notices every change of the order of the search, right or wrong.
    "the_signature_is_as_pinned",
}

# Functions that only say which of several things is proved next, how far, or how long to wait.
ORDER = re.compile(
    r" (rest_a_little|Proof::note|Proof::forecast|Prover::next_goal|Schedule::choose|"
    r"Schedule::out_of_sight|scoring_work): "
)


@dataclass(frozen=True)
class Test:
    name: str
    seconds: float  # of the processor, with no mutant on
    reached: frozenset[int]


@dataclass
class Made:
    points: list[Point] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is as it should be: what was compiled of it stays."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_copy() -> Made:
    made = Made()
    source = WORK / "source"
    mutated = {path.relative_to(ROOT) for path in files(ROOT / "core")} | OF_DATA
    wanted = {Path("CMakeLists.txt")}
    wanted |= {p.relative_to(ROOT) for p in (ROOT / "fuzz").glob("*.[ch]pp")}
    for folder in ("core", "cmake", "tests/core", "tests/traces"):
        wanted |= {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file()}
    for pattern in WITHOUT:
        wanted -= {p.relative_to(ROOT) for p in (ROOT / "tests/core").glob(pattern)}
    for name in sorted(wanted):
        text = (ROOT / name).read_text()
        if name in mutated:
            copy = Rewriter(str(name), text, len(made.points)).copy()
            made.points += copy.points
            made.left_out += copy.left_out
            text = copy.text
        if name == Path("tests/core/check.hpp"):  # the first failure is enough
            text = text.replace(
                "if (++failures",
                'if (std::getenv("MAPTREE_MUTANT")) std::_Exit(1);\n  if (++failures',
            )
            text = text.replace("#include <exception>", "#include <cstdlib>\n#include <exception>")
        write(source / name, text)
    for name, place in (("mutants.hpp", "core"), ("driver.cpp", "tests/core/search")):
        write(source / place / name, (HERE / name).read_text())
        wanted.add(Path(place) / name)
    for path in source.rglob("*"):
        if path.is_file() and path.relative_to(source) not in wanted:
            path.unlink()
    order = [point for point in made.points if ORDER.search(point.key)]
    made.points = [point for point in made.points if not ORDER.search(point.key)]
    made.left_out["order of the work"] += len(order)
    return made


def build(jobs: int) -> None:
    binaries = Path(sys.executable).parent
    # Indexes are checked, as sanitizers do where no mutant is on.
    checks = "-D_GLIBCXX_ASSERTIONS -fsanitize=bounds-strict -fsanitize-undefined-trap-on-error"
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"]
    flags += [f"-DCMAKE_CXX_FLAGS=-w {checks}"]
    flags += [f"-DCMAKE_MAKE_PROGRAM={binaries / 'ninja'}"]
    flags += ["-DMAPTREE_PYTHON=OFF", "-DMAPTREE_TESTS=ON"]
    commands = [
        [binaries / "cmake", "-S", WORK / "source", "-B", WORK / "build", "-G", "Ninja", *flags],
        [binaries / "cmake", "--build", WORK / "build", "--target", "core_test", "-j", str(jobs)],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)


def run_alone(name: str, reached: Path) -> float:
    """The seconds of the processor that a test takes with no mutant on; notes what it reaches."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"MAPTREE_MUTANTS_REACHED": str(reached)}
    command = [BUILT, WORK / "source/tests/traces", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} fails with no mutant on\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_tests() -> list[Test]:
    """With no mutant on: all pass, and tell which points they reach."""
    stamp = hashlib.sha256(BUILT.read_bytes()).hexdigest()
    kept = WORK / "tests.json"
    if kept.exists():
        known = json.loads(kept.read_text())
        if known["stamp"] == stamp:
            return [Test(n, s, frozenset(r)) for n, s, r in known["tests"]]
    tests = []
    for path in sorted((WORK / "source/tests/core").rglob("*.cpp")):
        for name in re.findall(r"^TEST\((\w+)\)", path.read_text(), re.MULTILINE):
            if name in WITHOUT_NAMES:
                continue
            place = WORK / "reached.txt"
            seconds = run_alone(name, place)
            tests.append(Test(name, seconds, frozenset(map(int, place.read_text().split()))))
    tests.sort(key=lambda test: test.seconds)
    kept.write_text(
        json.dumps(
            {"stamp": stamp, "tests": [[t.name, t.seconds, sorted(t.reached)] for t in tests]}
        )
    )
    return tests


def run_mutants(
    points: Sequence[Point], tests: Sequence[Test], jobs: int
) -> Iterator[tuple[Point, str]]:
    """Points, and for each the test that notices; "" if none does, "-" if none reaches it."""
    queue = []
    for point in points:
        able = [str(n) for n, test in enumerate(tests) if point.number in test.reached]
        if able:
            queue.append((point, able))
        else:
            yield point, "-"
    by_number = {point.number: point for point, _ in queue}
    drivers = []
    for job in range(jobs):
        # Every driver has places of its own: a test that noticed one mutant notices the next.
        share = queue[len(queue) * job // jobs : len(queue) * (job + 1) // jobs]
        plan = WORK / f"plan-{job}.txt"
        lines = [f"{test.name} {test.seconds:.3f}" for test in tests] + [""]
        lines += [" ".join([str(point.number), *able]) for point, able in share]
        plan.write_text("\n".join(lines) + "\n")
        drivers.append(
            subprocess.Popen(
                [BUILT, WORK / "source/tests/traces", "mutants_as_planned"],
                env=os.environ | {"MAPTREE_MUTANTS_PLAN": str(plan)},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    with selectors.DefaultSelector() as selector:
        for driver in drivers:
            assert driver.stdout is not None
            selector.register(driver.stdout, selectors.EVENT_READ, driver.stdout)
        while selector.get_map():
            for key, _ in selector.select():
                line = key.data.readline()
                words = line.split()
                if not line:
                    selector.unregister(key.fileobj)
                elif words[:1] == ["mutant"]:  # tests have lines of their own
                    yield by_number.pop(int(words[1])), words[2].replace("-", "")
    if any(driver.wait() != 0 for driver in drivers) or by_number:
        sys.exit(f"a driver failed, with {len(by_number)} mutants left")


def read_kept(points: Sequence[Point]) -> tuple[dict[str, str], list[str]]:
    """Reasons by key, and keys that name no mutant."""
    reasons = {}
    for entry in tomllib.loads((HERE / "kept.toml").read_text()).get("kept", []):
        for key in entry["mutants"]:
            reasons[key] = entry["reason"]
    return reasons, sorted(reasons.keys() - {point.key for point in points})


def chosen(points: list[Point], arguments: argparse.Namespace) -> list[Point]:
    if arguments.only:
        points = [point for point in points if re.search(arguments.only, point.key)]
    if arguments.sample:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).stdout

        def rank(point: Point) -> bytes:
            return hashlib.sha256(commit + point.key.encode()).digest()

        points = sorted(points, key=rank)[: arguments.sample]
    return points


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sample", type=int, help="so many mutants, others for every commit")
    parser.add_argument("--only", help="mutants whose key matches this")
    parser.add_argument(
        "--again", action="store_true", help="only those that survived the last run"
    )
    parser.add_argument("--kept", action="store_true", help="those of kept.toml, too")
    parser.add_argument(
        "--most", type=float, default=math.inf, help="only tests of so many seconds"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()

    start = time.monotonic()
    made = make_copy()
    build(arguments.jobs)
    tests = [test for test in measure_tests() if test.seconds <= arguments.most]
    total = sum(test.seconds for test in tests)
    print(f"{len(made.points)} mutants, {len(tests)} tests of {total:.0f} s")
    for reason, n in made.left_out.items():
        print(f"  left out: {n} {reason}")
    results_file = WORK / "results.json"
    results: dict[str, str] = json.loads(results_file.read_text()) if results_file.exists() else {}
    points = chosen(made.points, arguments)
    if arguments.again:
        points = [point for point in points if results.get(point.key, "") in ("", "-")]
    reasons, stale = read_kept(made.points)
    kept = Counter(reasons[point.key] for point in points if point.key in reasons)
    if not arguments.kept:
        points = [point for point in points if point.key not in reasons]
    found: Counter[str] = Counter()
    wrong = []
    for n, (point, killer) in enumerate(run_mutants(points, tests, arguments.jobs), 1):
        results[point.key] = killer
        state = {"": "survived", "-": "never reached"}.get(killer, "caught")
        found[state] += 1
        survives = state in ("survived", "never reached")
        if survives and point.key not in reasons:
            wrong.append(point)
            print(f"{state}: {point.key} (line {point.line})")
        elif not survives and point.key in reasons:
            print(f"in kept.toml, but caught by {killer}: {point.key}")
        if n % 50 == 0:
            results_file.write_text(json.dumps(results, indent=0))
            print(f"{n} of {len(points)}, {time.monotonic() - start:.0f} s", flush=True)
    results_file.write_text(json.dumps(results, indent=0))
    for key in stale:
        print(f"in kept.toml, but there is no such mutant: {key}")
    for reason, n in kept.items():
        print(f"kept: {n} {reason}")
    print(f"{len(points)} tried: " + ", ".join(f"{n} {state}" for state, n in found.items()))
    print(f"{len(wrong)} survive that kept.toml does not name; {time.monotonic() - start:.0f} s")
    return 1 if wrong or stale else 0


if __name__ == "__main__":
    sys.exit(main())
