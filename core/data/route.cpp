#include "data/route.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace maptree {

namespace {

// Rows that go down the tree together: few enough that what the tests read of a wide matrix stays
// in the cache, many enough that a look at every node costs nothing to speak of.
#if defined(MAPTREE_SMALL_BLOCKS)
constexpr std::size_t block = 16;
#else
constexpr std::size_t block = 4096;
#endif
using BlockRow = std::uint16_t;  // counted from the block's first row

// Rows of the false branch move to the front, the others behind them; returns how many there are of
// the former.
template <class Answer>
std::size_t part(std::span<BlockRow> rows, BlockRow* aside, const Answer& answer) {
  std::size_t n_no = 0, n_yes = 0;
  for (const BlockRow row : rows) {
    const bool yes = answer(row);
    rows[n_no] = row;  // overwritten by the next if it does not belong here
    aside[n_yes] = row;
    n_no += !yes;
    n_yes += yes;
  }
  std::copy(aside, aside + n_yes, rows.data() + n_no);
  return n_no;
}

template <class T>
std::size_t part(const TestOf<T>& test, std::size_t first, std::span<BlockRow> rows,
                 BlockRow* aside) {
  const auto start = static_cast<std::int64_t>(first);
  const T* values = test.values + start * test.stride;
  const auto part_by = [&](const auto& answer) {
    if (test.missing == nullptr)
      return part(rows, aside, [&](BlockRow row) { return answer(values[row * test.stride]); });
    const std::uint8_t* missing = test.missing + start * test.missing_stride;
    return part(rows, aside, [&](BlockRow row) {
      return answer(values[row * test.stride]) & (missing[row * test.missing_stride] == 0);
    });
  };
  const T bound = test.bound;
  switch (test.asks) {
    case Asks::at_most:
      return part_by([bound](T value) { return value <= bound; });
    case Asks::equals:
      return part_by([bound](T value) { return value == bound; });
    case Asks::is_nan:
      if constexpr (std::is_floating_point_v<T>)
        return part_by([](T value) { return value != value; });
  }
  return rows.size();
}

void refuse_no_tree(const Branches& tree, std::size_t n_tests) {
  const std::size_t n = tree.test.size();
  bool good = n > 0 && tree.no.size() == n && tree.yes.size() == n;
  std::vector<char> reached(n, 0);
  for (std::size_t node = 0; good && node < n; ++node) {
    if (tree.test[node] < 0) continue;
    good = static_cast<std::size_t>(tree.test[node]) < n_tests;
    for (const std::int32_t child : {tree.no[node], tree.yes[node]}) {
      const auto at = static_cast<std::size_t>(child);
      good = good && child >= 0 && at > node && at < n && !reached[at];
      if (good) reached[at] = 1;
    }
  }
  if (!good) throw std::invalid_argument("the branches are no tree over these tests");
}

}  // namespace

void route(const Branches& tree, std::span<const ColumnTest> tests,
           std::span<std::int64_t> leaf_of_row) {
  refuse_no_tree(tree, tests.size());
  BlockRow buffer[block], aside[block];
  std::vector<std::span<BlockRow>> at(tree.test.size());  // the rows of the block at each node
  for (std::size_t first = 0; first < leaf_of_row.size(); first += block) {
    at[0] = std::span(buffer).first(std::min(block, leaf_of_row.size() - first));
    std::iota(at[0].begin(), at[0].end(), BlockRow{0});
    for (std::size_t node = 0; node < at.size(); ++node) {
      const std::span<BlockRow> rows = at[node];
      if (tree.test[node] < 0) {
        for (const BlockRow row : rows) leaf_of_row[first + row] = static_cast<std::int64_t>(node);
        continue;
      }
      const std::size_t n_no = std::visit(
          [&](const auto& test) { return part(test, first, rows, aside); }, tests[tree.test[node]]);
      at[tree.no[node]] = rows.first(n_no);
      at[tree.yes[node]] = rows.subspan(n_no);
    }
  }
}

}  // namespace maptree
