// The optimum of every subproblem in units of Cost, from the definition: every split of every set
// of rows is tried, with the tables of the core and nothing else of it. What brute force in doubles
// cannot tell, a bound that is one unit too high, is seen here.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "data/dataset.hpp"
#include "model/posterior.hpp"

namespace exact {

class Solver {
 public:
  Solver(const maptree::Dataset& data, const maptree::Posterior& posterior, std::int64_t max_depth,
         std::int64_t min_leaf)
      : data_(data), posterior_(posterior), max_depth_(max_depth), min_leaf_(min_leaf) {}

  [[nodiscard]] maptree::Cost leaf(const maptree::RowSet& rows, std::size_t depth) const {
    std::vector<std::int64_t> counts(data_.n_sums());
    data_.count(rows, counts);
    const bool varies = data_.varying_weight(rows) > 0;
    return posterior_.leaf(counts) + (varies ? posterior_.stop(depth) : maptree::Cost(0));
  }
  // What every split pays before its two sides do, and what one pays for its test.
  [[nodiscard]] maptree::Cost base(const maptree::RowSet& rows, std::size_t depth) const {
    return posterior_.split(depth) + posterior_.log_weight(data_.varying_weight(rows));
  }
  [[nodiscard]] maptree::Cost test(std::size_t column) const {
    return maptree::Cost(0) - posterior_.log_weight(weight_of(column));
  }
  [[nodiscard]] bool may_split(std::size_t depth) const {
    return max_depth_ < 0 || static_cast<std::int64_t>(depth) < max_depth_;
  }
  // Whether a column, or the thresholds of an ordered one, may be tested at a depth.
  [[nodiscard]] bool may_test(std::size_t test, std::size_t depth) const {
    const maptree::Use use = test < data_.n_columns()
                                 ? data_.use(test)
                                 : data_.use_of_ordered(data_.ordered().column_of(
                                       static_cast<std::uint32_t>(test - data_.n_columns())));
    return use == maptree::Use::anywhere || (use == maptree::Use::below_root && depth > 0);
  }
  // The two sides of a column; false where one is too small.
  [[nodiscard]] bool sides(const maptree::RowSet& rows, std::size_t column,
                           maptree::RowSet (&part)[2]) const {
    bool large = true;
    for (int side = 0; side < 2; ++side) {
      data_.part(rows, column, side, part[side]);
      large = large && weight(part[side]) >= min_leaf_;
    }
    return large;
  }
  // With at most this number of splits on a path below, and of leaves; 0: of any number.
  maptree::Cost optimum(const maptree::RowSet& rows, std::size_t depth, int splits = 1000,
                        std::uint32_t leaves = 0) {
    const Key key{words_of(rows), {depth, splits}, leaves};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    maptree::Cost best = leaf(rows, depth);
    if (may_split(depth) && splits > 0 && leaves != 1 && data_.varying_weight(rows) > 0) {
      const maptree::Cost above = base(rows, depth);
      for (std::size_t c = 0; c < data_.n_tests(); ++c) {
        maptree::RowSet part[2];
        if (!may_test(c, depth) || !sides(rows, c, part)) continue;
        if (weight(part[0]) == 0 || weight(part[1]) == 0) continue;
        // Any number, or each way to share them out.
        for (std::uint32_t share = leaves == 0 ? 0 : 1; share < std::max(leaves, 1u); ++share)
          best = std::min(best, above + test(c) + optimum(part[0], depth + 1, splits - 1, share) +
                                    optimum(part[1], depth + 1, splits - 1, leaves - share));
      }
    }
    known_[key] = best;
    return best;
  }
  [[nodiscard]] static std::vector<maptree::Word> words_of(const maptree::RowSet& rows) {
    std::vector<maptree::Word> words(rows.n_words());
    for (std::size_t w = 0; w < words.size(); ++w) words[w] = rows.word(w);
    return words;
  }
  [[nodiscard]] std::int64_t weight(const maptree::RowSet& rows) const {
    std::vector<std::int64_t> counts(data_.n_sums());
    data_.count(rows, counts);
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(data_.n_classes()); ++k) sum += counts[k];
    return sum;
  }

 private:
  [[nodiscard]] std::int64_t weight_of(std::size_t test) const {
    if (test < data_.n_columns()) return data_.test_weight(test);
    const maptree::OrderedColumns& ordered = data_.ordered();
    if (!ordered.weighted()) return 1;
    return ordered.weights()[ordered.code(static_cast<std::uint32_t>(test - data_.n_columns()))];
  }

  const maptree::Dataset& data_;
  const maptree::Posterior& posterior_;
  std::int64_t max_depth_;
  std::int64_t min_leaf_;
  using Key = std::tuple<std::vector<maptree::Word>, std::pair<std::size_t, int>, std::uint32_t>;
  std::map<Key, maptree::Cost> known_;
};

}  // namespace exact
