#include "prove/prover.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "prove/leaf_shares.hpp"

namespace maptree {

namespace {

// Bounds are raised by so much at a time: less means more walking, more means that a turn may
// spend on one child what the other would have given for less.
const Cost turn = Cost::nearest(1.0);
// Splits bounded by so much more than their node are not needed for a turn.
const Cost margin = turn;

// Some tens of nanoseconds in which nothing is asked of the memory that others write to.
void rest_a_little() {
#if defined(__x86_64__)
  for (int i = 0; i < 4; ++i) __builtin_ia32_pause();
#elif defined(__aarch64__)
  for (int i = 0; i < 4; ++i) asm volatile("yield");
#endif
}

// The lock is held for microseconds, and to be woken takes longer: wait for it awake at first.
void take_back(std::unique_lock<std::mutex>& lock) {
  for (int i = 0; i < 200; ++i) {
    if (lock.try_lock()) return;
    rest_a_little();
  }
  lock.lock();
}

// Before the place of any split.
constexpr Place before_all{Cost(INT64_MIN), 0};

// As Store::open wants them, without those that it would not keep.
void sort_splits(Expansion& found, Cost upper, TestCosts test_costs) {
  if (found.best != no_column) upper = std::min(upper, found.best_cost);
  const auto place = [=](const SplitBounds& split) { return place_of(split, test_costs); };
  std::erase_if(found.splits,
                [&](const SplitBounds& split) { return found.base + place(split).total >= upper; });
  std::ranges::sort(found.splits, {}, place);
}

Options limited(Options options, std::uint32_t depth_limit) {
  options.max_depth = depth_limit == no_limit ? -1 : static_cast<std::int64_t>(depth_limit);
  return options;
}

}  // namespace

Proof::Proof(const Dataset& data, const Posterior& posterior, const Options& options,
             std::uint32_t depth_limit, Pace its_pace, std::uint32_t most_leaves)
    : limit(depth_limit),
      leaves(most_leaves),
      pace(its_pace),
      transfer(options.depth_transfer),
      bounds(posterior, data, limited(options, depth_limit)) {}

void Proof::note(Cost lower) {
  if (noted_work_[1] != 0 && work < 2 * noted_work_[1]) return;
  noted_work_[0] = noted_work_[1];
  noted_[0] = noted_[1];
  noted_work_[1] = std::max<std::int64_t>(work, 1);
  noted_[1] = lower;
}

double Proof::forecast(Cost lower, Cost goal) const {
  if (noted_work_[0] == 0) return std::numeric_limits<double>::infinity();
  const double doublings = std::log2(double(work) / double(noted_work_[0]));
  const double rise = (lower - noted_[0]).nats() / std::max(doublings, 1.0);
  if (rise <= 0) return std::numeric_limits<double>::infinity();
  return double(work) * (std::exp2(std::min(500.0, (goal - lower).nats() / rise)) - 1);
}

bool Desk::make_room(std::size_t n_splits, Watch& watch) {
  if (store.has_room(n_splits)) return true;
  std::vector<NodeId> all = roots;
  for (const std::vector<NodeId>* one : pinned) all.insert(all.end(), one->begin(), one->end());
  // A quarter of it, as a rule; all of it, before giving up.
  for (const std::size_t target : {store.live() / 4 * 3, std::size_t{0}}) {
    ++collections;
    if (!store.collect(all, target, margin, watch)) {
      broken = true;
      return false;
    }
    if (store.has_room(n_splits)) return true;
  }
  out_of_memory = true;
  return false;
}

Prover::Prover(const Dataset& data, const Posterior& posterior, Expander& expander, Desk& desk)
    : data_(data), posterior_(posterior), expander_(expander), desk_(desk), store_(desk.store) {
  counts_.resize(data.n_sums());
  expansion_.splits.reserve(usual_splits(data));
  if (data.ordered().n_columns() > 0) {
    expansion_.parted.reserve(usual_splits(data));
    spans_.reserve(usual_splits(data));
  }
  desk_.pinned.push_back(&pins_);
}

Prover::~Prover() { std::erase(desk_.pinned, &pins_); }

std::size_t Prover::bytes() const {
  return (path_.size() + 1) * data_.n_words() * sizeof(Word) + pins_.capacity() * sizeof(NodeId) +
         (expansion_.splits.capacity() + spans_.capacity()) * sizeof(SplitBounds) +
         expansion_.parted.capacity() * sizeof(std::uint32_t);
}

RowSet& Prover::rows_at(std::size_t depth) {
  if (path_.size() <= depth) path_.resize(depth + 1);
  return path_[depth];
}

// Bounds rise by a turn at a time. Where thresholds are many a step takes expansions of many nodes,
// which sort their rows anew: then it is half of what is left. The bound rises later, but the proof
// is there sooner; without a limit of depth it seldom is, and the bound is what counts.
Cost Prover::next_goal(const Proof& proof, Cost lower, Cost goal) const {
  Cost step = turn;
  if (data_.ordered().n_columns() > 0 && proof.limit != no_limit)
    step = std::max(step, Cost((goal - lower).units() / 2));
  return std::min(goal, lower + step);
}

Prover::Measure Prover::measure(const RowSet& rows, std::size_t depth) {
  const std::int64_t distinct = data_.count(rows, counts_);
  const bool varies = data_.varies(rows, distinct);
  return {posterior_.leaf(counts_) + (varies ? posterior_.stop(depth) : Cost(0)),
          RowSums::of(counts_, distinct, data_.n_classes()), distinct};
}

// A limit that no tree can reach is none, so that such nodes are one. Distinct rows are told where
// rows are folded; else there are more of them, which is as safe.
StoreKey Prover::key_of(const RowKey& rows, std::size_t depth, std::uint32_t leaves,
                        std::int64_t distinct) const {
  const std::uint64_t most = std::min<std::uint64_t>(static_cast<std::uint64_t>(distinct),
                                                     most_leaves(proof_->limit, depth));
  return {rows, static_cast<std::uint32_t>(depth), proof_->limit,
          leaves < most ? leaves : any_leaves};
}

std::int64_t Prover::advance(std::unique_lock<std::mutex>& lock, Proof& proof, Cost goal,
                             std::int64_t work, Watch& watch) {
  proof_ = &proof;
  lock_ = &lock;
  watch_ = &watch;
  const std::int64_t work_start = watch.work();
  work_end_ = work_start + work;
  stopped_ = false;
  RowSet& all = rows_at(0);
  if (all.n_words() == 0) all = data_.all_rows();
  if (desk_.broken) return 0;
  if (proof.root == NodeId::none) {
    if (!desk_.make_room(0, watch)) return 0;
    const Measure m = measure(all, 0);
    const NodeId made = store_.intern(key_of(data_.key(all), 0, proof.leaves, m.distinct),
                                      proof.leaves == 1 ? m.leaf : proof.least(), m.leaf, m.sums);
    desk_.roots.push_back(made);
    proof.root = made;
  }
  ++proof.users;
  const StoreNode& root = store_[proof.root];
  Outcome outcome = Outcome::reached;
  while (outcome == Outcome::reached && root.lower < std::min(goal, root.upper))
    outcome = raise(proof.root, 0,
                    proof.pace == Proof::Pace::evenly ? next_goal(proof, root.lower, goal) : goal);
  const std::int64_t done = watch.work() - work_start;
  proof.work += done;
  proof.note(root.lower);
  // All that is left is being expanded by others, which may take longer than there is time.
  if (outcome == Outcome::taken) {
    desk_.changed.wait_for(lock, std::chrono::milliseconds(1));
    lock.unlock();
    watch.check();
    lock.lock();
  }
  --proof.users;  // from here on it may be gone
  return done;
}

Prover::Standing Prover::raise_rows(std::unique_lock<std::mutex>& lock, Proof& proof,
                                    const RowSet& rows, const RowKey& key, std::size_t depth,
                                    std::uint32_t leaves, Cost lower, Cost goal, Watch& watch) {
  proof_ = &proof;
  lock_ = &lock;
  watch_ = &watch;
  work_end_ = INT64_MAX;
  stopped_ = false;
  const Measure m = measure(rows, depth);
  if (desk_.broken || !desk_.make_room(0, watch)) return {std::min(lower, m.leaf), m.leaf};
  const NodeId id = store_.intern(key_of(key, depth, leaves, m.distinct),
                                  leaves == 1 ? m.leaf : lower, m.leaf, m.sums);
  rows_at(depth) = rows;
  raise(id, depth, goal);
  const StoreNode& node = store_[id];
  return {node.lower, node.upper, node.price};
}

Prover::Outcome Prover::raise(NodeId id, std::size_t depth, Cost target) {
  StoreNode& node = store_[id];
  pins_.push_back(id);
  const std::int64_t expansions_before = expansions_;
  const Cost before = node.lower;
  Outcome outcome = Outcome::reached;
  Place tried = before_all;  // splits up to here are in others' hands
  for (;;) {
    const Cost goal = std::min(target, node.upper);
    if (node.lower >= goal) break;
    const bool halt = must_halt();
    if (!node.expanded) {
      transfer(node);
      if (node.lower >= goal) break;
      outcome = halt ? Outcome::stopped : node.busy ? Outcome::taken : expand(id, depth, goal);
      if (outcome != Outcome::reached) break;
      continue;
    }
    // The least split, and the least of those that nobody else has taken up.
    Cost least = Cost::infinity();
    Place next{Cost::infinity(), 0};
    SplitRecord* chosen = nullptr;
    store_.find_split(node, [&](SplitRecord& split) {
      const Place place = store_.place(split);
      least = std::min(least, place.total);
      if (place > tried && place < next) {
        next = place;
        chosen = &split;
      }
      return place > tried && split.fresh();  // all others come after it
    });
    least = std::min(least, node.rest);  // of those that were dropped
    node.lower = std::max(node.lower, std::min(node.upper, node.base + least));
    if (node.lower >= goal) break;
    if (halt) {
      outcome = Outcome::stopped;
      break;
    }
    if (next.total > node.rest && node.base + node.rest < goal) {
      outcome = node.busy ? Outcome::taken : expand(id, depth, goal);
      if (outcome != Outcome::reached) break;
      tried = before_all;
      continue;
    }
    if (chosen == nullptr || node.base + next.total >= goal) {
      outcome = Outcome::taken;
      break;
    }
    const Outcome below = raise_split(id, *chosen, depth, goal);
    if (below == Outcome::stopped) continue;  // notes what was reached, and ends
    tried = below == Outcome::taken ? next : before_all;
  }
  pins_.pop_back();
  if (node.solved() && node.n_splits > 1) store_.close(id);
  const std::int64_t expansions = expansions_ - expansions_before;
  node.effort = static_cast<std::uint32_t>(
      std::min<std::int64_t>(UINT32_MAX, static_cast<std::int64_t>(node.effort) + expansions));
  if (expansions > 0)
    node.price =
        static_cast<float>(double(expansions) / std::max((node.lower - before).nats(), 1e-3));
  return outcome;
}

// The split lives as long as its node is not solved; everything else may change whenever the lock
// is let go, so it is read anew.
Prover::Outcome Prover::raise_split(NodeId id, SplitRecord& split, std::size_t depth, Cost goal) {
  StoreNode& node = store_[id];
  const Tests tests = split;
  [[maybe_unused]] const auto is_there = [&] { return static_cast<const Tests&>(split) == tests; };
  const Cost base = node.base + store_.test_costs().least(tests.column, tests.last());
  Cost target = goal - base;  // of both children
  bool taken[2] = {false, false};
  for (;;) {
    if (tests.is_span() && !expander_.may_raise_spans(proof_->bounds, depth))
      return node.busy ? Outcome::taken : expand(id, depth, base + target);
    if (!split.attached()) {
      if (!attach(node, split, depth)) return Outcome::stopped;
      if (node.solved() || !split.attached()) return Outcome::reached;
      assert(is_there());
    }
    StoreNode* child[2] = {&store_[split.child[0]], &store_[split.child[1]]};
    for (int side = 0; side < 2; ++side) split.lower[side] = child[side]->lower;
    const Cost upper = base + child[0]->upper + child[1]->upper;
    if (upper < node.upper && !tests.is_span()) {
      node.upper = upper;
      if (node.best != tests.column || node.best_share != tests.share)
        node.below[0] = node.below[1] = no_column;
      node.best = tests.column;
      node.best_share = tests.share;
      node.lower = std::min(node.lower, upper);
      target = std::min(target, upper - base);
    }
    if (split.lower[0] + split.lower[1] >= target) return Outcome::reached;
    if (tests.is_span() && upper < base + target)  // so its sides will never do
      return node.busy ? Outcome::taken : expand(id, depth, base + target);
    if (child[0]->solved() && child[1]->solved()) return Outcome::reached;

    const bool open[2] = {!child[0]->solved() && !taken[0], !child[1]->solved() && !taken[1]};
    if (!open[0] && !open[1]) return Outcome::taken;
    int side = open[1] ? 1 : 0;
    if (open[0] && open[1]) {
      // The cheaper nat; of two that are not known, the smaller set of rows.
      const float price[2] = {child[0]->price, child[1]->price};
      side = price[0] < price[1] || (price[0] == price[1] && child[0]->weight < child[1]->weight)
                 ? 0
                 : 1;
    }
    // All that is asked for at once, where expansions go as far as they are told and no further.
    const bool at_once = data_.ordered().n_columns() > 0 && !proof_->bounds.may_split(depth + 3);
    const Cost needed = target - split.lower[1 - side];
    const Cost enough = at_once ? needed : next_goal(*proof_, split.lower[side], needed);
    const NodeId next = split.child[side];
    RowSet& rows = rows_at(depth + 1);  // may move the others
    data_.part(path_[depth], tests.test_of_side(side), side, rows);
    const Outcome outcome = raise(next, depth + 1, enough);
    // By somebody else: the split may be gone. Or the span was parted.
    if (node.solved() || !split.lower[0].finite()) return Outcome::reached;
    assert(is_there());
    if (outcome == Outcome::stopped) {
      if (split.attached()) split.lower[side] = std::max(split.lower[side], store_[next].lower);
      return outcome;
    }
    taken[side] = outcome == Outcome::taken;
    if (outcome == Outcome::reached) taken[0] = taken[1] = false;
  }
}

// False: the search has to stop.
bool Prover::attach(StoreNode& node, SplitRecord& split, std::size_t depth) {
  const Tests tests = split;
  const RowKey whole = node.key.rows;
  RowKey keys[2];
  Measure measures[2];
  const RowSet& rows = path_[depth];
  const auto work = static_cast<std::int64_t>(12 * rows.n_stored());
  lock_->unlock();
  watch_->poll(work);
  // One key gives the other where the children part the rows.
  for (int side = 1; side >= 0; --side) {
    data_.part(rows, tests.test_of_side(side), side, part_);
    keys[side] = side == 1 || tests.is_span() ? data_.key(part_) : key_of_rest(whole, keys[1]);
    measures[side] = measure(part_, depth + 1);
  }
  take_back(*lock_);
  if (desk_.broken || !desk_.make_room(0, *watch_)) {
    stopped_ = true;
    return false;
  }
  if (node.solved() || split.attached() || !split.lower[0].finite()) return true;
  NodeId child[2];  // both, before anybody sees one
  for (int side = 0; side < 2; ++side) {
    const Measure& m = measures[side];
    const std::uint32_t leaves = leaves_of_side(tests, side, node.key.leaves);
    child[side] = store_.intern(key_of(keys[side], depth + 1, leaves, m.distinct),
                                leaves == 1 ? m.leaf : split.lower[side], m.leaf, m.sums);
  }
  for (int side = 0; side < 2; ++side) split.child[side] = child[side];
  return true;
}

// What is known of the same rows nearer the root (result T).
void Prover::transfer(StoreNode& node) {
  if (!proof_->transfer) return;
  store_.for_each_depth(node.key, [&](const StoreNode& other) {
    check_same(other.sums(), node.sums());
    if (other.key.depth > node.key.depth) return;
    // At the same depth: of trees that may have more leaves.
    const Cost lower =
        other.key.depth == node.key.depth
            ? other.lower
            : proof_->bounds.transferred(other.lower, other.key.depth, node.key.depth);
    node.lower = std::max(node.lower, std::min(node.upper, lower));
  });
}

// The spans of an open node that are below the goal and cannot reach it.
void Prover::find_spans(const StoreNode& node, std::size_t depth, Cost goal) {
  spans_.clear();
  const bool may_raise = expander_.may_raise_spans(proof_->bounds, depth);
  store_.for_each_split(node, [&](const SplitRecord& split) {
    if (!split.is_span() || node.base + store_.place(split).total >= goal) return;
    if (may_raise && !split.attached()) return;
    SplitBounds span;
    static_cast<Tests&>(span) = split;
    for (int side = 0; side < 2; ++side) {
      span.lower[side] = split.lower[side];
      span.upper[side] = may_raise ? store_[split.child[side]].upper : Cost(0);
    }
    const Cost test = store_.test_costs().least(span.column, span.last());
    if (node.base + test + span.upper[0] + span.upper[1] < goal) spans_.push_back(span);
  });
}

Prover::Outcome Prover::expand(NodeId id, std::size_t depth, Cost goal) {
  StoreNode& node = store_[id];
  if (desk_.max_expansions >= 0 && desk_.expansions >= desk_.max_expansions) {
    desk_.out_of_expansions = stopped_ = true;
    return Outcome::stopped;
  }
  assert(data_.key(path_[depth]) == node.key.rows);
  ++desk_.expansions;
  const Cost upper = node.upper;
  spans_.clear();
  if (node.expanded) find_spans(node, depth, goal);
  const bool parts = !spans_.empty();
  node.busy = true;
  const bool fetch = desk_.pinned.size() > 1 && store_.wants_spare();
  lock_->unlock();
  Arena::Chunk spare = fetch ? Arena::make_spare() : nullptr;
  const std::uint32_t leaves = node.key.leaves;
  const bool whole = expander_.expand(proof_->bounds, path_[depth], depth, upper, *watch_,
                                      expansion_, goal, spans_, leaves) &&
                     (leaves == any_leaves || share_leaves(expansion_, leaves, proof_->limit, depth,
                                                           upper, store_.test_costs(), *watch_));
  sort_splits(expansion_, upper, store_.test_costs());
  take_back(*lock_);
  if (fetch) store_.take_spare(std::move(spare));
  node.busy = false;
  desk_.changed.notify_all();
  if (!whole || desk_.broken) {
    --desk_.expansions;
    stopped_ = true;
    return Outcome::stopped;
  }
  if (!desk_.make_room(expansion_.splits.size(), *watch_)) {
    stopped_ = true;
    return Outcome::stopped;
  }
  ++expansions_;
  if (parts)
    store_.part(id, expansion_, spans_);
  else
    store_.open(id, expansion_);
  return Outcome::reached;
}

void Prover::read_tree(const Proof& proof, Tree& tree) {
  build(proof.root, data_.all_rows(), 0, tree);
}

void Prover::build(NodeId id, const RowSet& rows, std::size_t depth, Tree& tree) {
  const std::int32_t at = add_node(tree);
  const StoreNode& node = store_[id];
  if (node.best == no_column) return;
  tree.feature[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(data_.original(node.best));
  const SplitRecord* best = nullptr;
  store_.for_each_split(node, [&](const SplitRecord& split) {
    if (node.is_best(split) && split.attached()) best = &split;
  });
  RowSet part;
  for (int side = 0; side < 2; ++side) {
    data_.part(rows, node.best, side, part);
    (side == 0 ? tree.left : tree.right)[static_cast<std::size_t>(at)] =
        static_cast<std::int32_t>(tree.feature.size());
    if (best != nullptr &&
        store_[best->child[side]].upper <= below_cost(node.below[side], part, depth + 1))
      build(best->child[side], part, depth + 1, tree);
    else
      build_below(node.below[side], tree);
  }
}

Cost Prover::below_cost(std::uint32_t column, const RowSet& rows, std::size_t depth) {
  if (column == no_column) return measure(rows, depth).leaf;
  Cost cost = posterior_.split(depth) + posterior_.log_weight(data_.varying_weight(rows)) +
              store_.test_costs()[column];
  for (int side = 0; side < 2; ++side) {
    data_.part(rows, column, side, part_);
    cost += measure(part_, depth + 1).leaf;
  }
  return cost;
}

void Prover::build_below(std::uint32_t column, Tree& tree) {
  const auto at = static_cast<std::size_t>(add_node(tree));
  if (column == no_column) return;
  tree.feature[at] = static_cast<std::int32_t>(data_.original(column));
  for (int side = 0; side < 2; ++side) (side == 0 ? tree.left : tree.right)[at] = add_node(tree);
}

}  // namespace maptree
