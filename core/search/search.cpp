#include "search/search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "improve/improve.hpp"
#include "improve/incumbent.hpp"
#include "improve/sized_improver.hpp"
#include "model/constraints.hpp"
#include "paper/best_first.hpp"
#include "prove/schedule.hpp"
#include "prove/team.hpp"
#include "scan/expand.hpp"

namespace maptree {

namespace {

// For look-aheads, where others have taken so much.
[[nodiscard]] std::size_t improver_bytes_within(const Limits& limits, std::size_t taken) {
  constexpr std::size_t ample = std::size_t{1} << 26;
  const std::int64_t limit = limits.memory_bytes;
  if (limit < 0) return ample;
  return limit < static_cast<std::int64_t>(taken)
             ? 0
             : std::min(ample, (static_cast<std::size_t>(limit) - taken) / 8);
}

// The improver has searched for a better tree for long. Before the least of it nothing can be told:
// on page-blocks a tree stands from 50 million units of work to 1.4 billion, then falls.
bool out_of_patience(const BestTree& improver, const Limits& limits) {
  constexpr std::int64_t least = 400'000'000;
  const std::int64_t until_found = std::max(improver.last_gain(), least);
  return improver.exhausted() || double(improver.work()) > limits.patience * double(until_found);
}

// What both ways to search share: the best tree, limits, the trace and the result.
class Search {
 public:
  Search(const Dataset& data, const Posterior& posterior, const Options& options, Control& control,
         Watch& watch, const Monitor& monitor, std::span<const Tree> known)
      : data_(data),
        posterior_(posterior),
        options_(options),
        control_(control),
        watch_(watch),
        bounds_(posterior, data, options_),
        expander_(data, posterior, bounds_, options_),
        most_nodes_(most_nodes()),
        improving_(make_improver()),
        improver_(*improving_),
        known_(known) {
    now_.lower = bounds_.root_lower();
    now_.offset = stats_.offset = posterior.offset();
    if (monitor) control.set_poll([&](double seconds) { return monitor(progress(seconds)); });
  }

  Result run() {
    if (options_.greedy_start) {
      Incumbent greedy(data_, posterior_, bounds_, options_, expander_, most_nodes_);
      Tree tree;
      const Cost cost = greedy.grow(watch_, tree, &control_);
      owed_ = greedy.owed();
      improver_.offer(tree, cost);
    }
    for (const Tree& tree : known_) {
      if (!is_considered(tree, data_, options_))
        throw std::invalid_argument("a known tree is not one of those that are searched");
      improver_.offer(tree, score(tree, data_, posterior_).subtree[0]);
    }
    stats_.subproblems = 1;
    if (options_.max_depth == 0) {  // there is only one tree
      now_.lower = improver_.cost();
      return finish(Status::optimal);
    }
    record();
    return finish(options_.depth_first ? depth_first() : best_first());
  }

 private:
  // The search of the paper, alternating with the improver.
  Status best_first() {
    BestFirst engine(data_, posterior_, bounds_, expander_, options_);
    const auto take = [&] {
      if (engine.upper() < improver_.cost()) {
        Tree tree;
        engine.read_tree(tree);
        improver_.offer(tree, engine.upper());
      }
      now_.lower = engine.lower();
      stats_.subproblems = engine.subproblems();
      engine_bytes_ = engine.bytes();
      // Pair expansion of the root covers every tree of depth two (one, with rows not folded).
      if (engine.root_expanded() && options_.pair_expansion)
        now_.proved_depth = data_.rows_folded() ? 2 : 1;
      record();
    };
    take();
    while (!solved()) {
      if (!has_room(engine.growth()) || improver_.too_large()) return Status::memory_limit;
      if (watch_.stop(1000)) return control_.reason();
      engine.select();
      if (stats_.expansions == control_.limits().max_expansions) return Status::expansion_limit;
      if (!engine.expand(watch_)) return control_.reason();
      ++stats_.expansions;
      assert(stats_.expansions % 64 != 0 || engine.is_ok());
      improve();
      take();
    }
    return Status::optimal;
  }

  [[nodiscard]] std::unique_ptr<BestTree> make_improver() {
    if (options_.max_leaves < 0)
      return std::make_unique<Improver>(data_, posterior_, expander_, improver_bytes(),
                                        most_nodes_);
    return std::make_unique<SizedImprover>(data_, posterior_, options_,
                                           static_cast<std::size_t>(options_.max_leaves),
                                           improver_bytes());
  }

  // Proofs of everything and by depth on all threads; the improver runs on this one as well.
  Status depth_first() {
    Schedule schedule(data_, posterior_, options_, control_.limits().max_expansions);
    Prover prover(data_, posterior_, expander_, schedule.desk());
    Team team(schedule, data_, posterior_, bounds_, options_, control_, n_helpers());
    const std::int64_t limit = control_.limits().memory_bytes;
    std::int64_t room = -1;  // for the store, under a limit
    const auto take = [&] {
      Cost found = Cost::infinity();
      if (Tree tree; schedule.read_cheaper(prover, tree)) {
        found = score(tree, data_, posterior_).subtree[0];
        improver_.offer(tree, found);
      }
      if (options_.max_leaves > 0 &&
          (found < improver_.cost() || !improver_.is_cheapest_known() || is_small_limit()))
        schedule.limit_leaves(static_cast<std::uint32_t>(options_.max_leaves));
      schedule.set_goal(improver_.cost());
      now_.lower = std::min(schedule.lower(), improver_.cost());
      now_.proved_depth = schedule.proved_depth();
      stats_.expansions = schedule.desk().expansions;
      stats_.subproblems = static_cast<std::int64_t>(schedule.desk().store.n_made());
      engine_bytes_ = schedule.bytes() + prover.bytes() + team.bytes();
      const std::int64_t others = static_cast<std::int64_t>(bytes() + growth()) -
                                  static_cast<std::int64_t>(schedule.desk().store.bytes());
      if (limit >= 0) {
        // What the store has taken it does not give back, so it may only be given less.
        const std::int64_t left = std::max<std::int64_t>(0, limit - others);
        room = room < 0 ? std::max<std::int64_t>(0, left - headroom(left)) : std::min(room, left);
        schedule.desk().store.set_limit(static_cast<std::size_t>(room));
      }
      record();
    };
    auto lock = schedule.lock();
    const auto work = [&] {
      take();
      team.start();
      while (true) {
        team.rethrow();
        take();
        if (solved()) return Status::optimal;
        if (schedule.desk().broken) watch_.check();  // the time is up
        if (control_.stopped()) return control_.reason();
        if (schedule.desk().out_of_expansions) return Status::expansion_limit;
        if (schedule.desk().out_of_memory || improver_.too_large()) return Status::memory_limit;
        const bool for_the_tree =
            std::isfinite(control_.limits().patience) && schedule.out_of_sight();
        if (for_the_tree && out_of_patience(improver_, control_.limits())) return Status::patience;
        // Long enough to be worth the way down, short enough to share out the work.
        schedule.work(prover, lock, std::clamp(watch_.work() / 64, slice, 32 * slice), watch_);
        lock.unlock();
        improve(for_the_tree);
        lock.lock();
      }
    };
    try {
      const Status status = work();
      lock.unlock();
      team.stop();
      team.rethrow_collision();
      return status;
    } catch (...) {
      // The other threads go on until the team stops: they must not take up what is half done.
      if (!lock.owns_lock()) lock.lock();
      schedule.desk().broken = true;
      throw;
    }
  }

  // Proofs of so few leaves are soon there, whatever the best tree has: of lymph those of at most 6
  // leaves take 6,179 expansions, of 8 45,724, of any number some 30,000.
  [[nodiscard]] bool is_small_limit() const { return options_.max_leaves <= 6; }

  // For what grows outside the store: the trace, the tree, the provers' paths.
  [[nodiscard]] std::int64_t headroom(std::int64_t room) const {
    constexpr std::int64_t least = 4096, most = 1 << 20, levels = 16;
    const auto path = static_cast<std::int64_t>(data_.n_words() * sizeof(Word));
    return std::clamp(room / 16, least, most) +
           levels * path * std::max<std::int64_t>(control_.limits().threads, 1);
  }

  // As many as there are threads to spare and room for their scratch memory.
  [[nodiscard]] std::size_t n_helpers() const {
    const std::int64_t wanted = std::max<std::int64_t>(control_.limits().threads, 1) - 1;
    const std::int64_t limit = control_.limits().memory_bytes;
    if (limit < 0) return static_cast<std::size_t>(wanted);
    const std::int64_t room = limit / 2 - static_cast<std::int64_t>(bytes());
    return static_cast<std::size_t>(std::clamp<std::int64_t>(
        room / static_cast<std::int64_t>(expander_.bytes() + 1), 0, wanted));
  }

  // Half of the work while it pays; little once most of its work brought nothing. With patience,
  // where a proof is out of sight: most of it, for what is wanted is the tree, and soon.
  void improve(bool for_the_tree = false) {
    if (!options_.improve) return;
    const std::int64_t done = improver_.work(), gain = improver_.last_gain();
    const std::int64_t share = done < 4 * gain + 50 * slice      ? 2
                               : done < 16 * gain + 1000 * slice ? 8
                                                                 : 32;
    const std::int64_t due = for_the_tree ? watch_.work() / 8 * 7 : watch_.work() / share;
    if (improver_.exhausted() || done > due) return;
    improver_.improve(std::max(slice, (due - done) / 2), watch_);
  }

  [[nodiscard]] std::size_t improver_bytes() const {
    if (!options_.improve) return 0;
    return improver_bytes_within(control_.limits(), data_.bytes() + posterior_.bytes() +
                                                        bounds_.bytes() + expander_.bytes());
  }

  // The class counts of a tree's nodes are part of the result.
  [[nodiscard]] std::size_t most_nodes() const {
    constexpr std::size_t ample = std::size_t{1} << 27;
    const std::int64_t limit = control_.limits().memory_bytes;
    const std::size_t most =
        limit < 0 ? ample : std::min(ample, static_cast<std::size_t>(limit) / 8);
    const std::size_t node = data_.n_sums() * sizeof(std::int64_t);
    return std::max<std::size_t>(1, most / node);
  }

  [[nodiscard]] bool solved() const { return now_.lower >= improver_.cost(); }

  [[nodiscard]] std::size_t bytes() const {
    return data_.bytes() + posterior_.bytes() + bounds_.bytes() + expander_.bytes() +
           improver_.bytes() + engine_bytes_ + stats_.trace.capacity() * sizeof(stats_.trace[0]);
  }
  // The most that the improver and the trace could still add to bytes().
  [[nodiscard]] std::size_t growth() const {
    const auto& trace = stats_.trace;
    return improver_.growth() +
           (trace.size() + 2 <= trace.capacity() ? 0 : (2 * trace.size() + 2) * sizeof(trace[0]));
  }
  [[nodiscard]] bool has_room(std::size_t more) const {
    const std::int64_t limit = control_.limits().memory_bytes;
    return limit < 0 || bytes() + growth() + more <= static_cast<std::size_t>(limit);
  }

  [[nodiscard]] Progress progress(double seconds) const {
    Progress report = now_;
    report.seconds = seconds;
    report.expansions = stats_.expansions;
    report.subproblems = stats_.subproblems;
    report.bytes = static_cast<std::int64_t>(bytes());
    report.upper = improver_.cost();
    report.leaves = static_cast<std::int64_t>(improver_.n_leaves());
    return report;
  }

  void record() {
    owe();
    stats_.peak_bytes = std::max(stats_.peak_bytes, static_cast<std::int64_t>(bytes()));
    const Cost upper = improver_.cost();
    // Every better tree; of better bounds, enough to draw the curve.
    if (!stats_.trace.empty() && upper == traced_upper_ && !solved()) {
      if (now_.lower == traced_lower_ || stats_.expansions < next_trace_) return;
    }
    trace();
  }

  void trace() {
    const Cost upper = improver_.cost();
    if (!stats_.trace.empty() && now_.lower == traced_lower_ && upper == traced_upper_) return;
    traced_lower_ = now_.lower;
    traced_upper_ = upper;
    next_trace_ = stats_.expansions + stats_.expansions / 50 + 1;
    stats_.trace.push_back({control_.seconds(), static_cast<double>(stats_.expansions),
                            traced_lower_.nats() + stats_.offset.nats(),
                            traced_upper_.nats() + stats_.offset.nats()});
  }

  Result finish(Status status) {
    trace();
    stats_.status = solved() ? Status::optimal : status;
    stats_.lower = now_.lower;
    stats_.upper = improver_.cost();
    stats_.proved_depth = solved() ? -1 : now_.proved_depth;
    stats_.tree = improver_.tree();
    stats_.scores = score_and_count(stats_.tree, data_, posterior_);
    stats_.peak_bytes = std::max(
        stats_.peak_bytes, static_cast<std::int64_t>(bytes() + stats_.tree.counts.size() *
                                                                   sizeof(stats_.tree.counts[0])));
    if (stats_.scores.subtree[0] != stats_.upper)
      throw std::logic_error("the tree found does not have the cost that was claimed for it");
    stats_.seconds = control_.seconds();
    stats_.clock = control_.clock_use();
    return std::move(stats_);
  }

  // Leaves time for finish(), which scores the best tree.
  void owe() {
    const std::int64_t work = scoring_work(data_, 2 * improver_.n_leaves());
    control_.owe(work - std::exchange(owed_, work));
  }

  static constexpr std::int64_t slice = 1'000'000;  // of work, at least, at a time

  const Dataset& data_;
  const Posterior& posterior_;
  const Options options_;
  Control& control_;
  Watch& watch_;
  const Bounds bounds_;
  Expander expander_;
  const std::size_t most_nodes_;  // of a tree
  const std::unique_ptr<BestTree> improving_;
  BestTree& improver_;  // holds the best tree
  const std::span<const Tree> known_;
  Progress now_;  // its bound and its depth
  std::size_t engine_bytes_ = 0;
  Result stats_;
  Cost traced_lower_, traced_upper_;
  std::int64_t next_trace_ = 0;
  std::int64_t owed_ = 0;  // work
};

// What a search holds when it begins, known in advance: with less memory it does not start.
std::size_t bytes_for(const Dataset& data, const Prior& prior, const Options& options) {
  constexpr std::size_t small_things = 1 << 14;  // that nobody counts one by one
  const std::size_t engine = options.depth_first
                                 ? Schedule::bytes_for(data, options) + Prover::bytes_for(data)
                                 : BestFirst::bytes_for(data);
  const std::size_t sized = options.max_leaves < 0 ? 0 : SizedImprover::bytes_for(data, options);
  const std::size_t improver =
      options.improve ? usual_splits(data) * sizeof(SplitBounds) + sized : 0;
  return data.bytes() + Posterior::bytes_for(data, prior.leaves) + Bounds::bytes_for(data) +
         Expander::bytes_for(data, options) + engine + improver + small_things;
}

// Where there was no time or memory for the tables: the lone leaf, and the bound that every
// probability has.
Result lone_leaf(const Dataset& data, const Prior& prior, const Options& options, Status status,
                 const Control& control, std::size_t bytes) {
  Result result;
  result.upper = lone_leaf_cost(prior, data);
  if (data.has_amounts()) result.lower = Cost(0) - Cost::infinity();  // densities have no bound
  if (options.max_depth == 0) result.lower = result.upper;            // there is no other tree
  result.status = result.upper == result.lower ? Status::optimal : status;
  result.proved_depth = result.status == Status::optimal ? -1 : 0;
  result.seconds = control.seconds();
  result.clock = control.clock_use();
  result.peak_bytes = static_cast<std::int64_t>(bytes);
  result.trace.push_back({result.seconds, 0, result.lower.nats(), result.upper.nats()});
  result.subproblems = 1;
  add_node(result.tree);
  result.tree.counts = data.totals();
  result.scores = {{result.upper}, {result.upper}};
  return result;
}

}  // namespace

Result search(const Dataset& data, const Prior& prior, const Options& options, const Limits& limits,
              const Monitor& monitor, std::span<const Tree> known) {
  const Options effective = checked(options, data);
  if (options.max_leaves > 0 && !options.depth_first)
    throw std::invalid_argument("max_leaves needs depth_first");
  Control control(limits);
  Watch watch(control);
  const std::size_t needed = bytes_for(data, prior, effective);
  const bool fits =
      limits.memory_bytes < 0 || needed <= static_cast<std::size_t>(limits.memory_bytes);
  Posterior::check(prior, data);
  const auto without_tables = [&](Status status, std::size_t bytes) {
    return lone_leaf(data, prior, effective, status, control, bytes);
  };
  if (!data.complete()) return without_tables(Status::time_limit, data.bytes());
  if (!fits) return without_tables(Status::memory_limit, data.bytes());
  if (monitor)
    control.set_poll([&](double seconds) {
      Progress progress;
      progress.seconds = seconds;
      progress.bytes = static_cast<std::int64_t>(needed);
      if (data.has_amounts()) progress.lower = Cost(0) - Cost::infinity();
      progress.upper = Cost::infinity();
      return monitor(progress);
    });
  Posterior posterior(prior, data, watch);
  if (!posterior.complete()) return without_tables(control.reason(), needed);
  posterior.add_price(Cost::nearest(options.leaf_price));
  return Search(data, posterior, effective, control, watch, monitor, known).run();
}

std::vector<Result> sweep_sizes(const Dataset& data, const Prior& prior, const Options& options,
                                const Limits& limits, const Monitor& monitor) {
  const Options effective = checked(options, data);
  if (options.max_leaves < 0) throw std::invalid_argument("sweep_sizes needs max_leaves");
  Control control(limits);
  Watch watch(control);
  Posterior::check(prior, data);
  const auto without_tables = [&](Status status, std::size_t bytes) {
    return std::vector{lone_leaf(data, prior, effective, status, control, bytes)};
  };
  if (!data.complete()) return without_tables(Status::time_limit, data.bytes());
  const std::size_t needed = bytes_for(data, prior, effective);
  if (limits.memory_bytes >= 0 && needed > static_cast<std::size_t>(limits.memory_bytes))
    return without_tables(Status::memory_limit, data.bytes());
  Progress now;
  if (monitor)
    control.set_poll([&](double seconds) {
      now.seconds = seconds;
      return monitor(now);
    });
  const Posterior posterior(prior, data, watch);
  if (!posterior.complete()) return without_tables(control.reason(), needed);
  const Bounds bounds(posterior, data, effective);
  SizedImprover improver(data, posterior, effective, static_cast<std::size_t>(options.max_leaves),
                         improver_bytes_within(limits, needed), SizedImprover::Aim::every_size);
  {
    Expander expander(data, posterior, bounds, effective);
    Tree tree;
    const Cost cost = Incumbent(data, posterior, bounds, effective, expander).grow(watch, tree);
    improver.offer(tree, cost);
  }
  std::size_t peak = 0;
  constexpr std::int64_t slice = 4'000'000;
  while (!control.stopped() && !out_of_patience(improver, limits)) {
    improver.improve(slice, watch);
    peak = std::max(peak, data.bytes() + posterior.bytes() + bounds.bytes() + improver.bytes());
    now.bytes = static_cast<std::int64_t>(peak);
    now.lower = bounds.root_lower();
    now.offset = posterior.offset();
    now.upper = improver.cost();
    now.leaves = static_cast<std::int64_t>(improver.n_leaves());
  }
  std::vector<Result> found;
  for (std::size_t leaves = 1; leaves <= static_cast<std::size_t>(options.max_leaves); ++leaves) {
    if (!improver.cost_of(leaves).finite()) continue;
    Result& of = found.emplace_back();
    of.tree = improver.tree_of(leaves);
    of.scores = score_and_count(of.tree, data, posterior);
    of.upper = of.scores.subtree[0];
    of.offset = posterior.offset();
    of.lower = std::min(of.upper, bounds.root_lower());
    of.status = of.upper == of.lower ? Status::optimal
                : control.stopped()  ? control.reason()
                                     : Status::expansion_limit;
    of.peak_bytes = static_cast<std::int64_t>(peak);
    of.seconds = control.seconds();
    of.clock = control.clock_use();
  }
  return found;
}

}  // namespace maptree
