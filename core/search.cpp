#include "search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

#include "expand.hpp"
#include "graph.hpp"
#include "improve.hpp"
#include "incumbent.hpp"

namespace maptree {

namespace {

class BestFirst {
 public:
  BestFirst(const Dataset& data, const Posterior& posterior, const Options& options,
            Control& control)
      : data_(data),
        options_(options),
        control_(control),
        posterior_(posterior),
        bounds_(posterior_, data, options),
        expander_(data, posterior_, bounds_, options_),
        graph_(options_),
        improver_(data, posterior_, expander_, improver_bytes()) {}

  Result run() {
    start();
    Status status = Status::optimal;
    while (!solved() && !limit_reached(status)) {
      const OrId leaf = select();
      if (leaf == OrId::none) break;  // what the descent learnt on its way was enough
      if (stats_.expansions == control_.limits().max_expansions) {
        status = Status::expansion_limit;
        break;
      }
      if (!expand(leaf)) {
        status = control_.reason();
        break;
      }
      graph_.propagate();
      improve();
      assert(stats_.expansions % 64 != 0 || graph_.is_ok());
      record();
    }
    return finish(status);
  }

 private:
  // A set of rows on the current path, and what is counted of it.
  struct Subset {
    RowSet rows;
    RowKey key;
  };

  void start() {
    path_.resize(2);
    path_[0].rows = data_.all_rows();
    path_[0].key = data_.key(path_[0].rows);
    const Measure root = measure(path_[0], 0);
    // The lone leaf is a tree, so there is always one to return.
    root_ = graph_.intern(root.key, {bounds_.root_lower(), root.leaf}, root.minority);
    ++stats_.subproblems;
    if (options_.greedy_start) {
      Incumbent greedy(data_, posterior_, bounds_, options_, expander_.view());
      Tree tree;
      const Cost cost = greedy.grow(poll_, tree);
      improver_.offer(tree, cost);
    }
    record();
  }

  // Half of the work while it pays; less once most of its time brought nothing.
  void improve() {
    const bool pays = improver_.work() < 4 * improver_.last_gain() + slice;
    if (!options_.improve || improver_.exhausted() ||
        improver_.work() * (pays ? 1 : 8) > work_ - improver_.work())
      return;
    if (graph_[root_].upper < improver_.cost()) {
      Tree tree;
      Subset all;
      all.rows = data_.all_rows();
      build(root_, all, tree);
      improver_.offer(tree, graph_[root_].upper);
    }
    improver_.improve(slice, poll_);
  }

  [[nodiscard]] std::size_t improver_bytes() const {
    constexpr std::size_t ample = std::size_t{1} << 26;
    const std::int64_t limit = control_.limits().memory_bytes;
    if (!options_.improve) return 0;
    if (limit < 0) return ample;
    const std::size_t taken =
        data_.bytes() + posterior_.bytes() + bounds_.bytes() + expander_.bytes();
    return limit < static_cast<std::int64_t>(taken)
               ? 0
               : std::min(ample, (static_cast<std::size_t>(limit) - taken) / 8);
  }

  // The graph's tree, or the improver's.
  [[nodiscard]] Cost upper() const { return std::min(graph_[root_].upper, improver_.cost()); }
  [[nodiscard]] bool solved() const { return graph_[root_].lower == upper(); }

  bool limit_reached(Status& status) {
    const Limits& limits = control_.limits();
    const std::size_t held = bytes();
    stats_.peak_bytes = std::max(stats_.peak_bytes, static_cast<std::int64_t>(held));
    if (limits.memory_bytes >= 0 &&
        held + growth() > static_cast<std::size_t>(limits.memory_bytes)) {
      status = Status::memory_limit;
      return true;
    }
    if (control_.stop(1000, [this] { return progress(); })) {
      status = control_.reason();
      return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t bytes() const {
    return data_.bytes() + posterior_.bytes() + bounds_.bytes() + expander_.bytes() +
           graph_.bytes() + improver_.bytes() + path_.size() * data_.n_words() * sizeof(Word) +
           stats_.trace.capacity() * sizeof(stats_.trace[0]);
  }

  // The most that one more expansion could add to bytes(): two sets of rows on the path, two
  // entries of the trace.
  [[nodiscard]] std::size_t growth() const {
    const auto& trace = stats_.trace;
    return graph_.growth(data_.n_columns()) + improver_.growth() +
           2 * data_.n_words() * sizeof(Word) +
           (trace.size() + 2 <= trace.capacity() ? 0 : (2 * trace.size() + 2) * sizeof(trace[0]));
  }

  [[nodiscard]] Progress progress() const {
    const OrNode& root = graph_[root_];
    return {0,          stats_.expansions, stats_.subproblems, static_cast<std::int64_t>(bytes()),
            root.lower, root.upper,        proved_depth()};
  }

  // Pair expansion of the root looks at every tree of depth two (one, where rows are not folded).
  [[nodiscard]] std::int64_t proved_depth() const {
    if (solved()) return -1;
    if (!graph_[root_].expanded || !options_.pair_expansion) return 0;
    return data_.rows_folded() ? 2 : 1;
  }

  // Down to a node that is not expanded, leaving its rows on the path. Stepping into a split for
  // the first time may find its children in the table with better bounds; then all is carried up
  // and the descent begins again. None: the root got solved that way.
  OrId select() {
    while (!solved()) {
      OrId id = root_;
      std::size_t depth = 0;
      bool again = false;
      while (graph_[id].expanded) {
        if (path_.size() < depth + 2) path_.resize(depth + 2);
        const std::uint32_t s = graph_[id].least;
        assert(!graph_[id].solved() && s < graph_[id].n_splits);
        if (!graph_[id].splits[s].attached()) {
          const Cost before_lower = graph_[id].lower, before_upper = graph_[id].upper;
          const Cost before_split = graph_[id].splits[s].total();
          attach(id, s, depth, nullptr);
          const OrNode& node = graph_[id];
          if (node.lower != before_lower || node.upper != before_upper ||
              node.splits[s].total() != before_split) {
            graph_.propagate();
            again = true;
            break;
          }
        }
        const Split& split = graph_[id].splits[s];
        const int side = choose_side(split);
        step(depth, split.column, side);
        id = split.child[side];
        ++depth;
      }
      if (!again) return id;
    }
    return OrId::none;
  }

  void step(std::size_t depth, std::uint32_t column, int side) {
    path_[depth + 1].rows.assign_side(path_[depth].rows, data_.column(column), side);
  }

  // The paper takes the larger gap. Per minority row it says how loose a bound is for its size,
  // and raising the loose ones first raises the root's faster. The 1-side on ties.
  [[nodiscard]] int choose_side(const Split& split) const {
    double value[2];
    for (int side = 0; side < 2; ++side) {
      const OrNode& child = graph_[split.child[side]];
      value[side] = child.upper.nats() - child.lower.nats();  // infinite where not expanded (paper)
      if (options_.gap_per_minority) value[side] /= std::max(1.0, double(child.minority));
      // Never into what is solved already.
      if (child.solved()) value[side] = -1;
    }
    return value[0] > value[1] ? 0 : 1;
  }

  struct Measure {
    NodeKey key;
    Cost leaf;
    std::uint32_t minority = 0;
  };

  Measure measure(const Subset& set, std::size_t depth) {
    counts_.resize(static_cast<std::size_t>(data_.n_classes()));
    const std::int64_t distinct = data_.count(set.rows, counts_);
    std::int64_t weight = 0, most = 0;
    std::uint64_t digest = 0;
    for (const std::int64_t c : counts_) {
      weight += c;
      most = std::max(most, c);
      digest = (digest + static_cast<std::uint64_t>(c)) * 0x9e3779b97f4a7c15ULL;
    }
    Measure out;
    out.key = {set.key, static_cast<std::uint32_t>(depth),
               static_cast<std::uint32_t>(digest >> 32)};
    out.minority = static_cast<std::uint32_t>(weight - most);
    const bool varies = data_.rows_folded() ? distinct > 1 : data_.varying_columns(set.rows) > 0;
    out.leaf = posterior_.leaf(counts_) + (varies ? posterior_.stop(depth) : Cost(0));
    return out;
  }

  // Makes or finds the two children of a split. `best` are upper bounds from an expansion.
  void attach(OrId id, std::uint32_t s, std::size_t depth, const Expansion* best) {
    if (path_.size() < depth + 2) path_.resize(depth + 2);
    const Split split = graph_[id].splits[s];
    OrId child[2];
    // One key gives the other: the children part the rows.
    part_.rows.assign_side(path_[depth].rows, data_.column(split.column), 1);
    RowKey keys[2];
    keys[1] = data_.key(part_.rows);
    keys[0] = graph_[id].key.rows;
    keys[0] ^= keys[1];
    for (int side = 1; side >= 0; --side) {
      if (side == 0) part_.rows.assign_side(path_[depth].rows, data_.column(split.column), 0);
      part_.key = keys[side];
      const Measure m = measure(part_, depth + 1);
      Graph::Bounds2 bounds{split.lower[side], m.leaf, no_column};
      if (!options_.pair_expansion) bounds.upper = Cost::infinity();  // as in the paper
      if (best != nullptr && best->best_upper[side] < bounds.upper) {
        bounds.upper = best->best_upper[side];
        bounds.below = best->best_below[side];
      }
      const std::int64_t before = graph_.n_nodes();
      child[side] = graph_.intern(m.key, bounds, m.minority);
      stats_.subproblems += graph_.n_nodes() - before;
    }
    graph_.attach(id, s, child[0], child[1]);
  }

  bool expand(OrId id) {
    const std::size_t depth = graph_[id].key.depth;
    if (!expander_.expand(path_[depth].rows, depth, graph_[id].upper, poll_, expansion_))
      return false;
    ++stats_.expansions;
    graph_.open(id, expansion_);
    if (graph_[id].best != no_column)
      attach(id, graph_.find_split(id, graph_[id].best), depth, &expansion_);
    if (!options_.lazy_children) {
      for (std::uint32_t s = 0; s < graph_[id].n_splits; ++s)
        if (!graph_[id].splits[s].attached()) attach(id, s, depth, nullptr);
    }
    return true;
  }

  void record() {
    const Cost lower = graph_[root_].lower;
    if (!stats_.trace.empty()) {
      // Every better tree; of better bounds, enough to draw the curve.
      const bool due = stats_.expansions >= next_trace_ && lower != traced_lower_;
      if (upper() == traced_upper_ && !due && !solved()) return;
      if (lower == traced_lower_ && upper() == traced_upper_) return;
    }
    traced_lower_ = lower;
    traced_upper_ = upper();
    next_trace_ = stats_.expansions + stats_.expansions / 50 + 1;
    stats_.trace.push_back({control_.seconds(), static_cast<double>(stats_.expansions),
                            traced_lower_.nats(), traced_upper_.nats()});
  }

  // The tree behind the upper bound of a node (I3 of the graph).
  std::int32_t build(OrId id, const Subset& set, Tree& tree) {
    data_.count(set.rows, counts_);
    const std::int32_t at = add_node(tree, counts_);
    const OrNode& node = graph_[id];
    if (node.best == no_column) return at;
    tree.feature[static_cast<std::size_t>(at)] =
        static_cast<std::int32_t>(data_.original(node.best));
    Subset part;
    for (int side = 0; side < 2; ++side) {
      part.rows.assign_side(set.rows, data_.column(node.best), side);
      std::int32_t child;
      if (node.expanded) {
        child = build(node.splits[graph_.find_split(id, node.best)].child[side], part, tree);
      } else {
        data_.count(part.rows, counts_);
        child = add_node(tree, counts_);
      }
      (side == 0 ? tree.left : tree.right)[static_cast<std::size_t>(at)] = child;
    }
    return at;
  }

  Result finish(Status status) {
    record();  // a descent alone can solve the root
    stats_.status = solved() ? Status::optimal : status;
    stats_.lower = graph_[root_].lower;
    stats_.upper = upper();
    stats_.proved_depth = proved_depth();
    if (improver_.cost() < graph_[root_].upper) {
      stats_.tree = improver_.tree();
    } else {
      Subset all;
      all.rows = data_.all_rows();
      build(root_, all, stats_.tree);
    }
    stats_.scores = score(stats_.tree, data_, posterior_);
    if (stats_.scores.subtree[0] != stats_.upper)
      throw std::logic_error("the tree found does not have the cost that was claimed for it");
    stats_.peak_bytes = std::max(stats_.peak_bytes, static_cast<std::int64_t>(bytes()));
    stats_.seconds = control_.seconds();
    return std::move(stats_);
  }

  const Dataset& data_;
  const Options options_;
  Control& control_;
  const Posterior& posterior_;
  const Bounds bounds_;
  Expander expander_;
  Graph graph_;
  Improver improver_;
  OrId root_ = OrId::none;
  static constexpr std::int64_t slice = 1'000'000;  // of work, at a time
  std::int64_t work_ = 0;                           // counted so far, the improver's included
  const std::function<bool(std::int64_t)> poll_ = [this](std::int64_t work) {
    work_ += work;
    return control_.stop(work, [this] { return progress(); });
  };
  std::vector<Subset> path_;  // by depth
  Subset part_;
  std::vector<std::int64_t> counts_;
  Expansion expansion_;
  Result stats_;
  Cost traced_lower_, traced_upper_;
  std::int64_t next_trace_ = 0;
};

// log(from (from + 1) ... (from + n - 1)): the first factors one by one, the rest by Stirling's
// series, whose error is far below a unit there. (The log-gamma function of the C library cancels
// for a large `from`, and keeps a sign in a global variable.)
double log_rising(double from, std::int64_t n) {
  constexpr std::int64_t one_by_one = 1 << 12;
  double sum = 0;
  for (std::int64_t t = 0; t < std::min(n, one_by_one); ++t)
    sum += std::log(from + static_cast<double>(t));
  if (n <= one_by_one) return sum;
  const double a = from + static_cast<double>(one_by_one);
  const double b = from + static_cast<double>(n);
  const double ratio = std::log1p((b - a) / a);
  // (b - 1/2) log b - b - (a - 1/2) log a + a, without the difference of large numbers.
  return sum + (b - 0.5) * ratio + (b - a) * (std::log(a) - 1) + (1 / b - 1 / a) / 12;
}

// Where there was no time or memory for the tables: the lone leaf, and the bound that every
// probability has. Its cost does not come from the tables; nothing is compared with it.
Result lone_leaf(const Dataset& data, const Prior& prior, Status status, double seconds,
                 std::size_t bytes) {
  std::vector<std::int64_t> counts(prior.rho.size());
  data.count(data.all_rows(), counts);
  double nats = data.n_columns() > 0 ? -std::log1p(-prior.alpha) : 0;
  double sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    nats -= log_rising(prior.rho[k], counts[k]);
    sum += prior.rho[k];
  }
  nats += log_rising(sum, data.total_weight());
  Result result;
  result.upper = std::max(Cost(0), Cost::nearest(nats));
  result.status = result.upper == result.lower ? Status::optimal : status;
  result.proved_depth = result.status == Status::optimal ? -1 : 0;
  result.seconds = seconds;
  result.peak_bytes = static_cast<std::int64_t>(bytes);
  result.trace.push_back({seconds, 0, result.lower.nats(), result.upper.nats()});
  result.subproblems = 1;
  add_node(result.tree, counts);
  result.scores = {{result.upper}, {result.upper}};
  return result;
}

}  // namespace

Result search(const Dataset& data, const Prior& prior, const Options& options, const Limits& limits,
              const Monitor& monitor) {
  if (options.max_depth < -1) throw std::invalid_argument("max_depth must be -1 or more");
  if (options.min_samples_leaf < 1)
    throw std::invalid_argument("min_samples_leaf must be at least 1");
  Options effective = options;
  effective.min_samples_leaf = std::min(options.min_samples_leaf, max_total_weight + 1);

  Control control(limits, monitor);
  const std::size_t needed = data.bytes() + Posterior::bytes_for(data) + Bounds::bytes_for(data) +
                             NodeView::bytes_for(data, effective);
  const bool fits =
      limits.memory_bytes < 0 || needed <= static_cast<std::size_t>(limits.memory_bytes);
  Posterior::check(prior, data);
  if (!fits) return lone_leaf(data, prior, Status::memory_limit, control.seconds(), data.bytes());
  const auto stop = [&] {
    return control.stop(1'000'000, [&] {
      Progress progress;
      progress.bytes = static_cast<std::int64_t>(needed);
      progress.upper = Cost::infinity();
      return progress;
    });
  };
  const Posterior posterior(prior, data, stop);
  if (!posterior.complete())
    return lone_leaf(data, prior, control.reason(), control.seconds(), needed);
  return BestFirst(data, posterior, effective, control).run();
}

}  // namespace maptree
