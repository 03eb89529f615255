"""The points that mutation testing finds, and the names that kept.toml calls them by."""

import subprocess
import tomllib
from pathlib import Path

import mutation_points

HERE = Path(__file__).parent

SOURCE = """
constexpr int cap = 64;
Cost Bounds::least(int a, bool open) const {
  assert(a > 0);
  if (open && a <= cap) return std::min(Cost(a + 1), below[0]);
  watch.poll(5);
  return base;
}
std::size_t Store::bytes() const { return 3 * n; }
"""


def test_each_place_is_changed_once() -> None:
    copy = mutation_points.Rewriter("core/a.cpp", SOURCE, 7).copy()
    changes = [point.key.removeprefix("core/a.cpp Bounds::least: ") for point in copy.points]
    assert changes == [
        "({open -> true} && a <= cap)",
        "(open && {a <= cap -> true})",
        "(open && a {<= -> <} cap)",
        "return {std::min(Cost(a + 1), below[0]) -> + 1 unit};",
        "return {std::min -> std::max}(Cost(a + 1), below[0]);",
        "return std::min(Cost(a {+ -> -} 1), below[0]);",
        "return std::min(Cost(a + {1 -> 2}), below[0]);",
        "return std::min(Cost(a + {1 -> 0}), below[0]);",
        "return std::min(Cost(a + 1), below[{0 -> 1}]);",
        "return {base -> + 1 unit};",
    ]
    assert [point.number for point in copy.points] == list(range(7, 17))
    assert copy.left_out == {
        "constant expression": 1,
        "assertion": 2,
        "work that is counted": 1,
        "memory that is counted": 1,
    }


def test_widths_of_bit_fields_are_understood() -> None:
    source = "struct Key {\n  unsigned limit : 24 = none;\n  unsigned busy : 1 = 0;\n};\n"
    copy = mutation_points.Rewriter("core/a.hpp", source, 0).copy()
    assert "limit : 24 = none;" in copy.text
    assert len(copy.points) == 1


def test_the_copy_is_the_source_while_no_mutant_is_on(tmp_path: Path) -> None:
    source = """
#include <algorithm>
int f(int a, int b) { return a < b && b - a > 1 ? std::max(a, 2 * b) : !b; }
int main() {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += f(i, 3) - 1;
  return sum;
}
"""

    def result(name: str, text: str, environment: dict[str, str]) -> int:
        (tmp_path / f"{name}.cpp").write_text(text)
        command = ["c++", "-std=c++20", f"-I{HERE}", f"{name}.cpp", "-o", name]
        if not (tmp_path / name).exists():
            subprocess.run(command, cwd=tmp_path, check=True)
        return subprocess.run([tmp_path / name], env=environment).returncode

    copy = mutation_points.Rewriter("a.cpp", source, 0).copy()
    right = result("source", source, {})
    assert result("copy", copy.text, {}) == right
    others = {result("copy", copy.text, {"MAPTREE_MUTANT": str(p.number)}) for p in copy.points}
    assert len(others) > 5


def test_what_is_kept_has_a_reason() -> None:
    entries = tomllib.loads((HERE / "kept.toml").read_text())["kept"]
    keys = [key for entry in entries for key in entry["mutants"]]
    assert len(keys) == len(set(keys))
    assert all(len(entry["reason"].split()) > 3 for entry in entries)
