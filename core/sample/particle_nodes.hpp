// ParticleNodes: the nodes that the particles of an island share.
//
// A node is a set of rows, whatever path led to it: where two particles come to the same rows, what
// is known about them (class counts, varying columns, how well each splits) is computed once.
// Row sets themselves are not kept. A node knows one path to it, and its rows are made again from
// that where they are needed, which takes a step a level, while its options take one a column. So
// memory grows with the number of nodes, not with the number of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/posterior.hpp"
#include "sample/random.hpp"
#include "sample/split_gains.hpp"
#include "sample/varying.hpp"

namespace maptree {

class ParticleNodes {
 public:
  enum class Id : std::uint32_t { root = 0, none = UINT32_MAX };
  using Children = std::pair<Id, Id>;  // where the column is 0, and where it is 1

  // With `weigh`, options() tells how well each column splits.
  ParticleNodes(const Dataset& data, const Posterior& posterior, bool weigh);

  [[nodiscard]] Cost likelihood(Id id) const { return at(id).likelihood; }
  [[nodiscard]] bool divisible(Id id) const { return at(id).divisible; }
  [[nodiscard]] std::span<const std::int64_t> counts(Id id) const {
    return {&counts_[static_cast<std::size_t>(id) * n_classes_], n_classes_};
  }

  // How a divisible node can be split.
  struct Options {
    std::vector<std::uint32_t> columns;  // that vary
    // Running sums over the columns of their weights, times P(rows | split on it) / P(rows | leaf)
    // in units of the largest of these ratios where they are weighed. Empty where all are 1.
    std::vector<double> sums;
    double log_mean = 0;  // log of the mean of these ratios, by weight

    [[nodiscard]] std::uint32_t draw(Random& random) const;
    [[nodiscard]] std::size_t bytes() const {
      return sizeof(*this) + columns.size() * sizeof(std::uint32_t) + sums.size() * sizeof(double);
    }
  };
  // Null where the watch said stop. Valid until the next call of this or of children().
  const Options* options(Id id, Watch& watch);
  // W, once its options have been asked for.
  [[nodiscard]] std::int64_t varying_weight(Id id) const { return at(id).varying_weight; }
  // None where the watch said stop.
  Children children(Id id, std::uint32_t column, Watch& watch);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Whether there are so many nodes that it pays to find out which of them no particle has.
  [[nodiscard]] bool is_full() const { return nodes_.size() >= room_; }
  // Forgets the nodes that are not used, but for the paths to others; new numbers by old ones.
  std::vector<Id> keep(std::vector<bool> used);

 private:
  struct Node {
    Id parent = Id::none;  // on the path by which it was first met
    std::uint32_t column = 0;
    std::uint8_t side = 0;
    bool divisible = false;
    std::uint32_t varying_weight = 0;  // 0: not known
    Cost likelihood;
    std::unique_ptr<Options> options;  // none: not known, or forgotten
  };
  struct KeyHash {
    std::size_t operator()(const RowKey& key) const { return static_cast<std::size_t>(key.low); }
  };

  [[nodiscard]] const Node& at(Id id) const { return nodes_[static_cast<std::size_t>(id)]; }
  // rows_ becomes the rows of the node.
  bool find_rows(Id id, Watch& watch);
  // The node of these rows, old or new. Throws KeyCollision where the old one has other class
  // counts.
  Id intern(const RowSet& rows, Node node);
  [[nodiscard]] std::size_t fewest_room() const;

  const Dataset& data_;
  const Posterior& posterior_;
  const bool weigh_;
  const std::size_t n_classes_;
  const ColumnSet all_columns_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> counts_;  // by node
  std::unordered_map<RowKey, Id, KeyHash> by_rows_;
  std::unordered_map<std::uint64_t, Children> children_;  // by node and column
  std::size_t options_bytes_ = 0;
  std::size_t room_ = 0;  // nodes, until is_full()

  const RowSet all_rows_;
  RowSet rows_, other_;  // rows_ are those of rows_of_
  Id rows_of_ = Id::none;
  std::vector<Id> path_;
  ColumnSet varying_;
  SplitGains split_gains_;
  Options found_;
  std::vector<std::int64_t> side_counts_;
};

}  // namespace maptree
