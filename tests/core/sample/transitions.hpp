// Transitions: every way that a move of a chain can take, for tests of detailed balance.
#pragma once

#include <vector>

#include "sample/moves.hpp"

namespace maptree {

// One way that a move can take from a tree. A move that is impossible, or leads to a tree that is
// not valid, stays where it is: the same tree, accepted with probability 0.
struct Transition {
  Tree tree;
  double proposal_probability = 0;
  double acceptance_probability = 0;
};

// All ways from a tree: the exact row of the transition matrix. Meant for tiny data.
std::vector<Transition> mcmc_transitions(const Dataset& data, const Prior& prior, const Tree& from,
                                         Move move);

}  // namespace maptree
