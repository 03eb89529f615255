// Search: the cheapest tree, and a proof.
//
// Provers raise lower bounds, an improver finds cheaper trees; when the bound of everything meets
// the cost of the best tree, it is proved. Whatever stops the search before, the result is a tree,
// its cost, a lower bound on every cost, and a depth up to which no tree is cheaper.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "control/options.hpp"
#include "model/posterior.hpp"
#include "model/tree.hpp"

namespace maptree {

struct Progress {
  double seconds = 0;
  std::int64_t expansions = 0;
  std::int64_t subproblems = 0;
  std::int64_t bytes = 0;
  Cost lower;
  Cost upper;
  Cost offset;  // to be added to both
  std::int64_t proved_depth = 0;
  std::int64_t leaves = 0;  // of the best tree
};
using Monitor = MonitorOf<Progress>;

struct Result {
  Status status = Status::optimal;
  // Both without `offset`, which all trees have in common. Without any bound `lower` is minus
  // infinity.
  Cost lower, upper, offset;
  std::int64_t proved_depth = 0;  // no tree of this depth or less is cheaper; -1: none at all
  std::int64_t expansions = 0;
  std::int64_t subproblems = 0;  // nodes made, given back ones included
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  ClockUse clock;
  std::vector<std::array<double, 4>> trace;  // seconds, expansions, lower, upper, with the offset
  Tree tree;
  TreeScores scores;  // the first is `upper`, checked
};

// Throws std::invalid_argument for options out of range. `known`: trees to begin with.
Result search(const Dataset& data, const Prior& prior, const Options& options, const Limits& limits,
              const Monitor& monitor = {}, std::span<const Tree> known = {});

// The best trees that can be found of 1, 2, ... max_leaves leaves, those of them that there are,
// without a proof: each a result of its own, whose lower bound is that of the root's counts.
std::vector<Result> sweep_sizes(const Dataset& data, const Prior& prior, const Options& options,
                                const Limits& limits, const Monitor& monitor = {});

}  // namespace maptree
