// Expander: what an expansion says of a node's splits holds for the optimum of their children, and
// what it says of leaves and of trees of depth two is exact, in units.
#include "scan/expand.hpp"

#include <map>
#include <set>

#include "check.hpp"
#include "exact_optimum.hpp"
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

 private:
  // The rows of one side, whichever holds the first: equal for columns that part the rows alike.
  [[nodiscard]] std::vector<maptree::Word> partition(const RowSet& rows, std::size_t column) const {
    RowSet part[2];
    for (int side = 0; side < 2; ++side)
      part[side].assign_side(rows, bench_.data.column(column), side);
    return std::min(exact::Solver::words_of(part[0]), exact::Solver::words_of(part[1]));
  }

  void visit(const RowSet& rows, std::size_t depth) {
    if (!seen_.insert({depth, exact::Solver::words_of(rows)}).second) return;
    const Cost optimum = exact_.optimum(rows, depth), leaf = exact_.leaf(rows, depth);
    // A cost that is known to be reached.
    const Cost upper = random_.one_of({optimum, leaf, Cost::infinity()});
    maptree::Expansion out;
    CHECK(bench_.expander.expand(rows, depth, upper, workbench::never, out));
    CHECK_EQUAL(out.leaf.units(), leaf.units());
    CHECK_EQUAL(out.varying, bench_.data.varying_weight(rows));
    if (out.varying == 0) return;
    CHECK_EQUAL(out.base.units(), exact_.base(rows, depth).units());
    std::set<std::vector<maptree::Word>> found;
    std::map<std::vector<maptree::Word>, std::int32_t> heaviest;  // of the columns that part alike
    Cost least = Cost::infinity();
    for (const maptree::SplitBounds& split : out.splits) {
      CHECK(found.insert(partition(rows, split.column)).second || !bench_.options.fold_columns);
      check_split(rows, depth, split);
      heaviest[partition(rows, split.column)] = bench_.data.test_weight(split.column);
      least = std::min(least, exact_.test(split.column) + split.upper[0] + split.upper[1]);
    }
    for (std::size_t c = 0; c < bench_.data.n_columns(); ++c) {
      RowSet part[2];
      if (!exact_.sides(rows, c, part)) continue;
      if (exact_.may_split(depth) && !found.contains(partition(rows, c)))
        CHECK(out.base + exact_.test(c) + exact_.optimum(part[0], depth + 1) +
                  exact_.optimum(part[1], depth + 1) >
              std::min(upper, leaf));
      if (bench_.options.fold_columns && found.contains(partition(rows, c)))
        CHECK(heaviest[partition(rows, c)] >= bench_.data.test_weight(c));
      for (int side = 0; side < 2; ++side) visit(part[side], depth + 1);
    }
    if (!exact_.may_split(depth)) CHECK(out.splits.empty());
    if (bench_.options.pair_expansion) check_best(rows, depth, out, least);
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
    return bench_.bounds.bracket(set, depth, bench_.expander.view().test_cost_on(set.distinct));
  }
  // What the bounds say of a child of the node that was expanded last: a level deeper, where pairs
  // are counted.
  [[nodiscard]] Cost lower(const RowSet& child, std::size_t depth) {
    if (!bench_.options.pair_expansion) return bracket(child, depth).lower;
    Cost least = Cost::infinity();
    for (std::size_t c = 0; c < bench_.data.n_columns(); ++c) {
      RowSet part[2];
      if (exact_.may_split(depth) && exact_.sides(child, c, part))
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
      if (!bench_.data.rows_folded() && !bench_.options.pair_expansion) continue;
      CHECK(split.upper[side] >= exact_.optimum(part[side], depth + 1));
      // X3: the leaf or one more split, whichever is cheaper.
      const int splits = bench_.options.pair_expansion && bench_.data.rows_folded() ? 1 : 0;
      CHECK_EQUAL(split.upper[side].units(), exact_.optimum(part[side], depth + 1, splits).units());
      CHECK(split.lower[side] <= split.upper[side]);
    }
  }

  void check_best(const RowSet& rows, std::size_t depth, const maptree::Expansion& out,
                  Cost least) {
    CHECK_EQUAL(out.best == maptree::no_column, out.base + least >= out.leaf);
    if (out.best == maptree::no_column) return;
    CHECK_EQUAL(out.best_cost.units(), (out.base + least).units());
    CHECK_EQUAL((exact_.test(out.best) + out.best_upper[0] + out.best_upper[1]).units(),
                least.units());
    RowSet part[2], below[2];
    CHECK(exact_.sides(rows, out.best, part));
    for (int side = 0; side < 2; ++side) {
      Cost cost = exact_.leaf(part[side], depth + 1);
      if (out.best_below[side] != maptree::no_column) {
        CHECK(exact_.sides(part[side], out.best_below[side], below));
        cost = exact_.base(part[side], depth + 1) + exact_.test(out.best_below[side]);
        for (int value = 0; value < 2; ++value) {
          CHECK_EQUAL(out.best_leaf[side][value].units(),
                      exact_.leaf(below[value], depth + 2).units());
          cost += out.best_leaf[side][value];
        }
      }
      CHECK_EQUAL(out.best_upper[side].units(), cost.units());
    }
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
  for (int round = 0; round < 300; ++round) {
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
