#include "rivals/rivals.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/constraints.hpp"
#include "prove/prover.hpp"
#include "rivals/streams.hpp"

namespace maptree {

namespace {

// The goal rises by so much at a time: what is between the last tree and the goal is proved for
// nothing, and with every goal all open splits are visited.
const Cost window = Cost::nearest(1.0);

class Listing {
 public:
  Listing(const Dataset& data, const Posterior& posterior, const Options& options,
          const RivalWish& wish, Control& control, Watch& watch, const RivalMonitor& monitor)
      : data_(data),
        posterior_(posterior),
        wish_(wish),
        control_(control),
        watch_(watch),
        desk_(posterior.test_costs()),
        proof_(
            data, posterior, options, depth_limit(options), Proof::Pace::evenly,
            options.max_leaves < 0 ? any_leaves : static_cast<std::uint32_t>(options.max_leaves)),
        expander_(data, posterior, proof_.bounds, options),
        prover_(data, posterior, expander_, desk_),
        streams_(data, posterior, options, expander_, prover_, desk_, proof_) {
    desk_.max_expansions = control.limits().max_expansions;
    list_.complete = proof_.bounds.root_lower();
    list_.offset = posterior.offset();
    if (monitor) control.set_poll([&](double seconds) { return monitor(progress(seconds)); });
    share_memory();
  }

  RivalList run() {
    std::unique_lock lock(desk_.mutex);
    bool goes_on = prove_first(lock);
    list_.first_expansions = desk_.expansions;
    if (goes_on) goes_on = list_all(lock);
    list_.status = goes_on                   ? Status::optimal
                   : control_.stopped()      ? control_.reason()
                   : desk_.out_of_expansions ? Status::expansion_limit
                                             : Status::memory_limit;
    list_.expansions = desk_.expansions;
    list_.streams = static_cast<std::int64_t>(streams_.size());
    list_.seconds = control_.seconds();
    list_.clock = control_.clock_use();
    note_bytes();
    return std::move(list_);
  }

 private:
  // A limit is shared by the store, which may drop what it has, and the streams, which may not.
  void share_memory() {
    const std::int64_t limit = control_.limits().memory_bytes;
    if (limit < 0) return;
    constexpr std::size_t store_share = 2;  // one part in this number
    const std::size_t others = bytes() - desk_.store.bytes() - streams_.bytes();
    const std::size_t left =
        static_cast<std::size_t>(limit) - std::min(static_cast<std::size_t>(limit), others);
    const std::size_t path = levels * data_.n_words() * sizeof(Word);
    desk_.store.set_limit((left - std::min(left, path)) / store_share);
    for_streams_ = left - left / store_share;
    streams_.set_limit(for_streams_);
  }

  // The bound of everything, as a search raises it.
  bool prove_first(std::unique_lock<std::mutex>& lock) {
    constexpr std::int64_t slice = 20'000'000;
    while (true) {
      prover_.advance(lock, proof_, Cost::infinity(), slice, watch_);
      if (proof_.root == NodeId::none) return false;
      const StoreNode& root = desk_.store[proof_.root];
      list_.complete = std::max(list_.complete, root.lower);
      note_bytes();
      if (root.solved()) break;
      if (watch_.stopped() || watch_.stop(1000)) return false;
      if (desk_.out_of_memory || desk_.out_of_expansions || desk_.broken) return false;
    }
    list_.best = list_.complete;
    root_ = streams_.add_root(list_.best);
    return true;
  }

  bool list_all(std::unique_lock<std::mutex>& lock) {
    const Cost limit =
        wish_.within.finite() ? list_.best + wish_.within + Cost(1) : Cost::infinity();
    Cost goal = list_.best;
    while (static_cast<std::int64_t>(list_.rivals.size()) < wish_.most) {
      const auto examined = static_cast<std::size_t>(list_.examined);
      if (streams_.lower(root_) >= goal) goal = std::min(limit, streams_.lower(root_) + window);
      const bool goes_on = streams_.advance(root_, goal, lock, watch_);
      list_.complete = std::max(list_.complete, streams_.lower(root_));
      note_bytes();
      if (streams_.n_entries(root_) > examined)
        add(examined);
      else if (!goes_on)
        return false;
      else if (streams_.lower(root_) >= limit || !streams_.lower(root_).finite())
        return true;
    }
    return true;
  }

  void add(std::size_t entry) {
    Rival made;
    made.cost = streams_.cost(root_, entry);
    made.offset = list_.offset;
    streams_.read_tree(root_, entry, made.tree);
    made.scores = score_and_count(made.tree, data_, posterior_);
    if (made.scores.subtree[0] != made.cost)
      throw std::logic_error("a tree found does not have the cost that was claimed for it");
    ++list_.examined;
    if (wish_.accept && !wish_.accept(made)) return;
    const std::size_t nodes = made.tree.feature.size();
    bytes_of_trees_ += nodes * (3 * sizeof(std::int32_t) + 2 * sizeof(Cost)) +
                       made.tree.counts.size() * sizeof(std::int64_t);
    list_.rivals.push_back(std::move(made));
    if (for_streams_ > 0) streams_.set_limit(for_streams_ - std::min(for_streams_, trees_bytes()));
  }

  [[nodiscard]] std::size_t trees_bytes() const {
    return bytes_of_trees_ + list_.rivals.capacity() * sizeof(Rival);
  }
  [[nodiscard]] std::size_t bytes() const {
    return data_.bytes() + posterior_.bytes() + proof_.bounds.bytes() + expander_.bytes() +
           prover_.bytes() + desk_.store.bytes() + streams_.bytes() + trees_bytes();
  }
  void note_bytes() {
    list_.peak_bytes = std::max(list_.peak_bytes, static_cast<std::int64_t>(bytes()));
  }
  [[nodiscard]] RivalProgress progress(double seconds) const {
    return {seconds,
            desk_.expansions,
            static_cast<std::int64_t>(bytes()),
            static_cast<std::int64_t>(list_.rivals.size()),
            list_.examined,
            list_.best,
            list_.complete,
            list_.offset};
  }

  static constexpr std::size_t levels = 16;  // of paths that grow outside the store

  const Dataset& data_;
  const Posterior& posterior_;
  const RivalWish wish_;
  Control& control_;
  Watch& watch_;
  Desk desk_;
  Proof proof_;
  Expander expander_;
  Prover prover_;
  Streams streams_;
  StreamId root_ = StreamId::none;
  std::size_t bytes_of_trees_ = 0;
  std::size_t for_streams_ = 0;  // and trees, under a limit
  RivalList list_;
};

// What a listing holds when it begins.
std::size_t bytes_for(const Dataset& data, const Prior& prior, const Options& options) {
  constexpr std::size_t small_things = 1 << 14;
  return data.bytes() + Posterior::bytes_for(data, prior.leaves) + Bounds::bytes_for(data) +
         Expander::bytes_for(data, options) + Store::first_bytes() + Prover::bytes_for(data) +
         usual_splits(data) * sizeof(SplitBounds) + small_things;
}

}  // namespace

RivalList find_rivals(const Dataset& data, const Prior& prior, const Options& options,
                      const RivalWish& wish, const Limits& limits, const RivalMonitor& monitor) {
  if (wish.most < 1) throw std::invalid_argument("at least 1 tree must be asked for");
  if (wish.within < Cost(0)) throw std::invalid_argument("within must be 0 or more");
  if (options.leaf_price != 0) throw std::invalid_argument("leaf_price must be 0");
  const Options effective = checked(options, data);

  Control control(limits);
  Watch watch(control);
  Posterior::check(prior, data);
  const std::size_t needed = bytes_for(data, prior, effective);
  const bool fits =
      limits.memory_bytes < 0 || needed <= static_cast<std::size_t>(limits.memory_bytes);
  const auto nothing = [&](Status status) {
    RivalList list;
    list.status = status;
    if (data.has_amounts()) list.complete = Cost(0) - Cost::infinity();
    list.seconds = control.seconds();
    list.clock = control.clock_use();
    list.peak_bytes = static_cast<std::int64_t>(data.bytes());
    return list;
  };
  if (!data.complete()) return nothing(Status::time_limit);
  if (!fits) return nothing(Status::memory_limit);
  if (monitor)
    control.set_poll([&](double seconds) {
      RivalProgress progress;
      progress.seconds = seconds;
      progress.bytes = static_cast<std::int64_t>(needed);
      return monitor(progress);
    });
  const Posterior posterior(prior, data, watch);
  if (!posterior.complete()) return nothing(control.reason());
  return Listing(data, posterior, effective, wish, control, watch, monitor).run();
}

}  // namespace maptree
