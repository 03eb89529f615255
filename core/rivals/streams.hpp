// Streams: the trees on any rows, the cheapest first, made one by one as they are asked for.
//
// A stream is a subproblem, rows at a depth. Its entries are the ways to part its rows, each by its
// cheapest tree, in order of cost. They come out of a queue of candidates:
//
//   the leaf;
//   a pair: a split with the i-th entry of one side and the j-th of the other. It enters as i = j =
//   0, and is followed by its neighbours i + 1 and j + 1. What it costs is bounded from below until
//   both entries are there;
//   the rest: the splits, or spans of thresholds, that are not listed yet, by their least bound.
//
// Whatever is on top and not exact is raised to the goal, which is what the caller wants to know,
// or made exact: the rest by an expansion, first entries by the prover, later ones by the streams
// of the children, whose goal is what is left of it. What is on top and exact is the next entry,
// unless one with the same leaves was there before: that one was no dearer. Where leaves are
// limited, pairs that have too many are no entries, but they are followed as others are.
//
// Invariants
//   An entry costs what its tree costs; entries are in order, no two part the rows alike.
//   Every tree that parts the rows in another way than all entries costs lower() or more, at any
//   time: each key is a lower bound for all that its candidate stands for and is followed by.
// The proofs are in docs/design/alternatives.md.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "control/control.hpp"
#include "model/tree.hpp"
#include "prove/prover.hpp"
#include "rivals/partition.hpp"
#include "scan/expand.hpp"

namespace maptree {

enum class StreamId : std::uint32_t { none = UINT32_MAX };

class Streams {
 public:
  Streams(const Dataset& data, const Posterior& posterior, const Options& options,
          Expander& expander, Prover& prover, Desk& desk, Proof& proof);

  // The stream of all rows, of which no tree costs less than `lower`.
  StreamId add_root(Cost lower);
  // Makes one more entry, if it costs less than the goal; else lower() is that afterwards, or more.
  // False when it had to stop: by the watch, or as there is no room or no expansion left.
  bool advance(StreamId id, Cost goal, std::unique_lock<std::mutex>& lock, Watch& watch);

  [[nodiscard]] std::size_t n_entries(StreamId id) const { return at(id).entries.size(); }
  [[nodiscard]] Cost cost(StreamId id, std::size_t entry) const {
    return at(id).entries[entry].cost;
  }
  // Of every tree that is not among the entries; infinite: there is none.
  [[nodiscard]] Cost lower(StreamId id) const { return at(id).lower(); }
  // The tree of an entry.
  void read_tree(StreamId id, std::size_t entry, Tree& tree) const;

  [[nodiscard]] std::size_t size() const { return streams_.size(); }
  [[nodiscard]] std::size_t bytes() const;
  // What bytes() may come to.
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }

 private:
  static constexpr std::uint32_t leaf = UINT32_MAX, rest = UINT32_MAX - 1;  // in place of a split

  struct Entry {
    Cost cost;
    Partition partition;
    std::uint32_t split;
    std::uint32_t at[2];  // entries of the children
  };
  struct Candidate {
    Cost key;
    std::uint32_t split;
    std::uint32_t at[2];
    bool exact;

    // The cheapest on top; of equals one that needs no more work.
    bool operator<(const Candidate& other) const {
      if (key != other.key) return key > other.key;
      if (exact != other.exact) return other.exact;
      return split > other.split;
    }
  };
  struct Split {
    std::uint32_t test;
    StreamId child[2] = {StreamId::none, StreamId::none};  // once both first entries are asked for
    bool solved[2] = {false, false};
    Cost lower[2];  // of the children's first entries
  };
  struct Stream {
    RowKey rows;
    std::uint32_t depth = 0;
    bool expanded = false;
    Cost base;  // split(d) + log W, once expanded
    std::vector<Entry> entries;
    std::vector<Split> splits;
    std::vector<SplitBounds> spans;  // of thresholds, which are not splits yet
    std::vector<Candidate> queue;    // a heap

    [[nodiscard]] Cost lower() const { return queue.empty() ? Cost::infinity() : queue[0].key; }
    [[nodiscard]] std::size_t bytes() const;
  };
  struct Frame {  // of a descent: a stream that has been asked
    StreamId stream;
    std::size_t wanted;  // entries
    Cost goal;
  };
  struct StreamKey {
    RowKey rows;
    std::uint32_t depth;
    bool operator==(const StreamKey&) const = default;
  };
  struct Seen {
    StreamId stream;
    Partition partition;
    bool operator==(const Seen&) const = default;
  };
  struct Hash {
    std::size_t operator()(const StreamKey& key) const {
      return static_cast<std::size_t>(key.rows.low + key.depth);
    }
    std::size_t operator()(const Seen& seen) const {
      return static_cast<std::size_t>(seen.partition.low + static_cast<std::uint32_t>(seen.stream));
    }
  };

  [[nodiscard]] const Stream& at(StreamId id) const {
    return streams_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] Stream& at(StreamId id) { return streams_[static_cast<std::size_t>(id)]; }
  StreamId find_or_add(const RowSet& rows, const RowKey& key, std::uint32_t depth, Cost lower);
  // These work on the candidate on top of the frame's stream. False: it has to stop.
  bool step(const Frame& frame);
  bool expand(Stream& stream, const RowSet& rows, Cost goal);
  bool raise(Stream& stream, const RowSet& rows, Cost goal);
  void ask_children(Stream& stream, Cost goal);
  void take(StreamId id, Stream& stream);

  void add_pair(Stream& stream, std::uint32_t split, std::uint32_t i, std::uint32_t j, Cost lower);
  void add_split(Stream& stream, const SplitBounds& bounds, Cost lower);

  static void push(Stream& stream, const Candidate& candidate);
  static void pop(Stream& stream);
  // Puts a candidate in the place of the one on top.
  static void replace(Stream& stream, const Candidate& candidate);
  // How many leaves a part of a tree may have at this depth: every level above has a side more.
  [[nodiscard]] std::uint32_t leaves_at(std::uint32_t depth) const {
    const auto most = static_cast<std::uint32_t>(options_.max_leaves);
    return options_.max_leaves < 0 ? any_leaves : most > depth ? most - depth : 1;
  }
  [[nodiscard]] bool has_room(const Stream& stream) const;
  [[nodiscard]] Cost own_cost(const Stream& stream, const Split& split) const {
    return stream.base + posterior_.test_costs()[split.test];
  }

  const Dataset& data_;
  const Posterior& posterior_;
  const Options& options_;
  Expander& expander_;
  Prover& prover_;
  Desk& desk_;
  Proof& proof_;
  // Of the call under way.
  std::unique_lock<std::mutex>* lock_ = nullptr;
  Watch* watch_ = nullptr;

  std::deque<Stream> streams_;  // whose places do not change
  std::unordered_map<StreamKey, StreamId, Hash> by_key_;
  std::unordered_set<Seen, Hash> seen_;
  std::vector<Frame> frames_;
  std::vector<RowSet> path_;  // of the frames
  RowSet part_[2];
  Expansion expansion_;
  std::vector<SplitBounds> given_;
  std::vector<std::uint32_t> listed_;
  std::vector<std::int64_t> counts_;
  std::size_t bytes_of_streams_ = 0;
  std::size_t limit_ = SIZE_MAX;
  bool out_of_memory_ = false;
};

}  // namespace maptree
