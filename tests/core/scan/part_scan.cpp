// PartScan: every number it gives of a part is that of its splits, tried one by one.
#include "scan/part_scan.hpp"

#include <map>

#include "check.hpp"
#include "ordered_rows.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Options;
using maptree::PartBounds;
using maptree::RowSet;
using ordered_rows::Bench;
using ordered_rows::Splits;

namespace {

// What a part of some rows is said to be, from the definition. Of the best split there may be
// several.
struct Expected {
  Cost lower, loose, leaf, upper, best = Cost::infinity();
  std::map<std::size_t, std::pair<Cost, Cost>> best_leaves;  // by test: of side 0 and of side 1
  std::int64_t weight = 0, varying = 0;
};

// B7 of a part of a node of three classes, from its definition.
Cost few_leaves(const Bench& bench, const maptree::SetCounts& part, const maptree::SetCounts& node,
                std::size_t depth) {
  const maptree::Posterior& posterior = bench.posterior;
  const auto leaf = [&](std::vector<std::pair<std::size_t, std::int64_t>> some) {
    std::vector<std::int64_t> classes(part.classes.size(), 0);
    for (const auto& [k, n] : some) classes[k] = n;
    return posterior.leaf(classes);
  };
  const auto split = [&](std::int64_t rows, std::size_t d) {
    return posterior.split(d) + bench.bounds.spanned_cost(static_cast<std::size_t>(rows));
  };
  const Cost rounding(4 * static_cast<std::int64_t>(node.distinct));
  // By the table of all rows: those of a class end at its own.
  const std::int64_t* const rising = posterior.rising_table();
  const auto pays = [&](std::int64_t rows) {
    for (std::int64_t a = 1; a < rows; ++a)
      if (Cost(rising[rows] - rising[a] - rising[rows - a]) > split(rows, depth) - rounding)
        return true;
    return false;
  };
  std::int64_t lone = 1;
  while (lone < node.distinct && !pays(lone + 1)) ++lone;
  const std::vector<std::int64_t> classes(part.classes.begin(), part.classes.end());
  if (part.weight <= lone) return posterior.leaf(classes);
  Cost apart(0), least = Cost::infinity();
  for (std::size_t k = 0; k < classes.size(); ++k) apart += leaf({{k, classes[k]}});
  if (bench.bounds.may_split(depth + 1)) least = apart + split(lone + 1, depth + 1);
  for (std::size_t k = 0; k < classes.size(); ++k)
    for (std::size_t l = 0; l < k; ++l) {
      if (node.classes[k] == 0 || node.classes[l] == 0) continue;
      least = std::min(least, apart - leaf({{k, classes[k]}}) - leaf({{l, classes[l]}}) +
                                  leaf({{k, classes[k]}, {l, classes[l]}}));
    }
  return split(part.weight, depth) - rounding + least;
}

// Where B7 is used.
bool has_few_leaves(const Bench& bench, const maptree::SetCounts& node) {
  const Options& options = bench.options;
  return options.few_leaves_bound && options.varying_bound && options.distinct_rows_bound &&
         node.weight == node.distinct && node.weight < 1 << 16 &&
         std::ranges::count_if(node.classes, [](std::int32_t n) { return n > 0; }) == 3;
}

int n_few;  // parts that B7 raises

Expected expect(const Bench& bench, const maptree::SetCounts& node,
                const std::vector<std::size_t>& slots, std::size_t depth) {
  const Splits splits(bench, slots);
  const bool few = has_few_leaves(bench, node);
  const maptree::SetCounts all = splits.count(slots);
  const RowSet rows = ordered_rows::set_of(slots, bench.data.n_words());
  const auto leaf_of = [&](const maptree::SetCounts& set, std::size_t d) {
    const std::vector<std::int64_t> classes(set.classes.begin(), set.classes.end());
    return bench.posterior.leaf(classes) + (set.distinct > 1 ? bench.posterior.stop(d) : Cost(0));
  };
  Expected out;
  out.weight = all.weight;
  out.varying = bench.data.varying_weight(rows);
  out.leaf = leaf_of(all, depth);
  out.lower = out.loose = out.upper = out.leaf;
  if (out.varying == 0 || !bench.bounds.may_split(depth)) return out;
  const Cost base = bench.posterior.split(depth) + bench.posterior.log_weight(out.varying);
  const std::int64_t min_leaf = bench.options.min_samples_leaf;
  splits.visit(
      [&](std::size_t test, const maptree::SetCounts& zero, const maptree::SetCounts& one) {
        Cost loose = base + bench.test_cost(test), lower = loose, leaves = loose;
        for (const maptree::SetCounts* side : {&zero, &one}) {
          const Cost spanned = bench.bounds.spanned_cost(static_cast<std::size_t>(side->distinct));
          Cost least(0);
          if (few && test >= bench.data.n_columns())
            least = std::min(leaf_of(*side, depth + 1), few_leaves(bench, *side, node, depth + 1));
          const Cost free = bench.free_bounds.bracket(*side, depth + 1, spanned).lower;
          n_few += least > free ? 1 : 0;
          loose += std::max(least, free);
          lower += std::max(least, bench.bounds.bracket(*side, depth + 1, spanned).lower);
          leaves += leaf_of(*side, depth + 1);
        }
        out.loose = std::min(out.loose, loose);
        if (zero.weight < min_leaf || one.weight < min_leaf) return;
        out.lower = std::min(out.lower, lower);
        out.upper = std::min(out.upper, leaves);
        if (leaves < out.best) out.best_leaves.clear();
        out.best = std::min(out.best, leaves);
        if (leaves == out.best)
          out.best_leaves[test] = {leaf_of(zero, depth + 1), leaf_of(one, depth + 1)};
      });
  return out;
}

// A view of some rows, parted in several ways.
class Parts {
 public:
  Parts(const Bench& bench, const RowSet& rows, std::size_t depth)
      : bench_(bench),
        depth_(depth),
        slots_(ordered_rows::slots_of(rows)),
        view_(bench.data, bench.bounds),
        scan_(bench.data, bench.posterior, bench.options) {
    CHECK(view_.load(rows, maptree::no_watch()));
    CHECK_EQUAL(view_.n_rows(), slots_.size());
    CHECK_EQUAL(view_.varying(), bench.data.varying_weight(rows));
    scan_.start(view_, bench.bounds, depth);
  }

  // `low`: by row, in the order of slots, whether it is in part 1.
  void check(const std::vector<std::uint8_t>& low) {
    std::vector<std::uint8_t> side(view_.n_places(), 0);
    std::vector<std::size_t> parts[2];
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      side[view_.places()[i]] = low[i];
      parts[low[i]].push_back(slots_[i]);
    }
    const maptree::SetCounts node = Splits(bench_, slots_).count(slots_);
    PartBounds out[2];
    CHECK(scan_.scan(side, maptree::no_watch(), out));
    for (int s = 0; s < 2; ++s) {
      CHECK_EQUAL(out[s].weight == 0, parts[s].empty());
      if (!parts[s].empty()) compare(out[s], expect(bench_, node, parts[s], depth_));
      ++n_parts;
    }
  }
  void check_some(Random& random) {
    std::vector<std::uint8_t> low(slots_.size(), 1);
    check(low);
    for (int i = 0; i < 3; ++i) {  // by a threshold
      const auto& ordered = bench_.data.ordered();
      const std::size_t c = random.below(ordered.n_columns());
      const std::uint32_t last = random.below(ordered.n_ranks(c));
      for (std::size_t r = 0; r < low.size(); ++r)
        low[r] = ordered.ranks(c)[slots_[r]] <= last ? 1 : 0;
      check(low);
    }
    const double share = random.uniform();
    for (std::uint8_t& l : low) l = random.chance(share) ? 1 : 0;
    check(low);
  }
  void check_best_cuts() {
    std::vector<maptree::PartScan::BestCut> found;
    CHECK(scan_.find_best_cuts(maptree::no_watch(), found));
    std::map<std::size_t, Cost> best;  // by ordered column
    std::map<std::size_t, Cost> of_test;
    Splits(bench_, slots_)
        .visit(
            [&](std::size_t test, const maptree::SetCounts& zero, const maptree::SetCounts& one) {
              if (test < bench_.data.n_columns()) return;
              if (std::min(zero.weight, one.weight) < bench_.options.min_samples_leaf) return;
              Cost cost = bench_.test_cost(test);
              for (const maptree::SetCounts* side : {&zero, &one}) {
                const std::vector<std::int64_t> classes(side->classes.begin(), side->classes.end());
                cost += bench_.posterior.leaf(classes) +
                        (side->distinct > 1 ? bench_.posterior.stop(depth_ + 1) : Cost(0));
              }
              of_test[test] = cost;
              const auto threshold = static_cast<std::uint32_t>(test - bench_.data.n_columns());
              Cost& least =
                  best.try_emplace(bench_.data.ordered().column_of(threshold), cost).first->second;
              least = std::min(least, cost);
            });
    CHECK_EQUAL(found.size(), best.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0) CHECK(found[i - 1].cost <= found[i].cost);
      const auto& of = view_.ordered()[found[i].column];
      CHECK(best.contains(of.column));
      CHECK_EQUAL(found[i].cost, best[of.column].units());
      // One of the thresholds that the cut stands for has that cost.
      const auto gap = view_.gap(of, found[i].cut);
      Cost least = Cost::infinity();
      for (std::uint32_t t = gap.low; t < gap.high; ++t) {
        const std::size_t test =
            bench_.data.n_columns() + bench_.data.ordered().first(of.column) + t;
        if (of_test.contains(test)) least = std::min(least, of_test[test]);
      }
      CHECK_EQUAL(least.units(), found[i].cost);
      best.erase(of.column);
    }
    CHECK(best.empty());
  }

  static inline int n_parts = 0, n_split = 0;

 private:
  void compare(const PartBounds& out, const Expected& right) {
    CHECK_EQUAL(out.weight, right.weight);
    CHECK_EQUAL(out.varying, right.varying);
    CHECK_EQUAL(out.leaf.units(), right.leaf.units());
    CHECK_EQUAL(out.lower.units(), right.lower.units());
    CHECK_EQUAL(out.loose.units(), right.loose.units());
    CHECK_EQUAL(out.upper.units(), right.upper.units());
    CHECK_EQUAL(out.best == maptree::no_test, right.best_leaves.empty());
    CHECK_EQUAL(out.below() == maptree::no_test, right.upper == right.leaf);
    if (out.best == maptree::no_test) return;
    CHECK(right.best_leaves.contains(out.best));
    if (!right.best_leaves.contains(out.best)) return;
    const auto& [zero, one] = right.best_leaves.at(out.best);
    CHECK_EQUAL(out.leaves[0].units(), zero.units());
    CHECK_EQUAL(out.leaves[1].units(), one.units());
    n_split += out.below() != maptree::no_test ? 1 : 0;
  }

  const Bench& bench_;
  const std::size_t depth_;
  const std::vector<std::size_t> slots_;
  maptree::OrderedView view_;
  maptree::PartScan scan_;
};

maptree::Prior random_prior(Random& random, int n_classes) {
  maptree::Prior prior;
  prior.alpha = random.one_of({0.95, 0.95, 0.5, 0.999});
  prior.beta = random.one_of({0.5, 0.5, 0.0, 2.0});
  prior.rho.assign(static_cast<std::size_t>(n_classes), random.one_of({2.5, 0.3, 0.05}));
  if (random.chance(0.3))
    for (double& rho : prior.rho) rho = random.log_uniform(0.05, 5);
  return prior;
}

}  // namespace

TEST(parts_are_bounded_as_by_trying_every_split) {
  Random random(161);
  Parts::n_parts = Parts::n_split = 0;
  for (int round = 0; round < 800; ++round) {
    ordered_rows::Shape shape;
    shape.n_rows = random.one_of<std::size_t>({2, 10, 40, 64, 65, 150, 300});
    shape.n_classes = random.between(2, 10);
    shape.n_ordered = random.between<std::size_t>(1, 3);
    shape.n_binary = random.one_of<std::size_t>({0, 0, 3});
    shape.most_ranks = random.one_of({4u, 30u, 400u});
    shape.weighted_rows = random.chance(0.4);
    shape.weighted_tests = random.chance(0.5);
    Options options;
    if (random.chance(0.3)) options.min_samples_leaf = random.between(2, 12);
    if (random.chance(0.3)) options.max_depth = random.between(1, 3);
    if (random.chance(0.2)) options.equivalent_rows_bound = false;
    if (random.chance(0.2)) options.distinct_rows_bound = false;
    if (random.chance(0.2)) options.varying_bound = false;
    if (random.chance(0.2)) options.structure_bound = false;
    const Bench bench(ordered_rows::random_table(random, shape),
                      random_prior(random, shape.n_classes), options);
    RowSet rows = bench.data.all_rows();
    for (std::size_t depth = 0; depth < 3; ++depth) {
      if (ordered_rows::slots_of(rows).empty()) break;
      Parts parts(bench, rows, depth);
      parts.check_some(random);
      parts.check_best_cuts();
      parts.check_some(random);  // nothing of the cuts is left
      rows = ordered_rows::some_rows(random, rows, 0.7);
    }
  }
  CHECK(Parts::n_split > Parts::n_parts / 20);
}

// Three classes, rows of weight 1 and many thresholds: what B7 is for.
TEST(parts_of_three_classes_are_bounded_by_few_leaves) {
  Random random(167);
  n_few = 0;
  for (int round = 0; round < 60; ++round) {
    ordered_rows::Shape shape;
    shape.n_rows = random.one_of<std::size_t>({6, 20, 40, 90});
    shape.n_classes = random.one_of({3, 3, 5});
    shape.n_ordered = random.between<std::size_t>(1, 4);
    shape.n_binary = random.one_of<std::size_t>({0, 2});
    shape.most_ranks = 400;
    shape.weighted_tests = random.chance(0.3);
    Options options;
    if (random.chance(0.3)) options.min_samples_leaf = random.between(2, 6);
    if (random.chance(0.4)) options.max_depth = random.between(2, 4);
    if (random.chance(0.1)) options.few_leaves_bound = false;
    ordered_rows::Table table = ordered_rows::random_table(random, shape);
    for (int& label : table.labels)
      label = std::min(label, random.one_of({2, 2, 4}) % shape.n_classes);
    const Bench bench(table, random_prior(random, shape.n_classes), options);
    for (std::size_t depth = 0; depth < 3; ++depth)
      Parts(bench, bench.data.all_rows(), depth).check_some(random);
  }
  CHECK(n_few > 1000);
}

// A row of two classes cannot be split, but with another row beside it: without the bound of
// equivalent rows its cost falls then. Where tests are cheap there, that is the bound of the part.
TEST(parts_are_bounded_where_a_heavy_row_of_two_classes_is_first) {
  Random random(165);
  for (int round = 0; round < 40; ++round) {
    ordered_rows::Table table;
    const std::uint32_t n_rows = random.between(8u, 40u);
    table.n_ranks = {n_rows};
    table.ranks.resize(1);
    const auto add = [&](std::uint32_t rank, int label, std::int64_t weight) {
      table.ranks[0].push_back(rank);
      table.labels.push_back(label);
      table.weights.push_back(weight);
    };
    const std::uint32_t heavy = round % 2 == 0 ? 0 : n_rows - 1;
    for (std::uint32_t r = 0; r < n_rows; ++r) {
      if (r != heavy) add(r, random.chance(0.05) ? 1 : 0, 1);
      if (r == heavy) add(r, 0, 20);
      if (r == heavy) add(r, 1, 20);
    }
    for (std::uint32_t t = 0; t + 1 < n_rows; ++t) table.test_weights.push_back(1);
    table.test_weights[heavy == 0 ? 0 : n_rows - 2] = 200'000;
    table.test_weights[heavy == 0 ? 1 : n_rows - 3] = 100'000;
    Options options;
    options.equivalent_rows_bound = round % 4 < 2;
    options.structure_bound = round % 8 < 4;
    const Bench bench(table, {0.95, 0.5, {0.05, 0.05}}, options);
    Parts(bench, bench.data.all_rows(), 0).check_some(random);
  }
}

// Then rows weigh more than there are of them, whichever class is the first.
TEST(parts_are_bounded_where_every_row_has_several_classes) {
  Random random(166);
  for (int round = 0; round < 60; ++round) {
    const int n_classes = random.between(2, 3);
    ordered_rows::Table table;
    table.n_classes = n_classes;
    table.n_ranks = {12, 4};
    table.ranks.resize(2);
    const bool different = random.chance(0.3);
    for (std::uint32_t r = 0; r < 12; ++r)
      for (int k = 0; k < n_classes; ++k) {
        table.ranks[0].push_back(r);
        table.ranks[1].push_back(r * 7 % 4);
        table.labels.push_back(k);
        table.weights.push_back(k == n_classes - 1 && different ? random.between(1, 4) : 1);
      }
    Options options;
    if (random.chance(0.7)) options.max_depth = 1;
    options.equivalent_rows_bound = random.chance(0.5);
    const Bench bench(table, random_prior(random, n_classes), options);
    Parts parts(bench, bench.data.all_rows(), 0);
    parts.check_some(random);
    parts.check_best_cuts();
  }
}

// Rows that cost nothing, and stops that cost a unit: where all but a row are on one side, the
// split costs one unit less than all others do.
TEST(parts_are_bounded_to_the_unit) {
  for (const std::uint32_t n_rows : {4u, 8u, 9u, 40u})
    for (const int max_depth : {-1, 1}) {
      ordered_rows::Table table;
      table.n_ranks = {n_rows + 1};
      table.ranks.resize(1);
      for (std::uint32_t r = 0; r <= n_rows; ++r) {
        table.ranks[0].push_back(r);
        table.labels.push_back(r == n_rows ? 1 : 0);
        table.weights.push_back(1);
      }
      Options options;
      options.max_depth = max_depth;
      const Bench bench(table, {0.99, 32, {1e9, 1e-9}}, options);
      CHECK_EQUAL(bench.posterior.stop(1).units(), 1);
      Parts parts(bench, bench.data.all_rows(), 0);
      std::vector<std::uint8_t> low(n_rows + 1, 1);
      parts.check(low);
      for (std::size_t i = 0; i <= n_rows; ++i) {  // the row of the other class, among the others
        low[i] = 0;
        parts.check(low);
        low[i] = 1;
      }
    }
}

// Rows of weight 2, each of them one distinct row.
TEST(parts_are_bounded_where_all_rows_weigh_the_same) {
  Random random(166);
  for (int round = 0; round < 40; ++round) {
    ordered_rows::Table table;
    const std::uint32_t n_rows = random.between(2u, 40u);
    table.n_ranks = {n_rows};
    table.ranks.resize(1);
    for (std::uint32_t r = 0; r < n_rows; ++r) {
      table.ranks[0].push_back(r);
      table.labels.push_back(random.chance(r < n_rows / 2 ? 0.2 : 0.8) ? 1 : 0);
      table.weights.push_back(2);
    }
    const Bench bench(table, {0.95, 0.5, {1.0, 1.0}}, {});
    for (std::size_t depth = 0; depth < 2; ++depth)
      Parts(bench, bench.data.all_rows(), depth).check_some(random);
  }
}

// Counters of 16 bits hold 65,535: as much weight, and one more.
TEST(parts_are_bounded_where_counters_end) {
  Random random(162);
  for (const std::int64_t total : {65'535, 65'536, 70'000})
    for (const int n_classes : {2, 3, 4, 5, 7, 8, 9}) {
      ordered_rows::Shape shape;
      shape.n_rows = 60;
      shape.n_classes = n_classes;
      shape.weighted_tests = n_classes == 3;
      ordered_rows::Table table = ordered_rows::random_table(random, shape);
      table.labels[0] = 0;
      table.weights[0] = total - 59;
      const Bench bench(table, random_prior(random, n_classes), {});
      Parts(bench, bench.data.all_rows(), 0).check_some(random);
    }
}

// More rows of one class than counters of 16 bits hold, all of weight 1.
TEST(parts_of_many_rows_are_bounded_by_wide_counters) {
  Random random(163);
  for (const bool weighted : {false, true}) {
    ordered_rows::Table table;
    table.n_ranks = {72'000, 50};
    table.ranks.resize(2);
    for (std::uint32_t r = 0; r < 72'000; ++r) {
      table.ranks[0].push_back(r);
      table.ranks[1].push_back(random.below(50u));
      table.labels.push_back(random.chance(r > 20'000 && r < 23'000 ? 0.6 : 0.02) ? 1 : 0);
      table.weights.push_back(1);
    }
    if (weighted)
      for (std::size_t t = 0; t < table.n_tests(); ++t)
        table.test_weights.push_back(1u << random.below(8));
    Options options;
    if (weighted) options.min_samples_leaf = 300;
    const Bench bench(table, {0.95, 0.5, {2.5, 2.5}}, options);
    CHECK_EQUAL(bench.data.n_distinct_rows(), 72'000u);
    Parts parts(bench, bench.data.all_rows(), 0);
    std::vector<std::uint8_t> low(72'000, 1);
    parts.check(low);
    for (std::size_t i = 0; i < low.size(); ++i) low[i] = i % 7 == 0 ? 1 : 0;
    parts.check(low);
    parts.check_best_cuts();
    // Of few rows only the words that are not empty are stored.
    RowSet few;
    bench.data.part(bench.data.all_rows(), 3000, 1, few);
    CHECK(few.sparse());
    Parts(bench, few, 1).check_some(random);
  }
}

TEST(a_scan_that_is_stopped_says_so) {
  Random random(164);
  for (int variant = 0; variant < 6; ++variant) {
    ordered_rows::Shape shape;
    shape.n_classes = variant == 0 ? 6 : 3;
    shape.n_binary = variant % 2 == 0 ? 2 : 0;
    shape.weighted_rows = variant == 1;
    shape.weighted_tests = variant == 2;
    Options options;
    if (variant == 3) options.max_depth = 1;
    if (variant == 4) options.min_samples_leaf = 4;
    const Bench bench(ordered_rows::random_table(random, shape),
                      random_prior(random, shape.n_classes), options);
    maptree::OrderedView view(bench.data, bench.bounds);
    maptree::PartScan scan(bench.data, bench.posterior, options);
    // The rows loaded, the best cuts found, and the rows parted.
    const auto run = [&](const TurnedClock& clock) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      const bool loaded = view.load(bench.data.all_rows(), watch);
      CHECK_EQUAL(loaded, !watch.stopped());
      if (!loaded) return false;
      scan.start(view, bench.bounds, 0);
      std::vector<maptree::PartScan::BestCut> cuts;
      const bool found = scan.find_best_cuts(watch, cuts);
      CHECK_EQUAL(found, !watch.stopped());
      if (!found) return false;
      std::vector<std::uint8_t> side(view.n_places(), 0);
      for (const std::uint32_t place : view.places()) side[place] = place % 2;
      PartBounds out[2];
      const bool scanned = scan.scan(side, watch, out);
      CHECK_EQUAL(scanned, !watch.stopped());
      return scanned;
    };
    const TurnedClock counted;
    CHECK(run(counted));
    CHECK(counted.n_readings() > 8);
    for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
      CHECK(!run(TurnedClock(late_from)));
    Parts(bench, bench.data.all_rows(), 0).check_some(random);
  }
}
