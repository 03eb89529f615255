// Weights of tests: what a dataset makes of them.
#include <numeric>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "problem.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Dataset;

namespace {

// Columns 0, 2, 3 are alike (3 is the complement), 1 and 4 are not, 5 is constant.
Problem six_columns(std::vector<long> test_weight) {
  Problem problem;
  problem.model.x = {
      {0, 0, 0, 1, 0, 1}, {0, 1, 0, 1, 0, 1}, {1, 0, 1, 0, 0, 1}, {1, 1, 1, 0, 1, 1}};
  problem.model.y = {0, 1, 0, 1};
  problem.model.weight = {1, 1, 1, 1};
  problem.model.test_weight = std::move(test_weight);
  return problem;
}

std::string refusal(const Problem& problem) {
  try {
    (void)fuzz::make_dataset(problem);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

bool names(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(equal_test_weights_are_none) {
  const Dataset none = fuzz::make_dataset(six_columns({}));
  CHECK(!none.weighted());
  for (const long weight : {1L, 7L, 1L << 31}) {
    const Dataset same = fuzz::make_dataset(six_columns(std::vector<long>(6, weight)));
    CHECK(!same.weighted());
    CHECK_EQUAL(same.n_columns(), none.n_columns());
    for (std::size_t c = 0; c < same.n_columns(); ++c) {
      CHECK_EQUAL(same.multiplicity(c), none.multiplicity(c));
      CHECK_EQUAL(same.original(c), none.original(c));
      CHECK_EQUAL(same.test_weight(c), 1);
    }
    CHECK_EQUAL(same.bytes(), none.bytes());
    CHECK(same.key(same.all_rows()) == none.key(none.all_rows()));
  }
}

TEST(the_heaviest_column_stands_for_its_equals) {
  const Dataset data = fuzz::make_dataset(six_columns({3, 6, 6, 9, 12, 3}));
  CHECK(data.weighted());
  CHECK_EQUAL(data.n_columns(), 3u);  // of these, without the divisor of all
  const std::uint32_t original[] = {1, 3, 4};
  const int weight[] = {2, 3, 4}, multiplicity[] = {2, 6, 4};
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK_EQUAL(data.original(c), original[c]);
    CHECK_EQUAL(data.test_weight(c), weight[c]);
    CHECK_EQUAL(data.multiplicity(c), multiplicity[c]);
  }
  CHECK_EQUAL(data.varying_weight(data.all_rows()), 12);
  // A dataset's column is the one that it names, not its complement.
  maptree::RowSet side;
  side.assign_side(data.all_rows(), data.column(1), 1);
  std::vector<std::int64_t> counts(2);
  data.count(side, counts);
  CHECK_EQUAL(data.varying_weight(side), 2);
  CHECK_EQUAL(counts[0], 1);
  CHECK_EQUAL(counts[1], 1);
}

TEST(of_columns_of_the_same_weight_the_first_stands_for_all) {
  const Dataset data = fuzz::make_dataset(six_columns({5, 1, 5, 5, 1, 1}));
  CHECK_EQUAL(data.original(0), 0u);
  CHECK_EQUAL(data.test_weight(0), 5);
  CHECK_EQUAL(data.multiplicity(0), 15);
}

TEST(test_weights_are_part_of_the_keys) {
  const Dataset one = fuzz::make_dataset(six_columns({1, 2, 1, 1, 1, 1}));
  const Dataset twice = fuzz::make_dataset(six_columns({2, 4, 2, 2, 2, 2}));
  const Dataset other = fuzz::make_dataset(six_columns({1, 3, 1, 1, 1, 1}));
  const Dataset none = fuzz::make_dataset(six_columns({}));
  const auto key = [](const Dataset& data) { return data.key(data.all_rows()); };
  CHECK(key(one) == key(twice));
  CHECK(!(key(one) == key(other)));
  CHECK(!(key(one) == key(none)));
}

TEST(without_folding_every_column_keeps_its_weight) {
  const Problem problem = six_columns({3, 6, 6, 9, 12, 4});
  const Dataset data = fuzz::make_dataset(problem, {.rows = true, .columns = false});
  CHECK_EQUAL(data.n_columns(), 5u);
  for (std::size_t c = 0; c < 5; ++c) {
    CHECK_EQUAL(data.original(c), c);
    CHECK_EQUAL(data.test_weight(c), problem.model.test_weight[c]);
    CHECK_EQUAL(data.multiplicity(c), problem.model.test_weight[c]);
  }
}

TEST(test_weights_out_of_range_are_refused_with_their_test) {
  CHECK(names(refusal(six_columns({1, 1, 0, 1, 1, 1})), "test 2"));
  CHECK(names(refusal(six_columns({1, 1})), "there are 2 for 6 tests"));
  const long half = 1L << 30;
  CHECK(names(refusal(six_columns({half, 1, half, 1, 1, 1})), "test 2"));
  CHECK(refusal(six_columns({half, 1, half - 6, 1, 1, 2})).empty());   // 2^31 - 1 in all
  CHECK(!refusal(six_columns({half, 1, half - 6, 1, 1, 3})).empty());  // one more
}

TEST(sums_of_test_weights_are_those_of_the_columns_that_vary) {
  Random random(83);
  for (int round = 0; round < 200; ++round) {
    Problem problem;
    problem.model = fuzz::random_model(random, fuzz::Shape::tall);
    fuzz::random_test_weights(random, problem.model);
    const brute_force::Solver solver(problem.model);
    const Dataset data = fuzz::make_dataset(problem);
    long divisor = 0, sum = 0;
    for (const long w : problem.model.test_weight) divisor = std::gcd(divisor, w);
    for (const std::size_t f : solver.varying(solver.all()))
      sum += problem.model.test_weight[f] / divisor;
    CHECK_EQUAL(data.varying_weight(data.all_rows()), sum);
    for (std::size_t c = 0; c < data.n_columns(); ++c)
      CHECK_EQUAL(data.test_weight(c), problem.model.test_weight[data.original(c)] / divisor);
  }
}
