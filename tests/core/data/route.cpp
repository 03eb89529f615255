// Routing: rows end where a walk from the root, one row at a time, takes them.
#include "data/route.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "problem.hpp"

using fuzz::Random;
using maptree::Asks;
using maptree::ColumnTest;
using maptree::TestOf;

namespace {

struct Shape {
  std::vector<std::int32_t> test, no, yes;

  std::int32_t grow(Random& random, int n_tests, int depth) {
    const auto node = static_cast<std::int32_t>(test.size());
    for (auto* values : {&test, &no, &yes}) values->push_back(-1);
    if (n_tests > 0 && depth > 0 && random.chance(0.8)) {
      test[node] = random.below(n_tests);
      const bool no_first = random.chance(0.5);  // any order in which children follow parents
      (no_first ? no : yes)[node] = grow(random, n_tests, depth - 1);
      (no_first ? yes : no)[node] = grow(random, n_tests, depth - 1);
    }
    return node;
  }
  [[nodiscard]] maptree::Branches branches() const { return {test, no, yes}; }
};

// A test of a random column, and each row's answer. The column is exactly as long as it has to be,
// so that the sanitizer sees a step beyond its ends.
struct Question {
  std::shared_ptr<void> values;
  std::vector<std::uint8_t> missing;
  ColumnTest test;
  std::vector<bool> answers;
};

template <class T>
Question ask(Random& random, std::size_t n_rows) {
  using Limits = std::numeric_limits<T>;
  Question out;
  TestOf<T> test;
  const std::int64_t step = random.between<std::int64_t>(0, 3);  // 0: one value for all rows
  const auto last = static_cast<std::int64_t>(n_rows) - 1;
  auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(last * step + 1));
  for (T& value : *values) {
    value = random.one_of({static_cast<T>(random.next()), T{0}, T{1}, T{2}, Limits::max(),
                           static_cast<T>(Limits::max() - 1), Limits::lowest(), Limits::infinity(),
                           Limits::quiet_NaN()});
  }
  const bool backwards = random.chance(0.5);
  test.stride = backwards ? -step : step;
  test.values = values->data() + (backwards ? last * step : 0);
  test.asks = random.one_of({Asks::at_most, Asks::equals, Asks::is_nan});
  test.bound = (*values)[random.below(values->size())];
  if (random.chance(0.5)) {
    out.missing.resize(n_rows);
    for (auto& hole : out.missing) hole = random.chance(0.3);
    test.missing = out.missing.data();
    test.missing_stride = 1;
  }
  for (std::int64_t row = 0; row <= last; ++row) {
    const T value = test.values[row * test.stride];
    const bool yes = test.asks == Asks::at_most  ? value <= test.bound
                     : test.asks == Asks::equals ? value == test.bound
                                                 : std::isnan(static_cast<double>(value));
    out.answers.push_back(yes && !(test.missing && test.missing[row]));
  }
  out.test = test;
  out.values = values;
  return out;
}

Question ask_any(Random& random, std::size_t n_rows) {
  constexpr Question (*kinds[])(Random&, std::size_t) = {
      ask<std::int8_t>,  ask<std::uint8_t>,  ask<std::int16_t>, ask<std::uint16_t>,
      ask<std::int32_t>, ask<std::uint32_t>, ask<std::int64_t>, ask<std::uint64_t>,
      ask<float>,        ask<double>};
  return kinds[random.below(std::size(kinds))](random, n_rows);
}

}  // namespace

TEST(rows_end_where_a_walk_takes_them) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const auto n_rows = random.between<std::size_t>(1, 70);  // a few blocks, the last one short
    std::vector<Question> questions;
    std::vector<ColumnTest> tests;
    for (int n = random.between(0, 5); n > 0; --n) {
      questions.push_back(ask_any(random, n_rows));
      tests.push_back(questions.back().test);
    }
    Shape shape;
    shape.grow(random, static_cast<int>(tests.size()), 6);
    std::vector<std::int64_t> leaves(n_rows, -1);
    maptree::route(shape.branches(), tests, leaves);
    for (std::size_t row = 0; row < n_rows; ++row) {
      std::int32_t node = 0;
      while (shape.test[node] >= 0)
        node = questions[shape.test[node]].answers[row] ? shape.yes[node] : shape.no[node];
      CHECK_EQUAL(leaves[row], node);
    }
  }
}

TEST(no_rows_are_routed_nowhere) {
  Shape shape;
  Random random(2);
  shape.grow(random, 0, 0);
  maptree::route(shape.branches(), {}, {});
}

TEST(what_is_no_tree_is_refused) {
  const std::vector<ColumnTest> tests = {TestOf<double>{}};
  const auto attempt = [&](const Shape& shape) {
    std::vector<std::int64_t> leaves(3);
    maptree::route(shape.branches(), tests, leaves);
  };
  for (const Shape& shape :
       {Shape{}, Shape{{0, -1}, {1, -1}, {1, -1}}, Shape{{0, -1, -1}, {1, -1, -1}, {3, -1, -1}},
        Shape{{0, -1, -1}, {0, -1, -1}, {2, -1, -1}}, Shape{{1, -1, -1}, {1, -1, -1}, {2, -1, -1}},
        Shape{{0, -1, -1}, {1, -1, -1}, {-1, -1, -1}}, Shape{{0, -1, -1}, {1, -1}, {2, -1, -1}}})
    CHECK_THROWS(std::invalid_argument, (attempt(shape), 0));
}
