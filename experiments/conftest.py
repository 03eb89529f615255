"""For pytest, which looks for examples in every module: these need packages that are not here."""

from __future__ import annotations

from experiments.systems import MODULES, OF_PEERS

collect_ignore = [f"systems/{MODULES[system]}.py" for system in OF_PEERS]
