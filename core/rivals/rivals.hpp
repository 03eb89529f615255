// Rivals: the most probable trees in order, and up to where the list is proved complete.
//
// Trees that part the rows alike are one, told by the cheapest of them. First the cheapest tree is
// proved, as a search does; then streams (streams.hpp) give one tree after the other. Whatever
// stops that, the list is a true beginning, and `complete` a lower bound on all that is not in it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "control/control.hpp"
#include "control/options.hpp"
#include "model/posterior.hpp"
#include "model/tree.hpp"

namespace maptree {

struct Rival {
  Cost cost;
  Cost offset;  // to be added to it, as to that of every tree
  Tree tree;
  TreeScores scores;  // the first is `cost`, checked
};

// Which trees are asked for: all of this holds.
struct RivalWish {
  std::int64_t most = 10;          // 1 or more
  Cost within = Cost::infinity();  // of the cheapest tree
  // Only those that it accepts are listed; none: all. It is called on the caller's thread.
  std::function<bool(const Rival&)> accept = {};
};

struct RivalProgress {
  double seconds = 0;
  std::int64_t expansions = 0;
  std::int64_t bytes = 0;
  std::int64_t found = 0;        // and accepted
  std::int64_t examined = 0;     // whether accepted or not
  Cost best = Cost::infinity();  // of the first, once it is proved
  Cost complete;
  Cost offset;  // to be added to both
};
using RivalMonitor = MonitorOf<RivalProgress>;

struct RivalList {
  Status status = Status::optimal;  // all that was asked for is there; or what stopped it
  std::vector<Rival> rivals;        // the cheapest first
  // Every tree that parts the rows in another way than these, and than those that were not
  // accepted, costs as much, or more; infinite: there is none.
  Cost complete;
  Cost best = Cost::infinity();  // of the cheapest tree, once it is proved
  Cost offset;                   // to be added to both
  std::int64_t examined = 0;     // trees, whether accepted or not
  std::int64_t expansions = 0;
  std::int64_t first_expansions = 0;  // of these, for the proof of the first
  std::int64_t streams = 0;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  ClockUse clock;
};

// Throws std::invalid_argument for options or wishes out of range. On one thread.
RivalList find_rivals(const Dataset& data, const Prior& prior, const Options& options,
                      const RivalWish& wish, const Limits& limits,
                      const RivalMonitor& monitor = {});

}  // namespace maptree
