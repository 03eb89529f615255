// Columns that may not be tested everywhere: what a dataset makes of them, and the search.
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "problem.hpp"
#include "verify.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Dataset;
using maptree::Status;
using maptree::Use;

namespace {

// Columns 0, 2, 3 are alike (3 is the complement), 1 and 4 are not.
Problem five_columns(const std::string& use, std::vector<long> test_weight = {}) {
  Problem problem;
  problem.model.x = {{0, 0, 0, 1, 0}, {0, 1, 0, 1, 0}, {1, 0, 1, 0, 0}, {1, 1, 1, 0, 1}};
  problem.model.y = {0, 0, 1, 1};
  problem.model.weight = {9, 9, 9, 9};
  problem.model.test_weight = std::move(test_weight);
  problem.model.use = use;
  return problem;
}

void check_all(const Problem& problem) {
  const std::string wrong = fuzz::verify(problem);
  CHECK_EQUAL(wrong, std::string());
}

}  // namespace

TEST(only_columns_of_one_use_are_folded) {
  const Dataset data = fuzz::make_dataset(five_columns("*++-+"));
  CHECK(data.restricted());
  CHECK_EQUAL(data.n_columns(), std::size_t{5});
  const Dataset some = fuzz::make_dataset(five_columns("*+**+", {1, 1, 5, 2, 1}));
  CHECK_EQUAL(some.n_columns(), std::size_t{3});
  CHECK_EQUAL(some.original(1), 2u);  // the heaviest of 0, 2 and 3
  CHECK_EQUAL(some.multiplicity(1), 8);
  CHECK(some.use(0) == Use::below_root && some.use(1) == Use::anywhere &&
        some.use(2) == Use::below_root);
  CHECK(!fuzz::make_dataset(five_columns("*****")).restricted());
}

TEST(where_columns_may_be_tested) {
  CHECK(Dataset::may_test(Use::anywhere, 0) && Dataset::may_test(Use::anywhere, 1));
  CHECK(!Dataset::may_test(Use::below_root, 0) && Dataset::may_test(Use::below_root, 1));
  CHECK(!Dataset::may_test(Use::nowhere, 0) && !Dataset::may_test(Use::nowhere, 1));
}

TEST(of_equal_columns_the_one_that_may_be_tested_is_named) {
  for (const char* use : {"--*--", "++*++", "-+*-+"}) {
    const auto result = workbench::run(five_columns(use, {8, 1, 2, 8, 1}));
    CHECK(result.status == Status::optimal);
    CHECK_EQUAL(result.tree.feature[0], 2);
  }
}

TEST(uses_need_one_entry_a_column) {
  maptree::PackedTable table(2, 2);
  table.column(0)[0] = 1;
  table.column(1)[0] = 2;
  const std::vector<std::int32_t> labels{0, 1};
  const std::vector<Use> uses{Use::anywhere, Use::nowhere, Use::nowhere};
  CHECK_THROWS(std::invalid_argument, Dataset(std::move(table), labels, {}, 2, {}, SIZE_MAX,
                                              maptree::no_watch(), {}, uses));
}

// As the fuzzer, which has all kinds of problems; here every one has columns that are restricted.
TEST(searches_keep_to_the_uses_of_columns) {
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    Random random(0xc0ffee + seed);
    Problem problem = fuzz::random_problem(random);
    fuzz::random_uses(random, problem);
    check_all(problem);
  }
}
