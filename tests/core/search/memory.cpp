// Memory: what a search and a dataset say they take is what they ask for, and no limit is exceeded
// by a byte. Bytes are counted where they are asked for, so this holds on any machine.
#include <stdexcept>
#include <utility>

#include "check.hpp"
#include "counted_memory.hpp"
#include "problem.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Dataset;
using maptree::Limits;
using maptree::Result;

namespace {

// Of what nobody counts one by one: results, names, a handful of short vectors.
constexpr std::int64_t small_things = 1 << 14;

std::vector<Problem> problems() {
  Random random(5);
  const auto rule = [](const std::vector<int>& row) { return row[0] ^ row[1]; };
  std::vector<Problem> all;
  const std::pair<std::size_t, std::size_t> shapes[] = {{400, 60}, {3000, 20}, {100, 800}, {50, 8}};
  for (const auto& [n_rows, n_columns] : shapes) {
    all.push_back(workbench::noisy(random, n_rows, n_columns, 0.5, 2, rule));
    all.push_back(all.back());
    all.back().options.depth_first = false;
  }
  // Every row of a pattern of its own.
  all.push_back(workbench::noisy(random, 300, 40, 0.5, 3, rule));
  for (double& rho : all.back().model.rho = {1, 1, 1}) rho *= 2;
  for (long& weight : all.back().model.weight) weight = random.between(1L, 3000L);
  // Two rows a class, all different, and a few rows of nearly all classes each.
  for (const std::size_t n_columns : {20, 5}) {
    all.push_back(workbench::noisy(random, 600, n_columns, 1.0, 300, rule));
    all.back().model.rho.assign(300, 0.1);
  }
  // Numbers that all differ, few values of them, in one sum and in two; counts with many events.
  for (const int kind : {0, 1, 2, 3}) {
    for (const auto& [n_rows, n_columns] :
         {std::pair<std::size_t, std::size_t>{2000, 10}, {50, 100}}) {
      all.push_back(workbench::noisy(random, n_rows, n_columns, 0.5, 2, rule));
      brute_force::Problem& model = all.back().model;
      model.rho.resize(1);
      model.outcome = kind == 3 ? brute_force::Outcome::counts : brute_force::Outcome::numbers;
      for (std::size_t r = 0; r < n_rows; ++r) {
        const int label = std::exchange(model.y[r], 0);
        const auto number = static_cast<std::int64_t>(r);
        model.amount.push_back(kind == 0   ? 1000 * label + number
                               : kind == 1 ? 200 * label
                               : kind == 2 ? 200'000 * label + number
                                           : 3 * label + random.below(4));
        if (kind == 3) model.exposure.push_back(1 + random.below(3));
      }
      if (n_rows == 50) all.back().options.depth_first = kind % 2 == 0;
      if (kind == 1)
        for (long& weight : model.weight) weight = random.between(1L, 20L);
    }
  }
  return all;
}

// What a search asks for at its peak, the dataset included, and what it says.
struct Taken {
  std::int64_t counted = 0, said = 0, data = 0;
};
Taken search_bytes(const Problem& problem, const Limits& limits) {
  const maptree::Prior prior = fuzz::make_prior(problem);
  const maptree::Options options = fuzz::make_options(problem);
  const std::size_t before = counted_memory::held();
  const Dataset data = fuzz::make_dataset(problem);
  counted_memory::start();
  const Result result = maptree::search(data, prior, options, limits);
  return {static_cast<std::int64_t>(counted_memory::peak() - before), result.peak_bytes,
          static_cast<std::int64_t>(data.bytes())};
}

}  // namespace

TEST(a_search_says_what_it_takes) {
  for (const Problem& problem : problems()) {
    for (const std::int64_t threads : {1, 3}) {
      const Taken taken = search_bytes(problem, {.max_expansions = 60, .threads = threads});
      // A second proof is counted from the start.
      CHECK(taken.said <= taken.counted + taken.counted / 4 + small_things);
      // A vector that doubles is there twice for a moment; limits allow for that, reports do not.
      CHECK(taken.counted <= taken.said + taken.said / 8 + small_things);
    }
  }
}

TEST(no_search_takes_more_than_its_limit) {
  int n_begun = 0, n_refused = 0;
  for (const Problem& problem : problems()) {
    const std::int64_t usual = search_bytes(problem, {.max_expansions = 200}).counted;
    for (const std::int64_t threads : {1, 3}) {
      if (threads > 1 && !problem.options.depth_first) continue;
      for (std::int64_t limit = 4000; limit < 2 * usual; limit += limit / 4) {
        const Taken taken = search_bytes(
            problem, {.max_expansions = 40, .memory_bytes = limit, .threads = threads});
        // Below what the caller has handed over nothing can be kept.
        if (limit < taken.data + 1000) continue;
        CHECK(taken.counted <= limit && taken.said <= limit);
        (taken.said == taken.data ? n_refused : n_begun) += 1;
      }
    }
  }
  CHECK(n_begun > 40 && n_refused > 40);
}

TEST(many_classes_take_no_more_than_their_rows) {
  // Twice the classes, rows and all, take at most twice the memory, and some that is there anyway.
  const auto bytes = [](std::size_t n_rows, std::size_t n_columns, int n_classes) {
    Random random(7);
    Problem problem = workbench::noisy(random, n_rows, n_columns, 1.0, n_classes,
                                       [](const std::vector<int>&) { return 0; });
    problem.model.rho.assign(static_cast<std::size_t>(n_classes), 0.1);
    problem.model.max_depth = 2;  // the result has counts for every node
    const std::size_t before = counted_memory::held();
    counted_memory::start();
    const Dataset data = fuzz::make_dataset(problem);
    const auto made = static_cast<std::int64_t>(counted_memory::peak() - before);
    const Taken taken = search_bytes(problem, {.max_expansions = 1});
    return std::pair(made, taken.counted);
  };
  for (const std::size_t n_columns : {12, 6}) {
    const auto [made, searched] = bytes(3000, n_columns, 1500);
    const auto [made_of_more, searched_of_more] = bytes(12'000, n_columns, 6000);
    CHECK(made_of_more <= 5 * made);
    CHECK(searched_of_more <= 5 * searched);
  }
}

TEST(no_dataset_takes_more_than_its_limit) {
  for (const Problem& problem : problems()) {
    const brute_force::Problem& model = problem.model;
    const std::vector<std::int32_t> labels(model.y.begin(), model.y.end());
    const std::vector<std::int64_t> weights(model.weight.begin(), model.weight.end());
    std::vector<maptree::Amounts> amounts;
    for (std::size_t r = 0; model.has_amounts() && r < model.x.size(); ++r)
      amounts.push_back({{model.amount[r], model.second(r)}});
    int n_made = 0, n_refused = 0;
    for (std::size_t limit = 200; limit < 4'000'000; limit += limit / 4) {
      const std::size_t before = counted_memory::held();
      maptree::PackedTable table(model.x.size(), model.n_columns());
      for (std::size_t r = 0; r < table.n_rows; ++r)
        for (std::size_t c = 0; c < table.n_columns; ++c)
          if (model.x[r][c] == 1) table.column(c)[r / 64] |= maptree::Word{1} << (r % 64);
      counted_memory::start();
      try {
        const Dataset data(std::move(table), {}, labels, weights,
                           static_cast<int>(model.n_classes()), {}, limit, maptree::no_watch(), {},
                           {}, amounts);
        const std::size_t held = counted_memory::held() - before;
        CHECK(counted_memory::peak() - before <= limit + small_things);
        CHECK(held <= data.bytes() + 2000 && data.bytes() <= held);
        ++n_made;
      } catch (const std::length_error&) {
        ++n_refused;
      }
    }
    CHECK(n_made > 5 && n_refused > 0);
  }
}
