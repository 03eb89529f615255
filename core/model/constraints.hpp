// Constraints: which trees a search considers, by the options and by the uses of columns.
#pragma once

#include "control/options.hpp"
#include "data/dataset.hpp"
#include "model/tree.hpp"

namespace maptree {

// The options with what they imply: trees of few leaves are not deep, and bounds that know it are
// better. Refuses what makes no sense, or not for this table.
[[nodiscard]] Options checked(const Options& options, const Dataset& data);

// Whether a tree keeps to the depth, the weight of leaves and the uses of columns. How many leaves
// it has is not looked at: of a large tree the prunings are of use.
[[nodiscard]] bool is_considered(const Tree& tree, const Dataset& data, const Options& options);

}  // namespace maptree
