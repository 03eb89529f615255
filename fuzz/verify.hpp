// Verify: everything a search must satisfy on a problem that brute force can solve.
//
//   V1  lower <= optimum <= upper when the search ends, at every poll and along its trace; bounds
//       only get tighter; the status says what stopped it, and optimal means lower = upper.
//   V2  the tree is one of those allowed, its counts are right, and it costs what is reported.
//   V3  no tree of proved_depth or less is cheaper, when the search ends and at every poll, and
//   this
//       depth only grows.
//   V4  a memory limit is kept, and so is a number of expansions.
//   V5  a second run on one thread is the same to the last bit; a larger budget gives nothing
//   worse. V6  the optimum does not depend on switches or kernel: to the last bit, not to a
//   tolerance.
// Costs are those with the offset that all trees have in common.
#pragma once

#include <string>

#include "problem.hpp"

namespace fuzz {

// Empty where all is well, else what is wrong.
[[nodiscard]] std::string verify(const Problem& problem);

}  // namespace fuzz
