"""Draw docs/design/architecture.svg from the code: `python docs/design/draw_architecture.py`.

The rooms of the package and what each imports come from its import statements (grimp), those of the
core from CMakeLists.txt, whose libraries cannot include anything else. tests/test_architecture.py
reads the same and says when the picture is not of the code any more.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
PICTURE = Path(__file__).with_name("architecture.svg")

# Where each room stands: across, and down. A room may use only those that stand lower.
Places = dict[str, tuple[float, int]]
PYTHON: Places = {
    "cli": (0, 0),
    "estimators": (0, 1),
    "datasets": (5, 1),
    "export": (1, 2),
    "pictures": (3.2, 2),
    "engine": (-1.2, 3),
    "encoding": (1.2, 3),
    "model_file": (-3.6, 4),
    "words": (0, 4),
    "trees": (0, 5),
    "schema": (0, 6),
    "tables": (-0.6, 7),
    "parameters": (-0.6, 8),
    "files": (2.4, 8),
}
CORE: Places = {
    "search": (-1.2, 0),
    "rivals": (1.6, 0),
    "sample": (4.6, 0),
    "paper": (-3.6, 1),
    "prove": (-1.2, 1),
    "improve": (1.2, 1),
    "scan": (-1.2, 2),
    "model": (1, 3),
    "data": (1, 4),
    "control": (-0.2, 5),
    "memory": (2.2, 5),
}

Edges = dict[str, list[str]]


def python_rooms() -> Edges:
    """Return the folders of the package, and those that each imports when it runs."""
    graph = grimp.build_graph("maptree", exclude_type_checking_imports=True, cache_dir=None)
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        room = _room(module)
        imported = {_room(other) for other in graph.find_modules_directly_imported_by(module)}
        found.setdefault(room, set()).update(imported - {room, ""})
    found.pop("")
    return {room: sorted(uses) for room, uses in sorted(found.items())}


def _room(module: str) -> str:
    """Return the folder of a module; empty for the few that are in none."""
    parts = module.split(".")
    inside = len(parts) > 1 and (ROOT / "src" / "maptree" / parts[1]).is_dir()
    return parts[1] if inside else ""


def core_rooms() -> Edges:
    """Return the libraries of the core, and those that each is declared to use."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    declared = re.findall(r"^add_room\((\w+)(?: USES ([\w ]+))?\)", text, re.M)
    return {room: sorted(uses.split()) for room, uses in declared}


def read_code() -> dict[str, Edges]:
    """Return all that the picture shows."""
    return {"python": python_rooms(), "core": core_rooms()}


def drawn() -> dict[str, Edges]:
    """Return what the picture was drawn from."""
    found = re.search(r"<dc:description>(.*?)</dc:description>", PICTURE.read_text(), re.S)
    assert found is not None
    rooms: dict[str, Edges] = json.loads(found[1].replace("&quot;", '"'))
    return rooms


def _shortest(edges: Edges) -> set[tuple[str, str]]:
    """Leave out what follows from the others: a room reaches it through one that is drawn."""

    def reached(room: str) -> set[str]:
        return {far for near in edges[room] for far in {near, *reached(near)}}

    return {
        (room, near)
        for room, uses in edges.items()
        for near in uses
        if not any(near in reached(other) for other in uses if other != near)
    }


def draw() -> None:
    """Write the picture."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.patches import FancyBboxPatch

    mpl.rcParams |= {"svg.hashsalt": "maptree", "svg.fonttype": "none", "font.family": "sans-serif"}

    def column(ax: Axes, places: Places, edges: Edges, folder: str) -> None:
        place = {room: (x, -1.25 * row) for room, (x, row) in places.items()}
        for room, near in sorted(_shortest(edges)):
            (x, y), (to_x, to_y) = place[room], place[near]
            ends = (to_x, to_y + 0.36), (x, y - 0.36)
            ax.annotate("", *ends, arrowprops={"arrowstyle": "-|>", "color": "#777777", "lw": 1})
        for room, (x, y) in place.items():
            corner, style = (x - 0.95, y - 0.3), "round,pad=0.03"
            box = FancyBboxPatch(corner, 1.9, 0.6, boxstyle=style, fc="#eef4fa", ec="#0072B2")
            ax.add_patch(box)
            ax.text(x, y, room, ha="center", va="center", weight="bold", size=10)
        xs = [x for x, _ in place.values()]
        ax.set(xlim=(min(xs) - 1.1, max(xs) + 1.1), ylim=(-10.5, 0.5), aspect="equal", anchor="N")
        ax.set_title(f"{folder}/", size=12, weight="bold")
        ax.axis("off")

    rooms = read_code()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 6.6), layout="constrained")
    column(left, PYTHON, rooms["python"], "src/maptree")
    column(right, CORE, rooms["core"], "core")
    note = "An arrow: uses. What follows from other arrows is left out."
    figure.text(0.99, 0.01, note, ha="right", size=9, color="#555555")
    figure.savefig(PICTURE, metadata={"Date": None, "Description": json.dumps(rooms)})


if __name__ == "__main__":
    draw()
