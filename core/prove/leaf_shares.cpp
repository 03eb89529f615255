#include "prove/leaf_shares.hpp"

#include <algorithm>

namespace maptree {

bool share_leaves(Expansion& found, std::uint32_t leaves, std::uint32_t limit, std::size_t depth,
                  Cost upper, TestCosts test_costs, Watch& watch) {
  // The tree found has a leaf or two on a side, whatever else that side may have.
  if (found.best != no_column) found.best_share = found.best_below[0] == no_column ? 1 : 2;
  // More leaves than the depth allows are of no use to a side: the other gets them.
  const auto most = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(leaves - 1, most_leaves(limit, depth + 1)));
  const std::uint32_t first = leaves - most, last = most;
  if (found.best != no_column) upper = std::min(upper, found.best_cost);
  const std::size_t n = found.splits.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (watch.poll(10 * (last - first + 1))) return false;
    const SplitBounds whole = found.splits[i];
    const auto with_share = [&](std::uint32_t share) {
      SplitBounds split = whole;
      split.share = share & (std::uint32_t{most_limited_leaves} - 1);
      split.lower[0] = whole.lower_of(0, share);
      split.lower[1] = whole.lower_of(1, leaves - share);
      return split;
    };
    if (whole.share != 0) {
      found.splits[i] = with_share(whole.share);
      continue;
    }
    found.splits[i] = with_share(first);
    const Cost base = found.base + test_costs.least(whole.column, whole.last());
    for (std::uint32_t share = first + 1; share <= last; ++share) {
      const SplitBounds split = with_share(share);
      if (base + split.lower[0] + split.lower[1] < upper) found.splits.push_back(split);
    }
  }
  return true;
}

}  // namespace maptree
