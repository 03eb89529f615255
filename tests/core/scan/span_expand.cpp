// SpanExpander: what it says of splits and of spans of thresholds holds for every threshold within,
// and no threshold that may be better than what is known is left out.
#include "scan/span_expand.hpp"

#include <map>
#include <set>

#include "check.hpp"
#include "exact_optimum.hpp"
#include "ordered_rows.hpp"
#include "prove/store.hpp"
#include "scan/expand.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::Cost;
using maptree::Expansion;
using maptree::Options;
using maptree::RowSet;
using maptree::SplitBounds;
using ordered_rows::Bench;

namespace {

int n_spans, n_given, n_parted, n_left_out, n_best, n_slack,
    n_rounds;  // so that a test can tell that it met them

class Expansions {
 public:
  Expansions(const Bench& bench, Random& random)
      : bench_(bench),
        random_(random),
        exact_(bench.data, bench.posterior, bench.options.max_depth,
               bench.options.min_samples_leaf),
        expander_(bench.data, bench.posterior, bench.bounds, bench.options) {}

  void check(const RowSet& rows, std::size_t depth) {
    const Cost optimum = exact_.optimum(rows, depth), leaf = exact_.leaf(rows, depth);
    // A cost that is known to be reached, and one that a bound is to reach.
    const Cost upper = random_.one_of({optimum, optimum + Cost(1), leaf, Cost::infinity()});
    Cost goal = random_.one_of({optimum, leaf, Cost::infinity()});
    if (random_.chance(0.3)) goal = Cost(random_.below(leaf.units() + 1));
    const auto leaves = random_.one_of({2u, 3u, maptree::any_leaves, maptree::any_leaves});
    Expansion out;
    CHECK(expander_.expand(bench_.bounds, rows, depth, upper, goal, {}, maptree::no_watch(), out,
                           leaves));
    check_node(rows, depth, out);
    CHECK(out.parted.empty());
    if (out.varying == 0 || !exact_.may_split(depth)) {
      CHECK(out.splits.empty() && out.best == maptree::no_column);
      return;
    }
    check_best(rows, depth, out, leaves);
    if (!exact_.may_split(depth + 1)) {
      CHECK(out.splits.empty());
      CHECK_EQUAL(out.best_cost.units(), optimum.units());
      return;
    }
    std::vector<SplitBounds> splits = out.splits;
    const Cost limit = std::min(upper, leaf);
    check_splits(rows, depth, splits, limit);
    // On, with the spans that are left, whose bounds a proof may have raised.
    for (int round = 0; round < 12; ++round) {
      std::vector<SplitBounds> spans, others;
      for (SplitBounds split : splits) {
        if (split.is_span() && random_.chance(0.8)) {
          raise(rows, depth, split);
          spans.push_back(split);
        } else {
          others.push_back(split);
        }
      }
      if (spans.empty()) break;
      // Whatever is made of a span shares out leaves as it does.
      const std::uint32_t share = random_.below(128u);
      for (SplitBounds& span : spans) span.share = share & 127;
      n_given += static_cast<int>(spans.size());
      goal = random_.one_of({optimum, Cost::infinity()});
      CHECK(expander_.expand(bench_.bounds, rows, depth, upper, goal, spans, maptree::no_watch(),
                             out, leaves));
      check_node(rows, depth, out);
      check_best(rows, depth, out, leaves);
      CHECK(std::ranges::is_sorted(out.parted));
      n_parted += static_cast<int>(out.parted.size());
      if (out.parted.empty()) CHECK(out.splits.empty());
      for (const SplitBounds& split : out.splits) CHECK_EQUAL(split.share, share);
      splits = others;
      for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!std::ranges::binary_search(out.parted, i)) splits.push_back(spans[i]);
      splits.insert(splits.end(), out.splits.begin(), out.splits.end());
      check_splits(rows, depth, splits, limit);
    }
  }

  // Keep::all: whatever the leaf costs, all thresholds are there, and those below the goal alone.
  void check_all(const RowSet& rows, std::size_t depth) {
    const Cost leaf = exact_.leaf(rows, depth);
    const Cost goal(random_.between<std::int64_t>(leaf.units() / 2, 2 * leaf.units() + 1));
    std::vector<SplitBounds> splits, spans;
    const auto below_goal = [&](const SplitBounds& split, const Expansion& out) {
      return split.is_span() &&
             out.base + maptree::place_of(split, bench_.posterior.test_costs()).total < goal;
    };
    for (int round = 0; round == 0 || !spans.empty(); ++round) {
      Expansion out;
      CHECK(expander_.expand(bench_.bounds, rows, depth, Cost::infinity(), goal, spans,
                             maptree::no_watch(), out, maptree::any_leaves, maptree::Keep::all));
      check_node(rows, depth, out);
      if (out.varying == 0 || !exact_.may_split(depth)) return;
      CHECK(round == 0 || !out.parted.empty());  // or it would never end
      if (round > 0 && out.parted.empty()) return;
      for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!std::ranges::binary_search(out.parted, i)) splits.push_back(spans[i]);
      splits.insert(splits.end(), out.splits.begin(), out.splits.end());
      check_splits(rows, depth, splits, Cost::infinity());
      spans.clear();
      std::erase_if(splits, [&](const SplitBounds& split) {
        if (!below_goal(split, out)) return false;
        spans.push_back(split);
        return true;
      });
      n_rounds += round > 0 ? 1 : 0;
    }
  }

 private:
  using Words = std::vector<maptree::Word>;

  // The rows of side 1: thresholds that part the rows alike have the same.
  [[nodiscard]] Words low_side(const RowSet& rows, std::size_t test) const {
    RowSet part;
    bench_.data.part(rows, test, 1, part);
    return exact::Solver::words_of(part);
  }

  void check_node(const RowSet& rows, std::size_t depth, const Expansion& out) const {
    CHECK_EQUAL(out.leaf.units(), exact_.leaf(rows, depth).units());
    CHECK_EQUAL(out.varying, bench_.data.varying_weight(rows));
    if (out.varying > 0) CHECK_EQUAL(out.base.units(), exact_.base(rows, depth).units());
  }

  // What the sides of a span cost, as far as proofs of them may be used.
  void raise(const RowSet& rows, std::size_t depth, SplitBounds& span) {
    if (!expander_.may_raise(bench_.bounds, depth)) {
      span.upper[0] = span.upper[1] = Cost(0);
      return;
    }
    for (int side = 0; side < 2; ++side) {
      RowSet part;
      bench_.data.part(rows, span.test_of_side(side), side, part);
      const Cost optimum = exact_.optimum(part, depth + 1);
      if (random_.chance(0.3)) span.lower[side] = optimum;
      span.upper[side] = random_.chance(0.5) ? optimum : exact_.leaf(part, depth + 1);
    }
  }

  void check_splits(const RowSet& rows, std::size_t depth, const std::vector<SplitBounds>& splits,
                    Cost limit) {
    const std::size_t n_columns = bench_.data.n_columns();
    std::map<std::size_t, std::set<Words>> covered;  // by ordered column, those of its cuts
    std::set<std::size_t> columns;
    const auto column_of = [&](std::size_t test) {
      return bench_.data.ordered().column_of(static_cast<std::uint32_t>(test - n_columns));
    };
    const auto cover = [&](std::size_t test) {
      CHECK(covered[column_of(test)].insert(low_side(rows, test)).second);
    };
    for (const SplitBounds& split : splits) {
      if (!split.is_span()) {
        CHECK(split.first_open == 0 && split.last_open == 0);
        RowSet part[2];
        CHECK(exact_.may_test(split.column, depth) && exact_.sides(rows, split.column, part));
        for (int side = 0; side < 2; ++side) {
          check_few(part[side], depth + 1, split, side);
          CHECK(split.lower[side] <= exact_.optimum(part[side], depth + 1));
          if (split.upper[side] < Cost::infinity())
            CHECK_EQUAL(split.upper[side].units(),
                        exact_.optimum(part[side], depth + 1, 1).units());
        }
        if (split.column < n_columns)
          CHECK(columns.insert(split.column).second);
        else
          cover(split.column);
        continue;
      }
      ++n_spans;
      CHECK(split.column >= n_columns && exact_.may_test(split.column, depth));
      CHECK_EQUAL(column_of(split.column), column_of(split.last()));
      const Words first = low_side(rows, split.column), last = low_side(rows, split.last());
      CHECK(first != last);
      const Cost least = bench_.posterior.test_costs().least(split.column, split.last());
      Words before;
      // All thresholds of the column between the same cuts, from the first below the span's own.
      for (std::size_t t = 0; t < bench_.data.n_tests() - n_columns; ++t) {
        const std::size_t test = n_columns + t;
        if (column_of(test) != column_of(split.column)) continue;
        const Words low = low_side(rows, test);
        if (low != first && low != last && (test < split.column || test > split.last())) continue;
        const bool another = low != before;
        before = low;
        if ((low == first && split.first_open == 0) || (low == last && split.last_open == 0))
          continue;
        if (another) cover(test);
        CHECK(least <= exact_.test(test));
        RowSet part[2];
        if (!exact_.sides(rows, test, part)) continue;
        for (int side = 0; side < 2; ++side)
          CHECK(split.lower[side] <= exact_.optimum(part[side], depth + 1));
      }
      for (int side = 0; side < 2; ++side) {
        RowSet part;
        bench_.data.part(rows, split.test_of_side(side), side, part);
        // The larger sides of other thresholds may cost less by the slack.
        const Cost slack = bench_.bounds.shrink_slack(depth + 1);
        CHECK(split.lower[side] <= std::max(Cost(0), exact_.optimum(part, depth + 1) - slack));
        n_slack += slack > Cost(0) && split.lower[side] > Cost(0) ? 1 : 0;
        if (split.upper[side] != Cost(0) && bench_.options.min_samples_leaf == 1)
          CHECK(split.upper[side] >= exact_.optimum(part, depth + 1));
      }
    }
    for (std::size_t test = 0; test < bench_.data.n_tests(); ++test) {
      RowSet part[2];
      if (!exact_.may_test(test, depth) || !exact_.sides(rows, test, part)) continue;
      if (exact_.weight(part[0]) == 0 || exact_.weight(part[1]) == 0) continue;
      const bool found = test < n_columns ? columns.contains(test)
                                          : covered[column_of(test)].contains(low_side(rows, test));
      if (found) continue;
      ++n_left_out;
      CHECK(exact_.base(rows, depth) + exact_.test(test) + exact_.optimum(part[0], depth + 1) +
                exact_.optimum(part[1], depth + 1) >=
            limit);
    }
  }

  // Bounds of one and two leaves on a side: the costs themselves, where the cut was scanned.
  void check_few(const RowSet& part, std::size_t depth, const SplitBounds& split, int side) {
    const bool scanned = split.upper[side] < Cost::infinity();
    const Cost one = scanned ? exact_.leaf(part, depth) : Cost(0);
    const Cost two = scanned ? exact_.optimum(part, depth, 1000, 2) : Cost(0);
    CHECK_EQUAL(split.few[side][0].units(), one.units());
    CHECK_EQUAL(split.few[side][1].units(), two.units());
  }

  void check_best(const RowSet& rows, std::size_t depth, const Expansion& out,
                  std::uint32_t leaves) {
    // No tree of so few leaves is cheaper that was found on the way.
    const Cost found = out.best == maptree::no_column ? out.leaf : out.best_cost;
    for (const SplitBounds& split : out.splits)
      for (std::uint32_t a = 0; a < 2; ++a)
        for (std::uint32_t b = 0; b < 2; ++b)
          if (!split.is_span() && split.upper[0] < Cost::infinity() && 2 + a + b <= leaves)
            CHECK(out.base + exact_.test(split.column) + split.few[0][a] + split.few[1][b] >=
                  found);
    if (out.best == maptree::no_column) return;
    ++n_best;
    CHECK(out.best_cost < out.leaf);
    CHECK_EQUAL(out.best_cost.units(),
                (out.base + exact_.test(out.best) + out.best_upper[0] + out.best_upper[1]).units());
    RowSet part[2], below[2];
    CHECK(exact_.may_test(out.best, depth) && exact_.sides(rows, out.best, part));
    std::uint32_t there = 2;
    for (int side = 0; side < 2; ++side) {
      Cost cost = exact_.leaf(part[side], depth + 1);
      if (out.best_below[side] != maptree::no_column) {
        ++there;
        CHECK(exact_.may_test(out.best_below[side], depth + 1) &&
              exact_.sides(part[side], out.best_below[side], below));
        cost = exact_.base(part[side], depth + 1) + exact_.test(out.best_below[side]);
        for (int value = 0; value < 2; ++value) {
          CHECK_EQUAL(out.best_leaf[side][value].units(),
                      exact_.leaf(below[value], depth + 2).units());
          cost += out.best_leaf[side][value];
        }
      }
      CHECK_EQUAL(out.best_upper[side].units(), cost.units());
    }
    CHECK(there <= leaves);
  }

  const Bench& bench_;
  Random& random_;
  exact::Solver exact_;
  maptree::SpanExpander expander_;
};

maptree::Prior random_prior(Random& random, int n_classes) {
  maptree::Prior prior;
  prior.alpha = random.one_of({0.95, 0.95, 0.5, 0.999999});
  prior.beta = random.one_of({0.5, 0.5, 0.0, 2.0});
  prior.rho.assign(static_cast<std::size_t>(n_classes), random.one_of({2.5, 0.3, 0.05, 1e-3}));
  if (random.chance(0.25)) {  // stopping is dear near the root, and a row of class 0 costs nothing
    prior.alpha = random.one_of({0.999, 0.999999});
    prior.beta = random.one_of({0.01, 0.1, 0.5});
    prior.rho[0] = 1e6;
  }
  if (random.chance(0.15)) {  // a row of class 0 costs nothing at all, to the unit
    prior.rho.assign(static_cast<std::size_t>(n_classes), 1e-9);
    prior.rho[0] = 1e9;
  }
  return prior;
}

// Few rows and any depth, or more of them and a limit.
ordered_rows::Shape random_shape(Random& random, bool deep) {
  ordered_rows::Shape shape;
  shape.n_rows = deep ? random.between<std::size_t>(3, 11) : random.between<std::size_t>(12, 45);
  shape.n_classes = random.between(2, 5);
  shape.n_ordered = random.one_of<std::size_t>({1, 2, 5});  // more than are parted at first
  shape.n_binary = random.one_of<std::size_t>({0, 0, 2});
  shape.most_ranks = shape.n_ordered > 2 ? random.one_of({2u, 3u}) : random.one_of({5u, 14u, 30u});
  shape.weighted_rows = random.chance(0.4);
  shape.weighted_tests = random.chance(0.5);
  shape.restricted = random.chance(0.3);
  return shape;
}

Options random_options(Random& random, bool deep) {
  Options options;
  if (!deep || random.chance(0.2)) options.max_depth = random.between(1, 3);
  if (random.chance(0.3)) options.min_samples_leaf = random.between(2, 10);
  if (random.chance(0.2)) options.spans = false;
  if (random.chance(0.2)) options.distinct_rows_bound = false;
  if (random.chance(0.2)) options.varying_bound = false;
  if (random.chance(0.2)) options.structure_bound = false;
  return options;
}

}  // namespace

TEST(spans_bound_every_threshold_within) {
  Random random(171);
  n_spans = n_given = n_parted = n_left_out = n_best = n_slack = 0;
  for (int round = 0; round < 500; ++round) {
    const bool deep = random.chance(0.5);
    const ordered_rows::Shape shape = random_shape(random, deep);
    const Bench bench(ordered_rows::random_table(random, shape),
                      random_prior(random, shape.n_classes), random_options(random, deep));
    Expansions expansions(bench, random);
    for (int i = 0; i < 6; ++i) {
      const RowSet rows =
          ordered_rows::some_rows(random, bench.data.all_rows(), i == 0 ? 1.0 : 0.8);
      if (!ordered_rows::slots_of(rows).empty())
        expansions.check(rows, static_cast<std::size_t>(i == 0 ? 0 : random.below(3)));
    }
  }
  CHECK(n_spans > 500);
  CHECK(n_given > 500);
  CHECK(n_parted > 200);
  CHECK(n_left_out > 200);
  CHECK(n_best > 100);
  CHECK(n_slack > 20);
}

TEST(all_thresholds_below_a_goal_are_found) {
  Random random(179);
  n_spans = n_rounds = 0;
  for (int round = 0; round < 120; ++round) {
    const bool deep = random.chance(0.3);
    ordered_rows::Shape shape = random_shape(random, deep);
    shape.n_ordered = random.one_of<std::size_t>({1, 2, 3});
    shape.most_ranks = 30;
    Options options = random_options(random, deep);
    if (random.chance(0.5)) {  // where spans may be left to a proof
      options.max_depth = random.between(3, 5);
      options.min_samples_leaf = 1;
    }
    if (random.chance(0.3)) options.spans = false;
    const Bench bench(ordered_rows::random_table(random, shape),
                      random_prior(random, shape.n_classes), options);
    Expansions expansions(bench, random);
    for (int i = 0; i < 3; ++i) {
      const RowSet rows = ordered_rows::some_rows(random, bench.data.all_rows(), 0.6);
      if (!ordered_rows::slots_of(rows).empty())
        expansions.check_all(rows, static_cast<std::size_t>(random.below(3)));
    }
  }
  CHECK(n_spans > 500);
  CHECK(n_rounds > 100);
}

// A smaller side that costs more than a larger one, within the slack of M: in the larger one a test
// that costs next to nothing parts a row from the others, which stop a level deeper for less.
TEST(spans_bound_larger_sides_that_cost_less) {
  Random random(173);
  for (int round = 0; round < 120; ++round) {
    ordered_rows::Table table;
    const std::uint32_t few = random.between(5u, 7u), all = few + random.between(3u, 4u);
    table.n_ranks = {all};
    table.ranks.resize(1);
    const bool high = round % 2 == 1;  // or that of the high sides
    for (std::uint32_t r = 0; r < all; ++r) table.ranks[0].push_back(high ? all - 1 - r : r);
    table.labels.assign(all, 0);
    table.weights.assign(all, 1);
    table.test_weights.assign(all - 1, 1);
    const std::uint32_t at = high ? all - 1 - few : few - 1, next = high ? at - 1 : at + 1;
    table.test_weights[at] = 1'000'000;
    table.test_weights[next] = random.one_of({1, 900'000});
    Options options;
    options.varying_bound = random.chance(0.5);
    const Bench bench(table, {0.999999, random.one_of({0.1, 0.2}), {1e6, 1e-3}}, options);
    CHECK(bench.bounds.shrink_slack(1) > Cost(0));
    const RowSet rows = bench.data.all_rows();
    RowSet smaller, larger;
    bench.data.part(rows, at, high ? 0 : 1, smaller);
    bench.data.part(rows, next, high ? 0 : 1, larger);
    exact::Solver exact(bench.data, bench.posterior, -1, 1);
    CHECK(exact.optimum(smaller, 1) > exact.optimum(larger, 1));
    Expansions expansions(bench, random);
    for (int i = 0; i < 4; ++i) expansions.check(rows, 0);
  }
}

// The same where the larger side costs less by a tree that a scan does not see: two rows are parted
// from the others, and then from each other.
TEST(spans_bound_larger_sides_that_cost_less_two_levels_below) {
  Random random(176);
  for (int round = 0; round < 40; ++round) {
    const bool high = round % 2 == 1;
    const std::uint32_t few = random.between(7u, 9u), n_ranks = few + 2;
    ordered_rows::Table table;
    table.n_ranks = {n_ranks};
    table.ranks.resize(1);
    table.bits.resize(1);
    const auto add = [&](std::uint32_t rank, int bit) {
      table.ranks[0].push_back(high ? n_ranks - 1 - rank : rank);
      table.bits[0].push_back(bit);
      table.labels.push_back(0);
      table.weights.push_back(1);
    };
    for (std::uint32_t r = 0; r < few; ++r) add(r, 0);
    for (const std::uint32_t rank : {few, few + 1})
      for (const int bit : {0, 1}) add(rank, bit);
    // Of the columns, and of the thresholds in the order of ranks.
    const std::uint32_t at = high ? n_ranks - 1 - few : few - 1, next = high ? at - 1 : at + 1;
    table.test_weights.assign(n_ranks, 1);
    table.test_weights[1 + at] = 1'000'000;
    table.test_weights[1 + next] = 900'000;
    const Bench bench(table, {0.999999, random.one_of({0.1, 0.2}), {1e6, 1e-3}}, {});
    CHECK(bench.bounds.shrink_slack(1) > Cost(0));
    const RowSet rows = bench.data.all_rows();
    RowSet smaller, larger;
    bench.data.part(rows, 1 + at, high ? 0 : 1, smaller);
    bench.data.part(rows, 1 + next, high ? 0 : 1, larger);
    exact::Solver exact(bench.data, bench.posterior, -1, 1);
    CHECK(exact.optimum(smaller, 1) > exact.optimum(larger, 1));
    CHECK(exact.optimum(larger, 1, 1) > exact.optimum(larger, 1));
    Expansions expansions(bench, random);
    for (int i = 0; i < 4; ++i) expansions.check(rows, 0);
  }
}

// Columns of two ranks have one cut, which is a split of its own whether it was scanned or not.
TEST(cuts_that_were_not_scanned_part_rows_into_leaves_of_the_least_size) {
  Random random(177);
  for (int round = 0; round < 800; ++round) {
    ordered_rows::Table table;
    table.n_ranks.assign(6, 2);
    table.ranks.assign(6, {});
    for (std::size_t n = random.between<std::size_t>(6, 16); n > 0; --n) {
      const int label = random.below(2);
      const bool again = !table.labels.empty() && random.chance(0.2);  // the same row
      for (auto& of : table.ranks)
        of.push_back(again ? of.back() : random.chance(0.2) ? 1 - label : label);
      table.labels.push_back(label);
      table.weights.push_back(random.one_of({1, 1, 2, 3}));
    }
    Options options;
    options.max_depth = random.between(2, 3);
    options.min_samples_leaf = random.between(2, 9);
    const Bench bench(table, {0.95, 0.5, {0.1, 0.1}}, options);
    Expansions(bench, random).check(bench.data.all_rows(), 0);
  }
}

// B7 against the optimum: three classes, and thresholds that are many for so few rows.
TEST(few_leaves_bound_no_split_by_more_than_it_costs) {
  Random random(178);
  int n_raised = 0;
  for (int round = 0; round < 110; ++round) {
    ordered_rows::Table table;
    const std::size_t n_rows = random.between<std::size_t>(5, 13);
    const std::uint32_t n_ranks = random.one_of({14u, 30u, 90u});
    table.n_classes = 3;
    table.n_ranks = {n_ranks, n_ranks};
    table.ranks.resize(2);
    const double share = random.one_of({0.0, 0.7});
    for (std::size_t r = 0; r < n_rows; ++r) {
      table.labels.push_back(random.below(3));
      table.weights.push_back(1);
      // Classes that can be told apart in the first column, or not.
      const auto near = static_cast<std::uint32_t>(table.labels.back()) * (n_ranks / 3);
      table.ranks[0].push_back(random.chance(share) ? near + random.below(n_ranks / 3)
                                                    : random.below(n_ranks));
      table.ranks[1].push_back(random.below(n_ranks));
    }
    if (random.chance(0.3))
      for (std::size_t t = 0; t < table.n_tests(); ++t)
        table.test_weights.push_back(1u << random.below(4));
    maptree::Prior prior = random_prior(random, 3);
    if (random.chance(0.7)) prior.rho.assign(3, random.one_of({0.01, 0.1, 0.5}));
    Options options;
    if (random.chance(0.3)) options.max_depth = random.between(2, 4);
    if (random.chance(0.2)) options.min_samples_leaf = 2;
    const Bench bench(table, prior, options);
    Expansions(bench, random).check(bench.data.all_rows(), 0);
    // What the switch changes.
    options.few_leaves_bound = false;
    maptree::SpanExpander with(bench.data, bench.posterior, bench.bounds, bench.options);
    maptree::SpanExpander without(bench.data, bench.posterior, bench.bounds, options);
    maptree::PartBounds raised, plain;
    const RowSet rows = bench.data.all_rows();
    CHECK(with.look(bench.bounds, rows, 0, maptree::no_watch(), raised));
    CHECK(without.look(bench.bounds, rows, 0, maptree::no_watch(), plain));
    CHECK(raised.lower >= plain.lower);
    exact::Solver exact(bench.data, bench.posterior, options.max_depth, options.min_samples_leaf);
    CHECK(raised.lower <= exact.optimum(rows, 0));
    n_raised += raised.lower > plain.lower ? 1 : 0;
  }
  CHECK(n_raised > 5);
}

// Without a limit of depth thresholds are looked at one by one. With one, a bound of a side that a
// proof has raised bounds larger sides only where these cost no less, and it is of use only where
// more than a scan can tell.
TEST(sides_of_spans_are_raised_where_larger_ones_cost_no_less) {
  Random random(175);
  int n_yes = 0, n_no = 0, n_next = 0;
  for (int round = 0; round < 300; ++round) {
    const bool deep = random.chance(0.5);
    const ordered_rows::Shape shape = random_shape(random, deep);
    Options options = random_options(random, deep);
    if (random.chance(0.5)) options.max_depth = random.between(3, 6);
    const Bench bench(ordered_rows::random_table(random, shape),
                      random_prior(random, shape.n_classes), options);
    const maptree::SpanExpander expander(bench.data, bench.posterior, bench.bounds, bench.options);
    const maptree::Expander any(bench.data, bench.posterior, bench.bounds, bench.options);
    for (std::size_t depth = 0; depth < 4; ++depth) {
      const Cost slack = bench.bounds.shrink_slack(depth + 1);
      const bool may = bench.options.spans && bench.options.min_samples_leaf == 1 &&
                       static_cast<std::int64_t>(depth) + 2 < bench.options.max_depth &&
                       slack == Cost(0);
      CHECK_EQUAL(expander.may_raise(bench.bounds, depth), may);
      CHECK_EQUAL(any.may_raise_spans(bench.bounds, depth), may);
      (may ? n_yes : n_no) += 1;
      n_next += slack > Cost(0) && bench.bounds.shrink_slack(depth + 2) == Cost(0) ? 1 : 0;
    }
  }
  CHECK(n_yes > 100);
  CHECK(n_no > 100);
  CHECK(n_next > 10);
}

TEST(a_look_tells_the_best_split_into_two_leaves) {
  Random random(174);
  int n_split = 0;
  for (int round = 0; round < 100; ++round) {
    const ordered_rows::Shape shape = random_shape(random, false);
    const Bench bench(ordered_rows::random_table(random, shape),
                      random_prior(random, shape.n_classes), random_options(random, false));
    exact::Solver exact(bench.data, bench.posterior, bench.options.max_depth,
                        bench.options.min_samples_leaf);
    maptree::SpanExpander expander(bench.data, bench.posterior, bench.bounds, bench.options);
    for (std::size_t depth = 0; depth < 2; ++depth) {
      const RowSet rows = ordered_rows::some_rows(random, bench.data.all_rows(), 0.7);
      if (ordered_rows::slots_of(rows).empty()) continue;
      maptree::PartBounds out;
      CHECK(expander.look(bench.bounds, rows, depth, maptree::no_watch(), out));
      CHECK_EQUAL(out.weight, exact.weight(rows));
      CHECK_EQUAL(out.varying, bench.data.varying_weight(rows));
      CHECK_EQUAL(out.leaf.units(), exact.leaf(rows, depth).units());
      CHECK_EQUAL(out.upper.units(), exact.optimum(rows, depth, 1).units());
      CHECK(out.lower <= exact.optimum(rows, depth));
      if (out.below() == maptree::no_test) continue;
      ++n_split;
      RowSet part[2];
      CHECK(exact.sides(rows, out.best, part));
      for (int side = 0; side < 2; ++side)
        CHECK_EQUAL(out.leaves[side].units(), exact.leaf(part[side], depth + 1).units());
    }
  }
  CHECK(n_split > 20);
}

TEST(an_expansion_by_spans_that_is_stopped_says_so) {
  Random random(172);
  for (int variant = 0; variant < 6; ++variant) {
    ordered_rows::Shape shape;
    shape.n_classes = variant == 0 ? 6 : 2;
    shape.n_binary = variant == 5 ? 5 : 2;
    shape.weighted_tests = variant == 1;
    Options options;
    if (variant == 2) options.max_depth = 1;
    if (variant == 3) options.max_depth = 2;
    if (variant == 4) options.min_samples_leaf = 3;
    ordered_rows::Table table = ordered_rows::random_table(random, shape);
    if (variant == 5)  // no ordered column varies
      for (auto& of : table.ranks) std::ranges::fill(of, 0u);
    const Bench bench(table, {0.95, 0.5, std::vector<double>(variant == 0 ? 6 : 2, 0.5)}, options);
    maptree::SpanExpander expander(bench.data, bench.posterior, bench.bounds, options);
    const RowSet rows = bench.data.all_rows();
    std::vector<SplitBounds> spans;  // none at first, then those that are left
    const auto expand = [&](const TurnedClock& clock, Expansion& out) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      const bool done = expander.expand(bench.bounds, rows, 0, Cost::infinity(), Cost::infinity(),
                                        spans, watch, out);
      CHECK_EQUAL(done, !watch.stopped());
      return done;
    };
    const auto look = [&](const TurnedClock& clock) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      maptree::PartBounds out;
      const bool done = expander.look(bench.bounds, rows, 0, watch, out);
      CHECK_EQUAL(done, !watch.stopped());
      return done;
    };
    for (int part = 0; part < 2; ++part) {
      const TurnedClock counted;
      Expansion whole, out;
      CHECK(expand(counted, whole));
      CHECK(counted.n_readings() > 4);
      for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
        CHECK(!expand(TurnedClock(late_from), out));
      CHECK(expand(TurnedClock(), out));  // nothing of it is left in the expander
      CHECK_EQUAL(out.splits.size(), whole.splits.size());
      CHECK_EQUAL(out.best, whole.best);
      for (std::size_t i = 0; i < std::min(out.splits.size(), whole.splits.size()); ++i) {
        CHECK(static_cast<const maptree::Tests&>(out.splits[i]) == whole.splits[i]);
        for (int side = 0; side < 2; ++side)
          CHECK_EQUAL(out.splits[i].lower[side].units(), whole.splits[i].lower[side].units());
      }
      for (const SplitBounds& split : whole.splits)
        if (split.is_span()) spans.push_back(split);
      if (spans.empty()) break;
    }
    const TurnedClock counted;
    CHECK(look(counted));
    for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
      CHECK(!look(TurnedClock(late_from)));
    CHECK(look(TurnedClock()));
  }
}
