// Bounds: the floor is the cheapest skeleton, and no bracket lies above an optimum.
#include "model/bounds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "check.hpp"
#include "problem.hpp"
#include "scan/node_view.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Bounds;
using maptree::Cost;
using maptree::Dataset;
using maptree::Options;
using maptree::Posterior;
using maptree::RowSet;

namespace {

// The cheapest structure over a number of distinct rows: every way to part them is tried, without
// cap on their number.
class Skeletons {
 public:
  Skeletons(const Posterior& posterior, const Options& options, std::int64_t n_features)
      : posterior_(posterior), options_(options), n_features_(n_features) {}

  std::int64_t floor(std::size_t depth, int rows) {
    if (options_.max_depth >= 0 && static_cast<std::int64_t>(depth) >= options_.max_depth)
      return Cost::infinity().units();
    std::int64_t cost = posterior_.split(depth).units();
    if (!options_.distinct_rows_bound) return cost;
    std::int64_t columns = 0;  // enough to tell that number of rows apart
    while ((std::int64_t{1} << columns) < rows) ++columns;
    cost += posterior_.log_weight(std::min(columns, n_features_)).units();
    if (!options_.structure_bound) return cost;
    std::int64_t least = Cost::infinity().units();
    for (int a = 1; a < rows; ++a)
      least = std::min(least, any(depth + 1, a) + any(depth + 1, rows - a));
    return cost + least;
  }

 private:
  std::int64_t any(std::size_t depth, int rows) {
    if (rows == 1) return 0;
    const auto key = std::make_pair(depth, rows);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    return known_[key] = std::min(posterior_.stop(depth).units(), floor(depth, rows));
  }

  const Posterior& posterior_;
  Options options_;
  std::int64_t n_features_;
  std::map<std::pair<std::size_t, int>, std::int64_t> known_;
};

Problem noise(Random& random, std::size_t n_rows, std::size_t n_columns) {
  Problem problem;
  problem.model.x.assign(n_rows, std::vector<int>(n_columns));
  for (auto& row : problem.model.x)
    for (int& value : row) value = random.below(2);
  problem.model.y.assign(n_rows, 0);
  problem.model.weight.assign(n_rows, 1);
  return problem;
}

maptree::SetCounts count(const Dataset& data, const Bounds& bounds, const RowSet& rows) {
  maptree::SetCounts out;
  out.clear(static_cast<std::size_t>(data.n_classes()));
  for (std::size_t s = 0; s < data.segments().size(); ++s) {
    const maptree::Segment& segment = data.segments()[s];
    std::int32_t n = 0;
    for (std::size_t w = segment.first_word; w < segment.first_word + segment.n_words; ++w)
      maptree::for_each_slot(rows.word(w), 0, [&](std::size_t) { ++n; });
    out.add(segment.pattern, n, bounds.group_floor(s).units());
  }
  return out;
}

// Every set that splits can make of a problem's rows, in both worlds.
class Walk {
 public:
  explicit Walk(const Problem& problem)
      : options_(fuzz::make_options(problem)),
        data_(fuzz::make_dataset(problem)),
        posterior_(fuzz::make_prior(problem), data_),
        bounds_(posterior_, data_, options_),
        view_(data_, bounds_, options_),
        brute_(problem.model),
        tolerance_(1e-8 + 4 * static_cast<double>(data_.total_weight()) / Cost::units_per_nat) {}

  void check() {
    CHECK(bounds_.root_lower().nats() <= brute_.optimum() + tolerance_);
    visit(data_.all_rows(), brute_.all(), 0);
  }

 private:
  void visit(const RowSet& rows, const brute_force::Set& set, long depth) {
    if (!seen_.insert({depth, set}).second) return;
    const maptree::SetCounts counts = count(data_, bounds_, rows);
    const auto d = static_cast<std::size_t>(depth);
    const maptree::Bracket bracket = bounds_.bracket(counts, d);
    CHECK(bracket.lower <= bracket.upper);
    CHECK(bracket.lower.nats() <= brute_.optimum(set, depth) + tolerance_);
    const double leaf = brute_.leaf(set, depth);
    CHECK(bracket.upper.nats() >= leaf - tolerance_);
    if (data_.rows_folded()) CHECK(bracket.upper.nats() <= leaf + tolerance_);
    if (counts.distinct == 1) CHECK(bracket.lower == bracket.upper);
    // Told what a split pays for its test, which is more than B5 can tell.
    const maptree::Bracket told = bounds_.bracket(counts, d, least_test_cost(rows));
    CHECK(told.lower >= bracket.lower);
    CHECK(told.lower.nats() <= brute_.optimum(set, depth) + tolerance_);
    check_needed_columns(rows, counts, d);
    // The same rows nearer the root.
    for (std::size_t from = 0; from < d; ++from) {
      const Cost known = Cost::nearest(brute_.optimum(set, static_cast<long>(from)));
      CHECK(std::min(leaf, bounds_.transferred(known, from, d).nats()) <=
            brute_.optimum(set, depth) + 2 * tolerance_);
    }
    std::vector<std::pair<std::int32_t, Cost>> parts;  // rows, what a split pays for its test
    for (std::size_t c = 0; c < data_.n_columns(); ++c) {
      RowSet part[2];
      bool empty = false;
      for (int side = 0; side < 2; ++side) {
        part[side].assign_side(rows, data_.column(c), side);
        empty = empty || count(data_, bounds_, part[side]).weight == 0;
      }
      if (empty) continue;
      for (int side = 0; side < 2; ++side)
        parts.emplace_back(count(data_, bounds_, part[side]).distinct, least_test_cost(part[side]));
      for (int side = 0; side < 2; ++side)
        visit(part[side], brute_.side(set, data_.original(c), side), depth + 1);
    }
    view_.load(rows, maptree::no_watch());
    for (const auto& [n, cost] : parts) CHECK(view_.test_cost_on(n) <= cost);
    check_test_costs(rows, counts.distinct);
    const Cost all = view_.test_cost_on(counts.distinct), cost = least_test_cost(rows);
    CHECK(all <= cost);
    CHECK(all + Cost(data_.weighted() ? 2 : 0) >= cost);
  }

  // B5 from its definition: the columns whose commoner value has fewer rows than a part.
  void check_test_costs(const RowSet& rows, std::int32_t distinct) const {
    struct Column {
      std::int32_t commoner, weight, heaviest;
    };
    std::vector<Column> columns;
    std::int64_t other = 0;
    for (std::size_t c = 0; c < data_.n_columns(); ++c) {
      RowSet part;
      part.assign_side(rows, data_.column(c), 1);
      const std::int32_t one = count(data_, bounds_, part).distinct;
      if (one == 0 || one == distinct) continue;
      columns.push_back(
          {std::max(one, distinct - one), data_.multiplicity(c), data_.test_weight(c)});
      other = std::max<std::int64_t>(other, data_.test_weight(c));
    }
    for (std::int32_t n = 0; n <= distinct; ++n) {
      std::int64_t weight = 0, heaviest = 0;
      for (const Column& column : columns) {
        if (column.commoner >= n) continue;
        weight += column.weight;
        heaviest = std::max<std::int64_t>(heaviest, column.heaviest);
      }
      const Cost least = data_.weighted() ? bounds_.least_test_cost(weight, heaviest, other)
                                          : bounds_.least_test_cost(weight);
      CHECK_EQUAL(view_.test_cost_on(n).units(), least.units());
    }
  }

  // Of all columns that vary on a set, from the definition; none: 0.
  [[nodiscard]] Cost least_test_cost(const RowSet& rows) const {
    const std::int64_t weight = data_.varying_weight(rows);
    Cost least = weight == 0 ? Cost(0) : Cost::infinity();
    for (std::size_t c = 0; c < data_.n_columns(); ++c) {
      RowSet part[2];
      for (int side = 0; side < 2; ++side) part[side].assign_side(rows, data_.column(c), side);
      if (count(data_, bounds_, part[0]).weight == 0 || count(data_, bounds_, part[1]).weight == 0)
        continue;
      least = std::min(least,
                       posterior_.log_weight(weight) - posterior_.log_weight(data_.test_weight(c)));
    }
    return least;
  }
  // B2b, in units: where nothing else is in the floor.
  void check_needed_columns(const RowSet& rows, const maptree::SetCounts& counts, std::size_t d) {
    if (options_.structure_bound || counts.distinct < 2 || !bounds_.may_split(d)) return;
    const std::int64_t floor =
        bounds_.level(d)
            .floor[static_cast<std::size_t>(std::min(counts.distinct, maptree::floor_cap))];
    if (data_.varying_weight(rows) > 0)
      CHECK(Cost(floor) - posterior_.split(d) <= least_test_cost(rows));
  }

  Options options_;
  Dataset data_;
  Posterior posterior_;
  Bounds bounds_;
  maptree::NodeView view_;
  brute_force::Solver brute_;
  double tolerance_;
  std::set<std::pair<long, brute_force::Set>> seen_;
};

// B2b from its definition: what a split of so many distinct rows pays for its test at least.
Cost least_for_a_test(const Dataset& data, const Posterior& posterior, std::size_t rows) {
  std::vector<std::int64_t> weights;
  std::int64_t heaviest = 0, others = 0;
  for (std::size_t c = 0; c < data.n_columns(); ++c) {
    weights.push_back(data.multiplicity(c));
    heaviest = std::max<std::int64_t>(heaviest, data.test_weight(c));
  }
  std::ranges::sort(weights);
  std::size_t n = 0;  // that vary
  while (rows > std::size_t{1} << n) ++n;
  for (std::size_t c = 0; c + 1 < std::min(n, weights.size() + 1); ++c) others += weights[c];
  const Cost real = posterior.log_weight(heaviest + others) - posterior.log_weight(heaviest);
  return data.weighted() ? std::max(Cost(0), real - Cost(2)) : real;
}

}  // namespace

TEST(floor_is_the_cheapest_skeleton) {
  Random random(31);
  const Problem problem = noise(random, 100, 40);  // deep enough for a chain of 12 rows below 3
  const Dataset data = fuzz::make_dataset(problem);
  for (int round = 0; round < 60; ++round) {
    const Posterior posterior({random.one_of({0.95, 0.5, 0.999, 0.05, random.uniform()}),
                               random.one_of({0.5, 0.0, 2.0, 3 * random.uniform()}),
                               {2.5, 2.5}},
                              data);
    Options options;
    options.max_depth = random.chance(0.3) ? random.between(0, 5) : -1;
    options.structure_bound = random.chance(0.8);
    options.distinct_rows_bound = random.chance(0.8);
    const Bounds bounds(posterior, data, options);
    Skeletons skeletons(posterior, options, 40);
    for (std::size_t d = 0; d < 4; ++d) {
      const auto& floor = bounds.level(d).floor;
      CHECK_EQUAL(floor[1], Cost::infinity().units());
      for (int rows = 2; rows <= 12; ++rows)
        CHECK_EQUAL(floor[static_cast<std::size_t>(rows)], skeletons.floor(d, rows));
      // Admissible for every number of rows, also beyond the cap, and monotone up to it.
      for (int rows = 2; rows <= 120; ++rows) {
        const int capped = std::min(rows, maptree::floor_cap);
        CHECK(floor[static_cast<std::size_t>(capped)] <= skeletons.floor(d, rows));
        if (rows <= maptree::floor_cap && rows > 2)
          CHECK(floor[static_cast<std::size_t>(rows)] >= floor[static_cast<std::size_t>(rows - 1)]);
      }
      CHECK_EQUAL(bounds.stop_upper(d).units(), posterior.stop(d).units());
      CHECK_EQUAL(bounds.stop_lower(d).units(),
                  options.distinct_rows_bound ? posterior.stop(d).units() : 0);
    }
  }
}

TEST(floor_is_admissible_on_shallow_data) {
  // Few columns: the deepest level is met, and log2 of the rows passes the number of columns.
  Random random(32);
  for (std::size_t n_columns = 1; n_columns <= 3; ++n_columns) {
    const Dataset data = fuzz::make_dataset(noise(random, 60, n_columns));
    const Posterior posterior({0.95, 0.5, {2.5, 2.5}}, data);
    const Bounds bounds(posterior, data, {});
    Skeletons skeletons(posterior, {}, static_cast<std::int64_t>(n_columns));
    for (std::size_t d = 0; d <= n_columns + 1; ++d)
      for (int rows = 2; rows <= 80; ++rows)
        CHECK(bounds.level(d).floor[static_cast<std::size_t>(std::min(rows, maptree::floor_cap))] <=
              skeletons.floor(d, rows));
  }
}

TEST(floors_of_weighted_tests_do_not_fall_with_the_rows) {
  Random random(38);
  for (int round = 0; round < 60; ++round) {
    Problem problem = noise(random, 100, random.one_of<std::size_t>({3, 4, 5, 6, 20}));
    fuzz::random_test_weights(random, problem.model);
    const Dataset data = fuzz::make_dataset(problem);
    const Posterior posterior({0.95, random.one_of({0.5, 0.0, 2.0}), {2.5, 2.5}}, data);
    Options options;
    options.structure_bound = random.chance(0.5);
    const Bounds bounds(posterior, data, options);
    for (std::size_t d = 0; d < 6; ++d)
      for (std::size_t rows = 2; rows < maptree::floor_cap; ++rows) {
        CHECK(bounds.level(d).floor[rows] >= posterior.split(d).units());
        CHECK(bounds.level(d).floor[rows] <= bounds.level(d).floor[rows + 1]);
        if (!options.structure_bound && (data.weighted() || rows <= 8))
          CHECK_EQUAL(bounds.level(d).floor[rows] - posterior.split(d).units(),
                      least_for_a_test(data, posterior, rows).units());
      }
  }
}

TEST(brackets_hold_the_optimum) {
  Random random(33);
  for (int round = 0; round < 500; ++round) {
    Problem problem;
    problem.model = fuzz::random_model(random, fuzz::Shape::tall);
    while (problem.model.n_columns() > 5)
      for (auto& row : problem.model.x) row.pop_back();
    for (const auto member :
         {&Options::fold_rows, &Options::fold_columns, &Options::distinct_rows_bound,
          &Options::varying_bound, &Options::structure_bound, &Options::equivalent_rows_bound})
      problem.options.*member = random.chance(0.85);
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    Walk(problem).check();
  }
}

TEST(stop_is_not_charged_to_each_pure_class) {  // the first trap of the perfect split
  Problem problem;
  problem.model.x = {{0, 0}, {0, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 1}};
  problem.model.y = {1, 1, 1, 0, 0, 0};
  problem.model.weight.assign(6, 1);
  problem.model.rho = {10, 10};
  CHECK(std::abs(brute_force::Solver(problem.model).optimum() - 5.26) < 0.005);
  Walk(problem).check();
}

TEST(a_column_varies_on_every_part_larger_than_its_commoner_value) {
  Random random(35);
  const Dataset data = fuzz::make_dataset(noise(random, 40, 10));
  const Posterior posterior({0.95, 0.5, {2.5, 2.5}}, data);
  const Bounds bounds(posterior, data, {});
  maptree::NodeView view(data, bounds, {});
  view.load(data.all_rows(), maptree::no_watch());
  // Half a table of noise may be constant in any column; one row less than all in hardly one.
  CHECK_EQUAL(view.test_cost_on(10).units(), 0);
  CHECK_EQUAL(view.test_cost_on(39).units(), posterior.log_weight(10).units());
  CHECK(bounds.floor(1, 39, view.test_cost_on(39)) > bounds.level(1).floor[39]);
}

TEST(each_bound_is_worth_something) {
  // Twenty impure groups: without their entropy the bound of the root is lower.
  Random random(34);
  Problem problem = noise(random, 20, 12);
  const auto once = problem.model.x;
  problem.model.x.insert(problem.model.x.end(), once.begin(), once.end());
  problem.model.y.insert(problem.model.y.end(), 20, 1);
  problem.model.weight.insert(problem.model.weight.end(), 20, 1);
  const Dataset data = fuzz::make_dataset(problem);
  const Posterior posterior(fuzz::make_prior(problem), data);
  const Cost all = Bounds(posterior, data, {}).root_lower();
  Options options;
  options.equivalent_rows_bound = false;
  CHECK(Bounds(posterior, data, options).root_lower() < all);
  options = {};
  options.structure_bound = false;
  const Cost without_structure = Bounds(posterior, data, options).root_lower();
  CHECK(without_structure < all);
  options.distinct_rows_bound = false;
  CHECK(Bounds(posterior, data, options).root_lower() < without_structure);
}
