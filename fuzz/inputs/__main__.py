"""Fuzz one target with libFuzzer; ``make fuzz-inputs`` does.

    python -m fuzz.inputs model_bytes -max_total_time=60
    python -m fuzz.inputs model_bytes -set_cover_merge=1 fuzz/corpus/model_bytes build/corpus/...

Contents that reach something new are written to build/corpus, one that fails to build/failed-...
The second command adds to fuzz/corpus those that it needs to reach all that the others reach.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import atheris

from fuzz.inputs import CORPUS, TARGETS, target
from fuzz.inputs.other_core import use_other_core


def main(arguments: list[str]) -> None:
    """Run libFuzzer on a target."""
    if not arguments or arguments[0] not in TARGETS:
        sys.exit(f"usage: python -m fuzz.inputs {'|'.join(TARGETS)} [options of libFuzzer]")
    name, *options = arguments
    use_other_core()
    import_module("maptree._core")
    # Atheris instruments what Python's own finder finds, not that of an editable installation.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
    sys.path.insert(0, "src")
    # No package at all would mean every package.
    with atheris.instrument_imports(include=TARGETS[name] or ["no such package"]):
        for package in TARGETS[name]:
            for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
                import_module(module.name)
        tried = target(name)
    if all(option.startswith("-") for option in options):
        new = Path("build/corpus", name)
        new.mkdir(parents=True, exist_ok=True)
        options += [str(new), str(CORPUS / name)]
    given = [
        f"-max_len={tried.MOST_BYTES}",
        f"-artifact_prefix=build/failed-{name}-",
        "-timeout=300",
    ]
    mutate = getattr(tried, "mutate", None)
    more: dict[str, Any] = {}
    if mutate is not None:

        def mutator(content: bytes, most: int, seed: int) -> bytes:
            changed = mutate(content, seed) if seed % 4 else None
            if changed is None or len(changed) > most:
                changed = atheris.Mutate(content, most)
            return changed

        more["custom_mutator"] = mutator
    # libFuzzer starts itself again to merge.
    again = f"{sys.executable} -m fuzz.inputs {name}"
    atheris.Setup([again, *given, *options], tried.try_input, **more)
    atheris.Fuzz()


main(sys.argv[1:])
