// Lists of trees that are stopped, by the clock, by memory or by refusals of it: what they claim is
// so, and no limit is exceeded.
#include "check.hpp"
#include "counted_memory.hpp"
#include "problem.hpp"
#include "refusals.hpp"
#include "rivals/rivals.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Cost;
using maptree::Dataset;
using maptree::Limits;
using maptree::RivalList;
using maptree::RivalProgress;
using maptree::RivalWish;
using maptree::Status;

namespace {

const RivalWish wish{60, Cost::infinity()};

RivalList find(const Problem& problem, const Limits& limits = {},
               const maptree::RivalMonitor& monitor = {}) {
  return maptree::find_rivals(fuzz::make_dataset(problem), fuzz::make_prior(problem),
                              fuzz::make_options(problem), wish, limits, monitor);
}

std::vector<Problem> problems() {
  Random random(11);
  const auto rule = [](const std::vector<int>& row) { return (row[0] ^ row[1]) & row[2]; };
  std::vector<Problem> all;
  all.push_back(workbench::noisy(random, 60, 9, 0.3, 2, rule));
  all.push_back(workbench::noisy(random, 40, 12, 0.2, 2, rule));
  all.push_back(all[0]);
  all.back().model.max_depth = 3;
  all.back().model.min_leaf = 2;
  fuzz::make_ordered(random, all.back());
  all.push_back(all[1]);
  fuzz::make_ordered(random, all.back());
  return all;
}

// A beginning of the whole list, and nothing that was left out is cheaper than is said.
void check_beginning(const RivalList& list, const RivalList& whole) {
  CHECK(list.rivals.size() <= whole.rivals.size());
  for (std::size_t i = 0; i < std::min(list.rivals.size(), whole.rivals.size()); ++i)
    CHECK(list.rivals[i].cost == whole.rivals[i].cost);
  CHECK(list.complete <= whole.complete);
  if (list.rivals.size() < whole.rivals.size())
    CHECK(list.complete <= whole.rivals[list.rivals.size()].cost);
  if (!list.rivals.empty()) CHECK(list.complete >= list.rivals.back().cost);
}

}  // namespace

TEST(a_list_that_time_stops_is_a_true_beginning) {
  for (const Problem& problem : problems()) {
    const RivalList whole = find(problem);
    CHECK(whole.status == Status::optimal && whole.rivals.size() == 60);
    const TurnedClock counted;
    find(problem, counted.limits());
    const std::int64_t n = std::min<std::int64_t>(counted.n_readings(), 150);
    std::size_t n_begun = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const RivalList list = find(problem, TurnedClock(counted.n_readings() * i / n).limits());
      CHECK(list.status == Status::time_limit || list.rivals.size() == 60);
      check_beginning(list, whole);
      n_begun += list.rivals.empty() ? 0 : 1;
    }
    CHECK(n_begun > 10);
  }
}

TEST(a_list_that_the_monitor_stops_is_a_true_beginning) {
  for (const Problem& problem : problems()) {
    const RivalList whole = find(problem);
    for (const int last : {1, 2, 20, 200}) {
      int polls = 0;
      RivalProgress before;
      const RivalList list =
          find(problem, {.poll_seconds = 0, .work_per_reading = 0}, [&](const RivalProgress& now) {
            CHECK(now.complete >= before.complete);
            CHECK(now.found >= before.found);
            CHECK(now.found == 0 || now.best == whole.rivals[0].cost);
            before = now;
            return ++polls == last;
          });
      CHECK_EQUAL(list.status == Status::interrupted, polls == last);
      check_beginning(list, whole);
    }
  }
}

TEST(lists_survive_refusals) {
  refusals::Tally tally;
  for (const Problem& problem : problems()) {
    const RivalList whole = find(problem);
    const Dataset data = fuzz::make_dataset(problem);
    const maptree::Prior prior = fuzz::make_prior(problem);
    const maptree::Options options = fuzz::make_options(problem);
    for (const std::int64_t memory : {std::int64_t{-1}, whole.peak_bytes * 3 / 4})
      refusals::inject(
          tally,
          [&] {
            return maptree::find_rivals(data, prior, options, wish,
                                        {.max_expansions = 400, .memory_bytes = memory});
          },
          [&](const RivalList& list) { check_beginning(list, whole); }, 100);
  }
  CHECK(tally.errors > 300);
  std::cout << "lists: " << tally.faults << " refusals, " << tally.errors << " errors\n";
}

TEST(no_list_takes_more_than_its_limit) {
  std::size_t n_begun = 0, n_refused = 0, n_whole = 0;
  for (const Problem& problem : problems()) {
    const RivalList whole = find(problem);
    const maptree::Prior prior = fuzz::make_prior(problem);
    const maptree::Options options = fuzz::make_options(problem);
    for (std::int64_t limit = 4000; limit < 3 * whole.peak_bytes; limit += limit / 4) {
      const std::size_t before = counted_memory::held();
      const Dataset data = fuzz::make_dataset(problem);
      counted_memory::start();
      const RivalList list =
          maptree::find_rivals(data, prior, options, wish,
                               {.max_expansions = 5 * whole.expansions, .memory_bytes = limit});
      const auto counted = static_cast<std::int64_t>(counted_memory::peak() - before);
      check_beginning(list, whole);
      if (list.peak_bytes <= static_cast<std::int64_t>(data.bytes())) {
        ++n_refused;
        continue;
      }
      CHECK(counted <= limit);
      CHECK(list.status == Status::memory_limit || list.status == Status::expansion_limit ||
            list.rivals.size() == whole.rivals.size());
      ++(list.rivals.size() == whole.rivals.size() ? n_whole : n_begun);
    }
  }
  CHECK(n_refused > 5 && n_begun > 5 && n_whole > 3);
  std::cout << "limits: " << n_refused << " refused, " << n_begun << " begun, " << n_whole
            << " whole\n";
}

TEST(wishes_out_of_range_are_refused) {
  const Problem problem = problems()[0];
  const Dataset data = fuzz::make_dataset(problem);
  const auto ask = [&](const RivalWish& one, maptree::Options options = {}) {
    return maptree::find_rivals(data, fuzz::make_prior(problem), options, one, {});
  };
  CHECK_THROWS(std::invalid_argument, ask({0, Cost::infinity()}));
  CHECK_THROWS(std::invalid_argument, ask({1, Cost(-1)}));
  CHECK_THROWS(std::invalid_argument, ask({1, Cost(0)}, {.max_depth = -2}));
  CHECK_THROWS(std::invalid_argument, ask({1, Cost(0)}, {.min_samples_leaf = 0}));
  CHECK_THROWS(std::invalid_argument, ask({1, Cost(0)}, {.max_leaves = 0}));
  CHECK_THROWS(std::invalid_argument, ask({1, Cost(0)}, {.max_leaves = 129}));
  CHECK_THROWS(std::invalid_argument, ask({1, Cost(0)}, {.leaf_price = 0.5}));
}
