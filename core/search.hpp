// Search: best-first search of the AND/OR graph for the cheapest tree.
//
// Descend from the root by the least lower bound to a node that is not yet expanded, expand it,
// carry the new bounds up; until the root's bounds meet (a proof) or a limit is reached. Whatever
// stops it, the result is a tree, its cost and a lower bound on every cost.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "control.hpp"
#include "options.hpp"
#include "posterior.hpp"
#include "tree.hpp"

namespace maptree {

struct Result {
  Status status = Status::optimal;
  Cost lower, upper;
  std::int64_t proved_depth = 0;  // no tree of this depth or less is cheaper; -1: none at all
  std::int64_t expansions = 0;
  std::int64_t subproblems = 0;  // nodes made, given back ones included
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::vector<std::array<double, 4>> trace;  // seconds, expansions, lower, upper
  Tree tree;
  TreeScores scores;  // the first is `upper`, checked
};

// Throws std::invalid_argument for options out of range.
Result search(const Dataset& data, const Prior& prior, const Options& options, const Limits& limits,
              const Monitor& monitor = {});

}  // namespace maptree
