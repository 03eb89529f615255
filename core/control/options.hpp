// Options: every shortcut of the search has a switch here, and a test that the optimum does not
// depend on it. All on is the search; all off (`Options::paper`) is the algorithm of the paper.
#pragma once

#include <cstdint>

namespace maptree {

// What a record of the store has bits for.
inline constexpr std::int64_t most_limited_leaves = 128;

enum class Kernel { automatic, plain, avx2, avx512 };

struct Options {
  // Constraints: they change the problem, not the way it is solved.
  std::int64_t max_depth = -1;        // edges; -1 = none
  std::int64_t min_samples_leaf = 1;  // weight of a leaf, >= 1; a lone root is always allowed
  std::int64_t max_leaves = -1;       // 1 to 128; -1 = none (depth_first)
  double leaf_price = 0;              // nats that a split costs more than the prior says, >= 0

  // Data (taken by the Dataset): one column per partition, one row per distinct row.
  bool fold_columns = true;  // also at every node: columns that became equal are one
  bool fold_rows = true;

  // Expansion.
  bool compact = true;                // repack a node's rows before its children are bounded
  bool pair_expansion = true;         // count all pairs of columns: |V| and bounds of all children
  Kernel kernel = Kernel::automatic;  // instruction set; all give the same numbers

  // Bounds (docs/design/bounds.md).
  bool distinct_rows_bound = true;  // stop and |V| >= log2 of the distinct rows (needs fold_rows)
  bool varying_bound = true;        // columns that must vary on a large part (needs the former)
  bool structure_bound = true;      // cheapest structure over that many rows (needs distinct rows)
  bool equivalent_rows_bound = true;  // identical rows of several classes (needs fold_rows)

  bool few_leaves_bound = true;  // three classes in two leaves, or two more splits (needs varying)

  bool spans = true;  // one bound for many thresholds of an ordered column

  // Good trees.
  bool greedy_start = true;  // before the search: greedy growth, pruned by the posterior
  bool improve = true;       // during the search: look-ahead from the nodes of the best tree

  // The way to a proof.
  bool depth_first = true;     // raise bounds depth first in bounded memory, not over a graph
  bool depth_transfer = true;  // bounds of the same rows nearer the root (depth_first)
  bool graded_proof = true;  // also prove that no tree of depth 3, 4, ... is cheaper (depth_first)

  static constexpr Options paper() {
    Options options;
    options.fold_columns = options.fold_rows = false;
    options.compact = options.pair_expansion = options.greedy_start = options.improve = false;
    options.distinct_rows_bound = options.varying_bound = false;
    options.structure_bound = options.equivalent_rows_bound = options.few_leaves_bound = false;
    options.depth_first = options.depth_transfer = options.graded_proof = false;
    return options;
  }
};

}  // namespace maptree
