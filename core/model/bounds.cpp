#include "model/bounds.hpp"

#include <algorithm>
#include <bit>

namespace maptree {

namespace {

constexpr Cost useless(-(std::int64_t{1} << 58));

// By how much the difference of two rounded logs may be above that of two others, where the real
// one is not: four roundings of half a unit and a little, in whole units.
constexpr Cost rounding(2);

using Skeleton = std::array<Cost, floor_cap + 1>;  // by min(D, floor_cap)

// B3: the least that the two subtrees under a split of `rows` distinct rows pay for structure.
// `below` does not decrease with D, so both sides may be capped and their sum taken as `rows`.
Cost cheapest_parts(const Skeleton& below, std::int32_t rows) {
  Cost best = Cost::infinity();
  for (std::int32_t a = 1; 2 * a <= rows; ++a)
    best = std::min(best,
                    below[static_cast<std::size_t>(a)] + below[static_cast<std::size_t>(rows - a)]);
  return best;
}

[[nodiscard]] std::int64_t heaviest_test(const Dataset& data) {
  std::int64_t heaviest = data.ordered().heaviest_weight();
  for (std::size_t c = 0; c < data.n_columns(); ++c)
    heaviest = std::max<std::int64_t>(heaviest, data.test_weight(c));
  return heaviest;
}

// B2 and B6: the least that a split of a given number of distinct rows pays for its test. These
// rows differ in ceil(log2 rows) tests or more, and span some thresholds of every ordered column.
class FewestVarying {
 public:
  FewestVarying(const Posterior& posterior, const Dataset& data, std::int64_t heaviest,
                bool spanned)
      : posterior_(posterior),
        data_(data),
        n_features_(static_cast<std::int64_t>(data.n_features())),
        heaviest_(heaviest),
        spanned_(spanned) {
    if (!data.weighted()) return;
    std::vector<std::int64_t> least;
    for (std::size_t c = 0; c < data.n_columns(); ++c) least.push_back(data.multiplicity(c));
    data.ordered().for_each_weight([&](std::int64_t weight, std::size_t how_many) {
      least.insert(least.end(), std::min(how_many, others_.size()), weight);
    });
    const std::size_t n = std::min(least.size(), others_.size() - 1);
    std::ranges::partial_sort(least, least.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t v = 1; v < others_.size(); ++v)
      others_[v] = others_[v - 1] + (v <= n ? least[v - 1] : 0);
  }

  [[nodiscard]] Cost operator()(std::int32_t rows) const {
    const int v = std::bit_width(static_cast<unsigned>(rows - 1));
    const std::int64_t all =
        spanned_ ? data_.least_varying(static_cast<std::size_t>(rows)) : std::int64_t{0};
    // A split needs a column that varies, so the log is of 1 at least; the table ends at the number
    // of features, beyond which fewer distinct rows exist anyway.
    if (!data_.weighted())
      return posterior_.log_weight(std::max(all, std::min<std::int64_t>(v, n_features_)));
    const std::int64_t some = heaviest_ + others_[static_cast<std::size_t>(v - 1)];
    const Cost real = posterior_.log_weight(std::max(all, some)) - posterior_.log_weight(heaviest_);
    return std::max(Cost(0), real - rounding);
  }

 private:
  const Posterior& posterior_;
  const Dataset& data_;
  const std::int64_t n_features_, heaviest_;
  const bool spanned_;
  std::array<std::int64_t, 6> others_{};  // the sum of the least weights of tests, by their number
};

}  // namespace

Bounds::Bounds(const Posterior& posterior, const Dataset& data, const Options& options)
    : posterior_(posterior),
      min_leaf_(static_cast<std::int32_t>(options.min_samples_leaf)),
      max_depth_(options.max_depth),
      distinct_(options.distinct_rows_bound && data.rows_folded()),
      data_(data),
      heaviest_(heaviest_test(data)) {
  const FewestVarying fewest(posterior, data, heaviest_, options.varying_bound && distinct_);
  counted_.fill(Cost::infinity().units());
  if (options.varying_bound && distinct_)
    for (std::int32_t rows = 2; rows <= floor_cap; ++rows)
      counted_[static_cast<std::size_t>(rows)] = fewest(rows).units();
  const bool structure = options.structure_bound && distinct_;
  const std::size_t depths = posterior.max_depth() + 1;
  levels_.resize(std::min(depths, level_cap + 1));

  Skeleton below{};  // of the level under the one being filled; zero under the deepest
  for (std::size_t d = levels_.size(); d-- > 0;) {
    LevelBounds& level = levels_[d];
    level.floor.fill(Cost::infinity().units());
    Skeleton here{};
    for (std::int32_t rows = floor_cap; rows >= 2; --rows) {
      const auto r = static_cast<std::size_t>(rows);
      Cost split = Cost::infinity();
      if (may_split(d)) {
        split = posterior.split(d);
        if (distinct_) split += fewest(rows);
        if (structure) split += cheapest_parts(below, rows);
        level.floor[r] = split.units();
      }
      here[r] = std::min(posterior.stop(d), split);
      if (rows < floor_cap) here[r] = std::min(here[r], here[r + 1]);
    }
    below = here;
  }

  // Beyond the last level its entry has the least of what is found for each.
  const std::size_t last = levels_.size() - 1;
  for (std::size_t up = 1; up <= transfer_cap; ++up) {
    Cost least(0);  // T: of subtrees at the level under the one being filled
    for (std::size_t d = depths; d-- > up;) {
      const Cost transfer = posterior.split(d) - posterior.split(d - up) + least + least;
      Cost& entry = levels_[std::min(d, last)].transfer[up];
      entry = d >= last && d + 1 < depths ? std::min(entry, transfer) : transfer;
      least = std::min({Cost(0), posterior.stop(d) - posterior.stop(d - up), transfer});
      // It doubles with every level. What has come down to `useless` is more than any cost: it
      // gives a bound below 0, and so does all that is made of it.
      least = std::max(least, useless);
    }
  }

  // M: what a subtree may cost more one level up, and a tree without the rows of a split's side.
  Cost up(0), shrink(0), row = Cost::infinity();
  for (int k = 0; k < data.n_classes(); ++k)
    if (data.class_totals()[static_cast<std::size_t>(k)] > 0)
      row = std::min(row, posterior.pure(k, 1));
  for (std::size_t d = depths; d-- > 0;) {
    if (d + 1 < depths)
      up = std::max({Cost(0), posterior.stop(d) - posterior.stop(d + 1),
                     posterior.split(d) - posterior.split(d + 1) + up + up});
    shrink = std::max({Cost(0), shrink + shrink, shrink + up - posterior.split(d) - row});
    up = std::min(up, Cost(0) - useless);
    shrink = std::min(shrink, Cost(0) - useless);
    Cost& entry = levels_[std::min(d, last)].shrink;
    entry = std::max(entry, shrink);
  }

  group_floor_.resize(data.segments().size());
  if (options.equivalent_rows_bound && data.rows_folded()) {
    for (std::size_t s = 0; s < group_floor_.size(); ++s) {
      const Segment& segment = data.segments()[s];
      if (!segment.impure()) continue;
      group_floor_[s] = posterior.group_floor(segment.pattern);
    }
  }

  SetCounts all;
  all.clear(static_cast<std::size_t>(data.n_classes()));
  for (std::size_t s = 0; s < group_floor_.size(); ++s)
    all.add(data.segments()[s].pattern, static_cast<std::int32_t>(data.segments()[s].n_rows),
            group_floor_[s].units());
  std::copy_n(data.amount_totals().of, 2, all.amounts);
  root_lower_ = bracket(all, 0).lower;
}

void SetCounts::add(std::span<const ClassWeight> pattern, std::int32_t rows,
                    std::int64_t group_floor) {
  distinct += rows;
  groups += rows * group_floor;
  for (const ClassWeight& part : pattern) {
    const auto k = static_cast<std::size_t>(part.k);
    classes[k] += rows * part.weight;
    weight += rows * part.weight;
    if (group_floor == 0) rest[k] += rows * part.weight;
  }
}

void SetCounts::clear(std::size_t n_classes) {
  classes.assign(n_classes, 0);
  rest.assign(n_classes, 0);
  numbers = {};
  groups = 0;
  weight = distinct = 0;
  amounts[0] = amounts[1] = 0;
}

Cost Bounds::spanned_cost(std::size_t rows) const {
  const std::int64_t weight = data_.least_varying(rows);
  if (!data_.weighted()) return posterior_.log_weight(weight);
  const Cost real =
      posterior_.log_weight(std::max(weight, heaviest_)) - posterior_.log_weight(heaviest_);
  return std::max(Cost(0), real - rounding);
}

Cost Bounds::least_test_cost(std::int64_t weight, std::int64_t heaviest, std::int64_t other) const {
  if (weight == 0) return Cost(0);
  const auto log = [this](std::int64_t sum) { return posterior_.log_weight(sum); };
  // The test is one of the columns that are known to vary, or another.
  const Cost known = log(weight) - log(heaviest), another = log(weight + other) - log(other);
  return std::max(Cost(0), std::min(known, another) - rounding);
}

Bracket Bounds::bracket(const SetCounts& set, std::size_t depth, Cost test) const {
  std::int64_t leaf = posterior_.rising_table()[set.weight];
  std::int64_t pure = 0;
  std::int64_t apart = set.groups;
  for (std::size_t k = 0; k < set.classes.size(); ++k) {
    const int number = set.numbers.empty() ? static_cast<int>(k) : set.numbers[k];
    const std::int64_t* const pure_of = posterior_.pure_table(number);
    leaf -= posterior_.mixed_table(number)[set.classes[k]];
    pure += pure_of[set.classes[k]];
    apart += pure_of[set.rest[k]];
  }
  // B8: of numbers and counts a leaf costs 0 or more, and so do all leaves of a tree.
  leaf += posterior_.of_amounts(set.weight, set.amounts).units();
  const bool several = set.distinct > 1;
  Bracket out{Cost(leaf) + (several ? stop_lower(depth) : Cost(0)),
              Cost(leaf) + (several ? stop_upper(depth) : Cost(0))};
  if (set.weight >= 2 * min_leaf_) {
    out.lower = std::min(out.lower, Cost(floor(depth, set.distinct, test) + std::max(pure, apart)));
  }
  return out;
}

}  // namespace maptree
