// Expander: what an expansion says of a node's splits holds for the optimum of their children, and
// what it says of leaves and of trees of depth two is exact, in units.
#include "scan/expand.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "check.hpp"
#include "exact_optimum.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::RowSet;

namespace {

// All nodes that splits can make of a problem's rows, each expanded.
class Expansions {
 public:
  Expansions(const Problem& problem, Random& random)
      : bench_(problem),
        exact_(bench_.data, bench_.posterior, problem.model.max_depth, problem.model.min_leaf),
        random_(random) {}

  void check() { visit(bench_.data.all_rows(), 0); }

  // Of a table that is too large for the rest: what is said of a node's splits.
  void check_node(const RowSet& rows, std::size_t depth) {
    maptree::Expansion out;
    CHECK(bench_.expander.expand(rows, depth, Cost::infinity(), workbench::never, out));
    CHECK_EQUAL(out.varying, bench_.data.varying_weight(rows));
    CHECK_EQUAL(out.splits.size(), static_cast<std::size_t>(out.varying));
    for (const maptree::SplitBounds& split : out.splits) {
      RowSet part[2];
      CHECK(exact_.sides(rows, split.column, part));
      for (int side = 0; side < 2; ++side) {
        CHECK_EQUAL(split.lower[side].units(), lower(part[side], depth + 1).units());
        CHECK_EQUAL(split.upper[side].units(), exact_.optimum(part[side], depth + 1, 1).units());
      }
    }
  }
  [[nodiscard]] const maptree::Dataset& data() const { return bench_.data; }

 private:
  // The rows of one side, whichever holds the first, and where the column may be tested: equal for
  // columns that part the rows alike, in the same places.
  using Partition = std::pair<std::vector<maptree::Word>, maptree::Use>;
  [[nodiscard]] Partition partition(const RowSet& rows, std::size_t column) const {
    RowSet part[2];
    for (int side = 0; side < 2; ++side)
      part[side].assign_side(rows, bench_.data.column(column), side);
    return {std::min(exact::Solver::words_of(part[0]), exact::Solver::words_of(part[1])),
            bench_.data.use(column)};
  }

  void visit(const RowSet& rows, std::size_t depth) {
    if (!seen_.insert({depth, exact::Solver::words_of(rows)}).second) return;
    if (depth > 0 && !exact_.may_split(depth - 1)) return;
    const Cost optimum = exact_.optimum(rows, depth), leaf = exact_.leaf(rows, depth);
    // A cost that is known to be reached.
    const Cost upper = random_.one_of({optimum, leaf, Cost::infinity()});
    const auto leaves = random_.one_of({2u, 3u, 4u, maptree::any_leaves});
    maptree::Expansion out;
    CHECK(bench_.expander.expand(bench_.bounds, rows, depth, upper, workbench::never, out,
                                 Cost::infinity(), {}, leaves));
    CHECK_EQUAL(out.leaf.units(), leaf.units());
    CHECK_EQUAL(out.varying, bench_.data.varying_weight(rows));
    if (out.varying == 0) return;
    CHECK_EQUAL(out.base.units(), exact_.base(rows, depth).units());
    std::set<Partition> found;
    std::map<Partition, std::int32_t> heaviest;  // of the columns that part alike
    Cost least = Cost::infinity();
    for (const maptree::SplitBounds& split : out.splits) {
      CHECK(exact_.may_test(split.column, depth));
      CHECK(found.insert(partition(rows, split.column)).second || !bench_.options.fold_columns);
      check_split(rows, depth, split);
      heaviest[partition(rows, split.column)] = bench_.data.test_weight(split.column);
      least = std::min(least, exact_.test(split.column) + small_tree(rows, depth, split, leaves));
    }
    for (std::size_t c = 0; c < bench_.data.n_columns(); ++c) {
      RowSet part[2];
      if (!exact_.sides(rows, c, part)) continue;
      if (exact_.may_split(depth) && exact_.may_test(c, depth) &&
          !found.contains(partition(rows, c)))
        CHECK(out.base + exact_.test(c) + exact_.optimum(part[0], depth + 1) +
                  exact_.optimum(part[1], depth + 1) >
              std::min(upper, leaf));
      if (bench_.options.fold_columns && found.contains(partition(rows, c)))
        CHECK(heaviest[partition(rows, c)] >= bench_.data.test_weight(c));
      for (int side = 0; side < 2; ++side) visit(part[side], depth + 1);
    }
    if (!exact_.may_split(depth)) CHECK(out.splits.empty());
    if (bench_.options.pair_expansion) check_best(rows, depth, out, least, leaves);
  }

  // The cheapest tree of a split that has so many leaves at most, one or two on a side.
  [[nodiscard]] Cost small_tree(const RowSet& rows, std::size_t depth,
                                const maptree::SplitBounds& split, std::uint32_t leaves) {
    RowSet part[2];
    CHECK(exact_.sides(rows, split.column, part));
    Cost cost[2][2];
    for (int side = 0; side < 2; ++side) {
      cost[side][0] = exact_.leaf(part[side], depth + 1);
      cost[side][1] = split.upper[side];
    }
    Cost least = Cost::infinity();
    for (std::uint32_t a = 0; a < 2; ++a)
      for (std::uint32_t b = 0; b < 2; ++b)
        if (2 + a + b <= leaves) least = std::min(least, cost[0][a] + cost[1][b]);
    return least;
  }

  [[nodiscard]] maptree::Bracket bracket(const RowSet& rows, std::size_t depth) {
    maptree::SetCounts set;
    set.clear(static_cast<std::size_t>(bench_.data.n_classes()));
    for (std::size_t s = 0; s < bench_.data.segments().size(); ++s) {
      const maptree::Segment& segment = bench_.data.segments()[s];
      std::int32_t n = 0;
      for (std::size_t w = segment.first_word; w < segment.first_word + segment.n_words; ++w)
        maptree::for_each_slot(rows.word(w), 0, [&](std::size_t) { ++n; });
      set.add(segment.pattern, n, bench_.bounds.group_floor(s).units());
    }
    if (bench_.data.has_amounts()) {
      std::vector<std::int64_t> sums(bench_.data.n_sums());
      bench_.data.count(rows, sums);
      std::copy_n(sums.end() - 2, 2, set.amounts);
    }
    return bench_.bounds.bracket(set, depth, bench_.expander.view().test_cost_on(set.distinct));
  }
  // What the bounds say of a child of the node that was expanded last: a level deeper, where pairs
  // are counted.
  [[nodiscard]] Cost lower(const RowSet& child, std::size_t depth) {
    if (!bench_.options.pair_expansion) return bracket(child, depth).lower;
    Cost least = Cost::infinity();
    for (std::size_t c = 0; c < bench_.data.n_columns(); ++c) {
      RowSet part[2];
      if (exact_.may_split(depth) && exact_.may_test(c, depth) && exact_.sides(child, c, part))
        least = std::min(least, exact_.test(c) + bracket(part[0], depth + 1).lower +
                                    bracket(part[1], depth + 1).lower);
    }
    return std::min(exact_.leaf(child, depth), exact_.base(child, depth) + least);
  }

  void check_split(const RowSet& rows, std::size_t depth, const maptree::SplitBounds& split) {
    RowSet part[2];
    CHECK(exact_.sides(rows, split.column, part));
    for (int side = 0; side < 2; ++side) {
      CHECK(split.lower[side] <= exact_.optimum(part[side], depth + 1));
      CHECK_EQUAL(split.lower[side].units(), lower(part[side], depth + 1).units());
      check_few(part[side], depth + 1, split, side);
      if (!bench_.data.rows_folded() && !bench_.options.pair_expansion) continue;
      CHECK(split.upper[side] >= exact_.optimum(part[side], depth + 1));
      // X3: the leaf or one more split, whichever is cheaper.
      const int splits = bench_.options.pair_expansion && bench_.data.rows_folded() ? 1 : 0;
      CHECK_EQUAL(split.upper[side].units(), exact_.optimum(part[side], depth + 1, splits).units());
      CHECK(split.lower[side] <= split.upper[side]);
    }
  }

  // Bounds of one and two leaves: the costs themselves, as far as they are known.
  void check_few(const RowSet& child, std::size_t depth, const maptree::SplitBounds& split,
                 int side) {
    const bool pairs = bench_.options.pair_expansion, folded = bench_.data.rows_folded();
    Cost leaf = exact_.leaf(child, depth);
    if (!pairs && !(folded && bench_.options.distinct_rows_bound) &&
        bench_.data.varying_weight(child) > 0)
      leaf = leaf - bench_.posterior.stop(depth);
    CHECK_EQUAL(split.few[side][0].units(), leaf.units());
    const Cost two = pairs && folded ? exact_.optimum(child, depth, 1000, 2) : Cost(0);
    CHECK_EQUAL(split.few[side][1].units(), two.units());
  }

  void check_best(const RowSet& rows, std::size_t depth, const maptree::Expansion& out, Cost least,
                  std::uint32_t leaves) {
    CHECK_EQUAL(out.best == maptree::no_column, out.base + least >= out.leaf);
    if (out.best == maptree::no_column) return;
    CHECK_EQUAL(out.best_cost.units(), (out.base + least).units());
    CHECK_EQUAL((exact_.test(out.best) + out.best_upper[0] + out.best_upper[1]).units(),
                least.units());
    RowSet part[2], below[2];
    CHECK(exact_.sides(rows, out.best, part));
    CHECK(exact_.may_test(out.best, depth));
    std::uint32_t there = 2;
    for (int side = 0; side < 2; ++side) {
      Cost cost = exact_.leaf(part[side], depth + 1);
      if (out.best_below[side] != maptree::no_column) {
        ++there;
        CHECK(exact_.sides(part[side], out.best_below[side], below));
        CHECK(exact_.may_test(out.best_below[side], depth + 1));
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

  workbench::Bench bench_;
  exact::Solver exact_;
  Random& random_;
  std::set<std::pair<std::size_t, std::vector<maptree::Word>>> seen_;
};

}  // namespace

// The costs of small counts of two classes are in a table of their own: around its end.
TEST(expansions_hold_where_the_table_of_two_classes_ends) {
  Random random(52);
  for (int round = 0; round < 60; ++round) {
    Problem problem;
    for (int r = 0; r < 12; ++r) {
      // All rows of one class stay together, whatever is split.
      const bool same = r % 2 == round % 2;
      problem.model.x.push_back(same ? std::vector<int>(3)
                                     : std::vector{random.below(2), random.below(2), 1});
      problem.model.y.push_back(r % 2);
      problem.model.weight.push_back(1);
    }
    for (std::size_t k = 0; k < 2; ++k) problem.model.weight[k] = random.between(186L, 188L);
    problem.options.fold_rows = random.chance(0.7);
    if (round % 3 == 0) fuzz::random_test_weights(random, problem.model);
    Expansions(problem, random).check();
  }
}

TEST(expansions_hold_for_every_node) {
  Random random(51);
  for (int round = 0; round < 600; ++round) {
    Problem problem;
    problem.model =
        fuzz::random_model(random, round % 10 == 0 ? fuzz::Shape::shallow : fuzz::Shape::tall);
    while (problem.model.n_columns() > (round % 10 == 0 ? 20 : 5))
      for (auto& row : problem.model.x) row.pop_back();
    const double off = random.one_of({0.0, 0.0, 0.3});
    for (const auto member :
         {&maptree::Options::fold_rows, &maptree::Options::fold_columns, &maptree::Options::compact,
          &maptree::Options::pair_expansion, &maptree::Options::distinct_rows_bound,
          &maptree::Options::varying_bound, &maptree::Options::structure_bound,
          &maptree::Options::equivalent_rows_bound})
      problem.options.*member = !random.chance(off);
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    if (round % 3 == 0) fuzz::random_uses(random, problem);
    Expansions(problem, random).check();
  }
}

TEST(expansions_hold_for_numbers_and_counts) {
  Random random(61);
  for (int round = 0; round < 400; ++round) {
    Problem problem;
    problem.model =
        fuzz::random_model(random, round % 10 == 0 ? fuzz::Shape::shallow : fuzz::Shape::tall);
    while (problem.model.n_columns() > (round % 10 == 0 ? 20 : 5))
      for (auto& row : problem.model.x) row.pop_back();
    fuzz::random_amounts(random, problem);
    const double off = random.one_of({0.0, 0.0, 0.3});
    for (const auto member :
         {&maptree::Options::fold_rows, &maptree::Options::fold_columns, &maptree::Options::compact,
          &maptree::Options::pair_expansion, &maptree::Options::distinct_rows_bound,
          &maptree::Options::varying_bound, &maptree::Options::structure_bound,
          &maptree::Options::equivalent_rows_bound})
      problem.options.*member = !random.chance(off);
    problem.options.kernel =
        random.one_of({maptree::Kernel::plain, maptree::Kernel::avx2, maptree::Kernel::automatic});
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    if (round % 3 == 0) fuzz::random_uses(random, problem);
    Expansions(problem, random).check();
    if (check::failures > 0) {
      fuzz::write(std::cout, problem);
      return;
    }
  }
}

// Of many classes, those that a node's rows have are counted, numbered anew at every node.
TEST(expansions_hold_where_nodes_have_few_of_many_classes) {
  Random random(54);
  for (int round = 0; round < 40; ++round) {
    Problem problem;
    const auto n_classes = random.between<std::size_t>(31, 60);  // 32 are the most that are few
    problem.model.rho.assign(n_classes, random.log_uniform(0.01, 2));
    const std::size_t n_rows = random.between<std::size_t>(20, 90);
    for (std::size_t r = 0; r < n_rows; ++r) {
      problem.model.x.push_back(
          {random.below(2), random.below(2), random.below(2), random.below(2)});
      const auto& row = problem.model.x.back();
      const int rule = 2 * row[0] + row[1] + 20 * row[2];
      problem.model.y.push_back(random.chance(0.3) ? random.below(static_cast<int>(n_classes))
                                                   : rule);
      problem.model.weight.push_back(random.one_of({1, 1, 3}));
    }
    if (random.chance(0.2)) problem.model.min_leaf = random.between(2L, 9L);
    problem.options.fold_rows = random.chance(0.7);
    problem.options.compact = random.chance(0.7);
    problem.options.equivalent_rows_bound = random.chance(0.7);
    Expansions(problem, random).check();
  }
}

// A column that would part the classes, but leaves too few rows on one side: it may not be the
// split, and still is one of the columns that vary below.
TEST(expansions_hold_where_the_best_column_may_not_split) {
  Random random(53);
  for (int round = 0; round < 40; ++round) {
    Problem problem;
    for (int r = 0; r < 30; ++r) {
      problem.model.x.push_back({r < 3 ? 1 : 0, random.below(2), random.below(2), random.below(2)});
      problem.model.y.push_back(r < 3 ? 1 : 0);
      problem.model.weight.push_back(1);
    }
    problem.model.rho.assign(2, 0.3);
    problem.model.min_leaf = random.between(2L, 5L);
    if (round % 2 == 0) fuzz::random_test_weights(random, problem.model);
    Expansions(problem, random).check();
  }
}

// With so many classes the clock is read between two blocks of columns, and sets of few rows are
// stored without their empty words.
TEST(expansions_hold_where_columns_are_scanned_in_parts) {
  Random random(59);
  Problem problem;
  for (int r = 0; r < 6000; ++r) {
    problem.model.x.push_back(std::vector<int>(17));
    for (int& value : problem.model.x.back()) value = random.below(2);
    problem.model.y.push_back(r);
    problem.model.weight.push_back(1);
  }
  problem.model.rho.assign(6000, 0.01);
  Expansions expansions(problem, random);
  RowSet rows = expansions.data().all_rows(), part;
  expansions.check_node(rows, 0);
  for (std::size_t c = 0; c < 4; ++c) {
    part.assign_side(rows, expansions.data().column(c), random.below(2));
    std::swap(rows, part);
  }
  CHECK(rows.sparse());
  expansions.check_node(rows, 4);
}

// Of two splits that cost the same to the last unit, the first may leave too few rows on one side:
// with rho = 1, (12, 5) rows into (0, 2) and (12, 3) or into (1, 3) and (11, 2).
TEST(expansions_hold_where_a_split_that_is_not_allowed_costs_the_same) {
  Random random(56);
  for (int round = 0; round < 40; ++round) {
    const int swapped = random.below(2);
    std::vector<std::vector<int>> rows;  // values of five columns, class, weight
    for (const auto& [first, second, rest, label, weight] : {std::array{1, 1, 0, 1, 2},
                                                             {0, 1, 0, 0, 1},
                                                             {0, 1, 0, 1, 1},
                                                             {0, 0, 0, 0, 11},
                                                             {0, 0, 0, 1, 2},
                                                             {0, 0, 1, 1, 40}})
      rows.push_back({first, second, rest, rest, rest, label ^ swapped, weight});
    std::size_t order[] = {0, 1, 2, 3, 4};
    for (std::size_t i = 4; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    int flipped[5];
    for (int& flip : flipped) flip = random.below(2);
    Problem problem;
    for (const auto& row : rows) {
      auto& values = problem.model.x.emplace_back();
      for (const std::size_t c : order) values.push_back(row[c] ^ flipped[c]);
      problem.model.y.push_back(row[5]);
      problem.model.weight.push_back(row[6]);
    }
    problem.model.rho.assign(2, 1);
    problem.model.min_leaf = 3;
    Expansions(problem, random).check();
  }
}

// The last levels that a limit on the depth leaves: leaves are all that may follow.
TEST(expansions_hold_at_the_greatest_depth) {
  Random random(57);
  for (int round = 0; round < 150; ++round) {
    Problem problem;
    problem.model = fuzz::random_model(random, fuzz::Shape::tall);
    while (problem.model.n_columns() > 5)
      for (auto& row : problem.model.x) row.pop_back();
    problem.model.max_depth = random.between(1L, 3L);
    for (const auto member : {&maptree::Options::fold_rows, &maptree::Options::distinct_rows_bound,
                              &maptree::Options::equivalent_rows_bound})
      problem.options.*member = random.chance(0.6);
    Expansions(problem, random).check();
  }
}

// At whichever reading of the clock an expansion is stopped, it says so.
TEST(an_expansion_that_is_stopped_is_void) {
  Random random(58);
  for (int variant = 0; variant < 11; ++variant) {
    Problem problem = workbench::noisy(random, 50, 9, 0.2, variant == 0 ? 40 : 2,
                                       [](const auto& row) { return row[0] ^ row[1]; });
    problem.model.rho.assign(variant == 0 ? 40 : 2, 0.5);
    if (variant == 1) problem.options.compact = false;
    if (variant == 2) problem.options.fold_columns = false;
    if (variant == 3) problem.options.pair_expansion = false;
    if (variant == 4) problem.options.fold_rows = false;
    if (variant == 5)  // impure groups
      for (auto& row : problem.model.x) std::fill(row.begin() + 4, row.end(), 0);
    if (variant == 6) problem.model.max_depth = 1;
    if (variant == 7) problem.model.max_depth = 2;
    if (variant == 8) problem.model.test_weight = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    if (variant > 8) {  // numbers, in one sum and in two
      problem.model.rho.resize(1);
      problem.model.outcome = brute_force::Outcome::numbers;
      for (int& label : problem.model.y)
        problem.model.amount.push_back(std::exchange(label, 0) * (variant == 9 ? 300 : 1 << 20));
    }
    workbench::Bench bench(problem);
    const auto expand = [&](const TurnedClock& clock, maptree::Expansion& out) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      const bool done =
          bench.expander.expand(bench.data.all_rows(), 0, Cost::infinity(), watch, out);
      CHECK_EQUAL(done, !watch.stopped());
      return done;
    };
    const TurnedClock counted;
    maptree::Expansion whole;
    CHECK(expand(counted, whole));
    CHECK(counted.n_readings() > 20);
    for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from) {
      maptree::Expansion out;
      CHECK(!expand(TurnedClock(late_from), out));
    }
    // Nothing of it is left in the expander.
    maptree::Expansion again;
    CHECK(expand(TurnedClock(), again));
    CHECK_EQUAL(again.splits.size(), whole.splits.size());
    CHECK_EQUAL(again.best, whole.best);
    for (std::size_t i = 0; i < whole.splits.size(); ++i)
      for (int side = 0; side < 2; ++side) {
        CHECK_EQUAL(again.splits[i].lower[side].units(), whole.splits[i].lower[side].units());
        CHECK_EQUAL(again.splits[i].upper[side].units(), whole.splits[i].upper[side].units());
      }
  }
}
