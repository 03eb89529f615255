#include "scan/expand.hpp"

#include <algorithm>
#include <cassert>

namespace maptree {

Expander::Expander(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
                   const Options& options)
    : posterior_(posterior),
      test_costs_(posterior.test_costs()),
      data_(data),
      costs_differ_(data.weighted() || data.restricted()),
      root_bounds_(&bounds),
      bounds_(&bounds),
      options_(options),
      rows_folded_(data.rows_folded()),
      kernel_(pair_kernel(options.kernel)),
      view_(data, bounds, options) {
  children_.reserve(data.n_columns());
  order_.reserve(data.n_columns());
  if (costs_differ_) test_cost_.reserve(NodeView::stride_of(data.n_columns()));
  mixed_.reserve(static_cast<std::size_t>(data.n_classes()));
  pure_.reserve(static_cast<std::size_t>(data.n_classes()));
  for (int k = 0; k < data.n_classes(); ++k) {
    mixed_.push_back(posterior.mixed_table(k));
    pure_.push_back(posterior.pure_table(k));
  }
  if (data.ordered().n_columns() > 0) spans_.emplace(data, posterior, bounds, options);
}

// The tables of the classes that the node has, where these are not all.
void Expander::find_tables() {
  const std::span<const std::int32_t> numbers = view_.total().numbers;
  if (numbers.empty()) return;
  mixed_.clear();
  pure_.clear();
  for (const std::int32_t k : numbers) {
    mixed_.push_back(posterior_.mixed_table(k));
    pure_.push_back(posterior_.pure_table(k));
  }
}

Cost Expander::likelihood(std::span<const std::int32_t> counts, std::int64_t weight,
                          const std::int64_t (&amounts)[2]) const {
  std::int64_t cost = posterior_.rising_table()[weight];
  for (std::size_t k = 0; k < counts.size(); ++k) cost -= mixed_[k][counts[k]];
  return Cost(cost) + posterior_.of_amounts(weight, amounts);
}

bool Expander::expand(const Bounds& bounds, const RowSet& rows, std::size_t depth, Cost upper,
                      Watch& watch, Expansion& out, Cost goal, std::span<const SplitBounds> spans,
                      std::uint32_t leaves, Keep keep) {
  if (spans_)
    return spans_->expand(bounds, rows, depth, upper, goal, spans, watch, out, leaves, keep);
  bounds_ = &bounds;
  if (!view_.load(rows, watch)) return false;
  out.varying = view_.varying();
  out.splits.clear();
  out.rest = Cost::infinity();
  out.best = no_column;
  find_tables();
  out.leaf = likelihood(view_.total().classes, view_.total().weight, view_.total().amounts) +
             (out.varying > 0 ? posterior_.stop(depth) : Cost(0));
  out.base = posterior_.split(depth) + posterior_.log_weight(out.varying);
  if (out.varying == 0 || !bounds.may_split(depth)) return true;

  if (!bound_children(depth, watch, out)) return false;
  if (options_.pair_expansion)
    return scan_pairs(depth, keep == Keep::all ? upper : std::min(upper, out.leaf), leaves, watch,
                      out);

  for (std::size_t c = 0; c < children_.size(); ++c) {
    const Child& child = children_[c];
    if (!child.valid) continue;
    const NodeView::Column& column = view_.columns()[c];
    SplitBounds split;
    split.column = column.dataset;
    for (int side = 0; side < 2; ++side) {
      const Bracket& bracket = child.bracket[column.flipped ? 1 - side : side];
      split.lower[side] = bracket.lower;
      split.upper[side] = bracket.upper;
      split.few[side][0] = child.least_leaf[column.flipped ? 1 - side : side];
    }
    out.splits.push_back(split);
  }
  return true;
}

bool Expander::bound_children(std::size_t depth, Watch& watch, const Expansion& out) {
  const auto work = static_cast<std::int64_t>(20 * mixed_.size() + 40);
  children_.resize(view_.columns().size());
  for (std::size_t c = 0; c < children_.size(); ++c) {
    Child& child = children_[c];
    if (watch.stop(work)) return false;
    child.valid = may_test(view_.columns()[c], depth);
    child.bound = out.base + test_costs_[view_.columns()[c].dataset];
    for (int side = 0; side < 2; ++side) {
      view_.count_side(c, side, counts_);
      child.valid = child.valid && counts_.weight >= options_.min_samples_leaf;
      child.bracket[side] =
          bounds_->bracket(counts_, depth + 1, view_.test_cost_on(counts_.distinct));
      child.likelihood[side] =
          child.bracket[side].upper - (counts_.distinct > 1 ? posterior_.stop(depth + 1) : Cost(0));
      child.least_leaf[side] = child.likelihood[side] +
                               (counts_.distinct > 1 ? bounds_->stop_lower(depth + 1) : Cost(0));
      child.bound += child.bracket[side].lower;
    }
  }
  return true;
}

bool Expander::scan_pairs(std::size_t depth, Cost upper, std::uint32_t leaves, Watch& watch,
                          Expansion& out) {
  // Columns that may still be the node's split come first: only their children are asked about,
  // but these can be split by every column. `<=` keeps the split that reached `upper`.
  order_.clear();
  for (std::uint32_t c = 0; c < children_.size(); ++c)
    if (children_[c].valid && children_[c].bound <= upper) order_.push_back(c);
  const std::size_t n_open = order_.size();
  for (std::uint32_t c = 0; c < children_.size(); ++c) {
    if (children_[c].valid && children_[c].bound <= upper) continue;
    if (children_[c].valid) out.rest = std::min(out.rest, children_[c].bound);
    order_.push_back(c);
  }
  if (n_open == 0) return true;

  const bool children_may_split = bounds_->may_split(depth + 1);
  PairScan* const arranged = view_.arrange(order_, watch);
  if (arranged == nullptr) return false;
  PairScan& scan = *arranged;
  scan.rising = posterior_.rising_table();
  scan.mixed = mixed_.data();
  scan.pure = pure_.data();
  const Posterior::TwoClassTable& small = posterior_.two_class_table();
  const bool all_small = mixed_.size() == 2 && scan.total.classes[0] < small.limit[0] &&
                         scan.total.classes[1] < small.limit[1];
  scan.two_class = all_small ? small.entries.data() : nullptr;
  scan.two_class_stride = small.stride;
  if (posterior_.sum_costs() != nullptr) view_.set_costs(*posterior_.sum_costs());
  std::vector<std::int64_t>& floor = view_.part_floor();
  floor.resize(static_cast<std::size_t>(view_.total().distinct) + 1);
  if (watch.poll(static_cast<std::int64_t>(4 * floor.size()))) return false;
  for (std::int32_t rows = 0; rows <= view_.total().distinct; ++rows)
    floor[static_cast<std::size_t>(rows)] =
        bounds_->floor(depth + 2, rows, view_.test_cost_on(rows));
  scan.floor = floor.data();
  scan.floor_cap = view_.total().distinct;
  if (costs_differ_) {
    test_cost_.assign(scan.stride, 0);
    for (std::size_t p = 0; p < order_.size(); ++p) {
      const NodeView::Column& column = view_.columns()[order_[p]];
      test_cost_[p] =
          (may_test(column, depth + 1) ? test_costs_[column.dataset] : Cost::infinity()).units();
    }
    scan.test_cost = test_cost_.data();
  }
  scan.stop_lower = bounds_->stop_lower(depth + 2).units();
  scan.stop_upper = bounds_->stop_upper(depth + 2).units();
  // Where leaves are all that may follow, and cost the same in both bounds, one is enough.
  scan.leaves_only = !bounds_->may_split(depth + 2) && scan.stop_lower == scan.stop_upper;
  if (scan.leaves_only) std::copy_n(scan.upper, 2, scan.lower);
  scan.min_leaf = static_cast<std::int32_t>(
      std::min<std::int64_t>(options_.min_samples_leaf, max_total_weight + 1));
  // Nanoseconds, roughly: words to count, patterns to weigh, look-ups by class and quadrant.
  const std::size_t of_amounts = scan.amounts == nullptr ? 0 : 4 * view_.n_half_words() + 100;
  const auto pair_work = static_cast<std::int64_t>(view_.n_half_words() + 8 * scan.n_runs +
                                                   32 * mixed_.size() + 40 + of_amounts);
  const auto row_work = static_cast<std::int64_t>(scan.stride / 8) * pair_work;
  constexpr auto pairs_in_block = static_cast<std::int64_t>(lanes / 8);
  const std::size_t at_once = view_.n_at_once();
  for (std::size_t i = 0; i < n_open; i += at_once) {
    const std::size_t n = std::min(at_once, n_open - i), first_block = i / lanes * lanes;
    watch.count(static_cast<std::int64_t>(n) * row_work);
    const auto scan_part = [&](std::size_t first, std::size_t last) {
      kernel_.scan_rows(scan, i, n, first_block + first, first_block + last);
    };
    if (!in_parts(scan.stride - first_block,
                  static_cast<std::int64_t>(n) * pairs_in_block * pair_work, watch, scan_part))
      return false;
  }

  Cost best_cost = Cost::infinity();
  std::size_t best_at = 0;
  Cost best_below[2];
  for (std::size_t p = 0; p < n_open; ++p) {
    if (watch.poll(50)) return false;
    const Child& child = children_[order_[p]];
    const NodeView::Column& column = view_.columns()[order_[p]];
    SplitBounds split;
    split.column = column.dataset;
    Below sides[2];
    Cost below_of[2];  // what the child's own best split pays for its test and its leaves
    for (int side = 0; side < 2; ++side) {
      const std::int32_t varying = scan.varying[side][p];
      const Cost leaf =
          child.likelihood[side] + (varying > 0 ? posterior_.stop(depth + 1) : Cost(0));
      Cost lower = leaf;
      sides[side] = {leaf, leaf};
      below_of[side] = Cost(scan.upper[side][p]);
      if (varying > 0 && children_may_split) {
        const Cost base = posterior_.split(depth + 1) + posterior_.log_weight(varying);
        lower = std::min(lower, base + Cost(scan.lower[side][p]));
        // Without row folding a grandchild may cost less than `upper` says, and a bound that no
        // tree has exactly is of no use: the tree is what is reported.
        if (rows_folded_) sides[side].two = std::min(leaf, base + below_of[side]);
      }
      const int to = column.flipped ? 1 - side : side;
      split.lower[to] = lower;
      split.upper[to] = sides[side].two;
      split.few[to][0] = leaf;
      if (rows_folded_) split.few[to][1] = sides[side].two;
    }
    out.splits.push_back(split);
    const SmallTree below = cheapest_of(sides, leaves);
    const Cost cost = out.base + test_costs_[column.dataset] + below.cost;
    if (cost < best_cost) {
      best_cost = cost;
      best_at = p;
      for (int side = 0; side < 2; ++side) {
        best_below[side] = below.split[side] ? below_of[side] : Cost::infinity();
        out.best_upper[column.flipped ? 1 - side : side] =
            below.split[side] ? sides[side].two : sides[side].leaf;
      }
    }
  }

  if (best_cost >= out.leaf) return true;
  const NodeView::Column& column = view_.columns()[order_[best_at]];
  out.best = column.dataset;
  out.best_cost = best_cost;
  for (int side = 0; side < 2; ++side) {
    const int to = column.flipped ? 1 - side : side;
    out.best_below[to] = no_column;
    if (!best_below[side].finite()) continue;
    out.best_below[to] =
        split_below(scan, best_at, side, depth, best_below[side], out.best_leaf[to], watch);
    if (watch.stopped()) return false;
  }
  return true;
}

// The scan keeps least values, not where they came from: that is asked for once a node, here.
// `p` and `q` are positions in the scan; of the columns that reach the target, the first one.
// None only when stopped.
std::uint32_t Expander::split_below(const PairScan& scan, std::size_t p, int side,
                                    std::size_t depth, Cost target, Cost (&leaf)[2], Watch& watch) {
  const auto count_part = [&](std::size_t first, std::size_t last) {
    kernel_.count_with(scan, p, first, last);
  };
  if (!in_parts(scan.stride, view_.work_of_counts(), watch, count_part)) return no_column;
  view_.count_side(order_[p], side, counts_);
  std::uint32_t found = no_column;
  std::vector<std::int32_t> part(counts_.classes.size());
  const auto work = static_cast<std::int64_t>(40 + 20 * mixed_.size());
  for (std::size_t q = 0; q < order_.size(); ++q) {
    if (watch.poll(work)) return no_column;
    Cost cost[2];
    std::int64_t least = max_total_weight;
    for (int value = 0; value < 2; ++value) {
      // Rows where column p has value `side` and column q has value 1, then 0.
      std::int64_t weight = 0;
      for (std::size_t k = 0; k < part.size(); ++k) {
        const std::size_t at = k * scan.stride + q;
        const std::int32_t both = scan.both.classes[at];
        const std::int32_t ones = side == 1 ? both : scan.one.classes[at] - both;
        part[k] = value == 1 ? ones : counts_.classes[k] - ones;
        weight += part[k];
      }
      std::int64_t rows = weight;
      if (scan.folded) {
        const std::int32_t both = scan.both.distinct[q];
        const std::int32_t ones = side == 1 ? both : scan.one.distinct[q] - both;
        rows = value == 1 ? ones : counts_.distinct - ones;
      }
      least = std::min(least, weight);
      std::int64_t amounts[2] = {0, 0};
      for (int v = 0; v < 2 && scan.amounts != nullptr; ++v) {
        const std::int64_t both = scan.amounts->both[v][q];
        const std::int64_t ones = side == 1 ? both : scan.amounts->one[v][q] - both;
        amounts[v] = value == 1 ? ones : counts_.amounts[v] - ones;
      }
      cost[value] =
          likelihood(part, weight, amounts) + (rows > 1 ? posterior_.stop(depth + 2) : Cost(0));
    }
    const NodeView::Column& column = view_.columns()[order_[q]];
    if (least < options_.min_samples_leaf || !may_test(column, depth + 1) ||
        test_costs_[column.dataset] + cost[0] + cost[1] != target)
      continue;
    if (column.dataset >= found) continue;
    found = column.dataset;
    for (int value = 0; value < 2; ++value) leaf[column.flipped ? 1 - value : value] = cost[value];
  }
  assert(found != no_column && "the scan found a split that is not there");
  return found;
}

}  // namespace maptree
