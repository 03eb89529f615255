// Limits: in every phase the clock is read once in a bounded amount of work, and the first reading
// past the limit ends it. Under a clock that the test turns, so nothing here waits or is measured.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "problem.hpp"
#include "sample/mcmc.hpp"
#include "sample/smc.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::ClockUse;
using maptree::Dataset;
using maptree::Limits;
using maptree::Prior;
using maptree::Result;
using maptree::Status;

namespace {

constexpr std::int64_t per_reading = 100'000;  // the default

// What is promised: a piece of work at most after the reading was due, and some units a row. The
// largest pieces are those of tables that are filled; without them all are smaller.
std::int64_t most_work(std::size_t n_rows, std::int64_t total_weight) {
  const std::int64_t at_once = total_weight < (1 << 16) ? 300'000 : maptree::most_work_at_once;
  return per_reading + at_once + 16 * static_cast<std::int64_t>(n_rows);
}

struct Table {
  std::size_t n_rows = 0, n_columns = 0;
  std::vector<std::int64_t> weights = {};
  int n_classes = 2;
};

// Random bits, packed a word at a time: large tables take no time to make.
struct Made {
  maptree::PackedTable table;
  std::vector<std::int32_t> labels;
};
Made make(const Table& shape) {
  Random random(31);
  Made made{{shape.n_rows, shape.n_columns}, {}};
  for (std::size_t c = 0; c < shape.n_columns; ++c) {
    maptree::Word* const column = made.table.column(c);
    for (std::size_t r = 0; r < shape.n_rows; r += 64) {
      column[r / 64] = random.next();
      if (shape.n_rows - r < 64) column[r / 64] &= (maptree::Word{1} << (shape.n_rows - r)) - 1;
    }
  }
  for (std::size_t r = 0; r < shape.n_rows; ++r) {
    const auto bit = shape.n_columns == 0 ? 0 : (made.table.column(0)[r / 64] >> (r % 64)) & 1;
    const int other = random.below(shape.n_classes);
    made.labels.push_back(random.chance(0.3) || shape.n_classes > 2 ? other
                                                                    : static_cast<int>(bit));
  }
  return made;
}

Dataset dataset(const Table& shape, maptree::Folding folding = {},
                maptree::Watch& watch = maptree::no_watch()) {
  Made made = make(shape);
  return {
      std::move(made.table), made.labels, shape.weights, shape.n_classes, folding, SIZE_MAX, watch};
}

Prior prior_of(const Table& shape) {
  const auto n_classes = static_cast<std::size_t>(shape.n_classes);
  return {0.95, 0.5, std::vector<double>(n_classes, 5.0 / shape.n_classes)};
}
const Prior prior = prior_of({});

// The shapes that are hard on one phase or another.
const Table wide{300, 10'000};
const Table tall{150'000, 12};
const Table square{1'500, 400};
const Table heavy{3, 2, {16'000'000, 16'000'000, 1}};  // tables of 768 MB
// Many classes, in rows that all differ and in few that have most classes each.
const Table varied{12'000, 40, {}, 8'000};
const Table crowded{12'000, 8, {}, 8'000};

void check_kept(const ClockUse& use, std::int64_t late_from, std::int64_t threads,
                const Dataset& data) {
  // Better trees are dated by the clock, too, so that some readings are not the watch's.
  CHECK(2 * use.n_readings + 50 >= late_from);
  CHECK(use.n_readings <= late_from + threads);  // one late reading each, at most
  CHECK(use.most_work <= most_work(data.n_rows(), data.total_weight()));
}

void check_search(const Table& shape, std::int64_t late_from, std::int64_t threads = 1,
                  maptree::Options options = {}) {
  const Dataset data = dataset(shape);
  const Result result =
      maptree::search(data, prior_of(shape), options,
                      TurnedClock(late_from).limits({.threads = threads}, per_reading));
  CHECK(result.status == Status::time_limit);
  check_kept(result.clock, late_from, threads, data);
  CHECK(result.lower < result.upper && result.upper.finite());
  CHECK_EQUAL(std::accumulate(result.tree.counts.begin(),
                              result.tree.counts.begin() + data.n_classes(), std::int64_t{0}),
              data.total_weight());
}

}  // namespace

TEST(making_a_dataset_reads_the_clock) {
  for (const Table& shape : {wide, tall, square, varied, crowded}) {
    for (const bool fold : {true, false}) {
      maptree::Control control(TurnedClock().limits({}, per_reading));
      std::int64_t n_readings = 0;
      {
        maptree::Watch watch(control);
        CHECK(dataset(shape, {fold, fold}, watch).complete());
      }
      n_readings = control.clock_use().n_readings;
      CHECK(n_readings > 1);
      CHECK(control.clock_use().most_work <= most_work(shape.n_rows, 0));
      for (const std::int64_t late_from : {std::int64_t{0}, n_readings / 2, n_readings - 1}) {
        maptree::Control late(TurnedClock(late_from).limits({}, per_reading));
        maptree::Watch watch(late);
        const Dataset data = dataset(shape, {fold, fold}, watch);
        CHECK(!data.complete());
        check_kept(late.clock_use(), late_from, 1, data);
      }
    }
  }
}

TEST(filling_tables_reads_the_clock) {
  const Dataset data = dataset(heavy);
  for (const std::int64_t late_from : {0, 1, 7, 40}) {
    const Limits limits = TurnedClock(late_from).limits({}, per_reading);
    const Result result = maptree::search(data, prior, {}, limits);
    CHECK(result.status == Status::time_limit);
    check_kept(result.clock, late_from, 1, data);
    CHECK_EQUAL(result.lower.units(), 0);  // the tables were not there yet
    CHECK_EQUAL(result.tree.feature.size(), 1u);
    const maptree::McmcSamples samples = maptree::sample_mcmc(
        dataset(heavy, {true, false}), prior, {}, TurnedClock(late_from).limits({}, per_reading));
    CHECK(samples.status == maptree::SamplingStatus::time_limit);
    check_kept(samples.clock, late_from, 1, data);
  }
}

TEST(every_phase_of_a_search_reads_the_clock) {
  // From the first tree to the proofs.
  for (const std::int64_t late_from : {0, 1, 4, 20, 100}) check_search(wide, late_from);
  for (const std::int64_t late_from : {0, 2, 10, 60}) check_search(tall, late_from);
  for (const std::int64_t late_from : {0, 5, 50, 500, 3000}) check_search(square, late_from);
  for (const std::int64_t late_from : {5, 200}) check_search(square, late_from, 3);
  for (const std::int64_t late_from : {0, 1, 10, 100, 1000}) check_search(varied, late_from);
  for (const std::int64_t late_from : {0, 3, 30}) check_search(crowded, late_from);
}

TEST(every_part_of_a_search_reads_the_clock) {
  // Without first tree and look-ahead, so that the pair scan of ten thousand columns, which takes
  // seconds, is the first thing; without repacking; the search of the paper.
  maptree::Options proofs;
  proofs.greedy_start = proofs.improve = false;
  maptree::Options unpacked;
  unpacked.compact = unpacked.fold_columns = false;
  for (const std::int64_t late_from : {1, 30, 400}) {
    check_search(square, late_from, 1, proofs);
    check_search(square, late_from, 1, unpacked);
  }
  for (const std::int64_t late_from : {10, 100, 300}) check_search(wide, late_from, 1, proofs);
  for (const std::int64_t late_from : {1, 10})
    check_search(square, late_from, 1, maptree::Options::paper());
}

TEST(the_first_tree_leaves_time_for_its_counts) {
  // The clock stands still: what ends the search is the work that is left for its end.
  Random random(13);
  Problem problem;
  constexpr int n_rows = 1000;
  problem.model.rho.assign(n_rows, 5.0 / n_rows);
  for (int r = 0; r < n_rows; ++r) {
    std::vector<int> row(16);
    for (int& value : row) value = random.below(2);
    problem.model.x.push_back(row);
    problem.model.y.push_back(r);
    problem.model.weight.push_back(1);
  }
  Limits limits{.seconds = 1e-3, .clock = [] { return 0.0; }, .work_per_reading = 1000};
  const Result result = workbench::run(problem, limits);
  CHECK(result.status == Status::time_limit);
  // A node's counts are 12 microseconds.
  CHECK(result.tree.feature.size() > 10 && result.tree.feature.size() < 100);
  limits.seconds = 10;
  limits.max_expansions = 1;
  CHECK(workbench::run(problem, limits).tree.feature.size() > 200);
}

TEST(samplers_read_the_clock) {
  for (const Table& shape : {wide, tall, square, varied, crowded}) {
    const Dataset data = dataset(shape, {true, false});
    const Prior prior = prior_of(shape);
    for (const std::int64_t late_from : {0, 3, 100}) {
      for (const std::int64_t threads : {1, 2}) {
        const Limits limits = TurnedClock(late_from).limits({.threads = threads}, per_reading);
        const auto chains = maptree::sample_mcmc(data, prior, {.n_samples = 1'000'000}, limits);
        CHECK(chains.status == maptree::SamplingStatus::time_limit);
        check_kept(chains.clock, late_from, threads, data);
      }
      const Limits limits = TurnedClock(late_from).limits({}, per_reading);
      const std::int64_t n_particles = shape.n_classes == 2 ? 20'000 : 100;
      const auto islands =
          maptree::sample_smc(data, prior, {.n_particles = n_particles, .n_islands = 1000}, limits);
      if (islands.status != maptree::SamplingStatus::memory_limit) {
        CHECK(islands.status == maptree::SamplingStatus::time_limit);
        check_kept(islands.clock, late_from, 1, data);
      }
      CHECK(islands.clock.most_work <= most_work(data.n_rows(), data.total_weight()));
    }
  }
}

TEST(a_search_can_be_stopped_at_every_poll) {
  // The clock is read at each of them: whatever was done by then is a valid answer.
  Random random(12);
  const Problem problem =
      workbench::noisy(random, 60, 9, 0.3, 2, [](const auto& row) { return row[0] ^ row[1]; });
  const Result whole = workbench::run(problem);
  const TurnedClock counted;
  CHECK(workbench::run(problem, counted.limits()).status == Status::optimal);
  const std::int64_t n_readings = counted.n_readings();
  CHECK(n_readings > 500);
  const brute_force::Solver brute(problem.model);
  for (std::int64_t late_from = 0; late_from < n_readings; late_from += 1 + late_from / 20) {
    const Result result = workbench::run(problem, TurnedClock(late_from).limits());
    CHECK(result.lower <= whole.upper && result.upper >= whole.upper);
    CHECK(std::abs(brute.cost(result.tree) - result.upper.nats()) < 1e-6);
    CHECK_EQUAL(result.status == Status::optimal, result.lower == result.upper);
  }
}
