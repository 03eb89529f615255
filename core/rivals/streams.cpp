#include "rivals/streams.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

// Splits bounded by that much more than is asked for are listed, too: what is asked for rises, and
// to list more takes another expansion.
const Cost margin = Cost::nearest(1.0);

}  // namespace

Streams::Streams(const Dataset& data, const Posterior& posterior, const Options& options,
                 Expander& expander, Prover& prover, Desk& desk, Proof& proof)
    : data_(data),
      posterior_(posterior),
      options_(options),
      expander_(expander),
      prover_(prover),
      desk_(desk),
      proof_(proof),
      counts_(data.n_sums()) {
  expansion_.splits.reserve(usual_splits(data));
}

std::size_t Streams::Stream::bytes() const {
  return sizeof(Stream) + entries.capacity() * sizeof(Entry) + splits.capacity() * sizeof(Split) +
         spans.capacity() * sizeof(SplitBounds) + queue.capacity() * sizeof(Candidate);
}

std::size_t Streams::bytes() const {
  constexpr std::size_t link = 4 * sizeof(void*);  // of a hash table, and what malloc notes
  return bytes_of_streams_ + by_key_.size() * (sizeof(StreamKey) + sizeof(StreamId) + link) +
         seen_.size() * (sizeof(Seen) + link) +
         (by_key_.bucket_count() + seen_.bucket_count()) * sizeof(void*) +
         (path_.capacity() + 2) * (sizeof(RowSet) + data_.n_words() * sizeof(Word)) +
         frames_.capacity() * sizeof(Frame) +
         (expansion_.splits.capacity() + given_.capacity()) * sizeof(SplitBounds) +
         (listed_.capacity() + expansion_.parted.capacity()) * sizeof(std::uint32_t);
}

// The next step may double what the stream holds, or list the splits of a node.
bool Streams::has_room(const Stream& stream) const {
  if (limit_ == SIZE_MAX) return true;
  const std::size_t more =
      2 * stream.bytes() + 2 * (by_key_.bucket_count() + seen_.bucket_count()) * sizeof(void*) +
      usual_splits(data_) * (sizeof(Split) + sizeof(Candidate) + sizeof(SplitBounds)) +
      (path_.capacity() + 2) * data_.n_words() * sizeof(Word);
  return bytes() + more <= limit_;
}

void Streams::push(Stream& stream, const Candidate& candidate) {
  stream.queue.push_back(candidate);
  std::push_heap(stream.queue.begin(), stream.queue.end());
}

void Streams::pop(Stream& stream) {
  std::pop_heap(stream.queue.begin(), stream.queue.end());
  stream.queue.pop_back();
}

void Streams::replace(Stream& stream, const Candidate& candidate) {
  std::pop_heap(stream.queue.begin(), stream.queue.end());
  stream.queue.back() = candidate;
  std::push_heap(stream.queue.begin(), stream.queue.end());
}

StreamId Streams::add_root(Cost lower) {
  const RowSet all = data_.all_rows();
  return find_or_add(all, data_.key(all), 0, lower);
}

StreamId Streams::find_or_add(const RowSet& rows, const RowKey& key, std::uint32_t depth,
                              Cost lower) {
  const auto [found, fresh] =
      by_key_.try_emplace({key, depth}, static_cast<StreamId>(streams_.size()));
  if (!fresh) return found->second;
  Stream& stream = streams_.emplace_back();
  stream.rows = key;
  stream.depth = depth;
  const std::int64_t distinct = data_.count(rows, counts_);
  const bool varies = data_.varies(rows, distinct);
  stream.queue.reserve(2);
  push(
      stream,
      {posterior_.leaf(counts_) + (varies ? posterior_.stop(depth) : Cost(0)), leaf, {0, 0}, true});
  std::int64_t weight = 0;
  Cost split = Cost(proof_.bounds.floor(depth, static_cast<std::int32_t>(distinct), Cost(0)));
  for (std::size_t k = 0; k < static_cast<std::size_t>(data_.n_classes()); ++k) {
    weight += counts_[k];
    split += posterior_.pure(static_cast<int>(k), counts_[k]);
  }
  if (varies && proof_.bounds.may_split(depth) && weight >= 2 * options_.min_samples_leaf &&
      leaves_at(depth) > 1 && split.finite())
    push(stream, {std::max(lower, split), rest, {0, 0}, false});
  bytes_of_streams_ += stream.bytes();
  return found->second;
}

bool Streams::advance(StreamId id, Cost goal, std::unique_lock<std::mutex>& lock, Watch& watch) {
  lock_ = &lock;
  watch_ = &watch;
  frames_.clear();
  frames_.push_back({id, n_entries(id) + 1, goal});
  if (path_.empty()) path_.push_back(data_.all_rows());
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    Stream& stream = at(frame.stream);
    if (stream.entries.size() >= frame.wanted || stream.lower() >= frame.goal) {
      frames_.pop_back();
      continue;
    }
    if (!has_room(stream)) {
      out_of_memory_ = true;
      return false;
    }
    if (watch.stop(200)) return false;
    const std::size_t before = stream.bytes();
    const bool goes_on = step(frame);
    bytes_of_streams_ += stream.bytes() - before;
    if (!goes_on) return false;
  }
  return true;
}

bool Streams::step(const Frame& frame) {
  Stream& stream = at(frame.stream);
  const RowSet& rows = path_[frames_.size() - 1];
  const Candidate& top = stream.queue.front();
  if (top.exact)
    take(frame.stream, stream);
  else if (top.split == rest)
    return expand(stream, rows, frame.goal);
  else if (stream.splits[top.split].child[0] == StreamId::none)
    return raise(stream, rows, frame.goal);
  else
    ask_children(stream, frame.goal);
  return true;
}

// The candidate on top is the next entry.
void Streams::take(StreamId id, Stream& stream) {
  const Candidate top = stream.queue.front();
  pop(stream);
  Partition partition = Partition::leaf(stream.rows);
  if (top.split != leaf) {
    const Split& split = stream.splits[top.split];
    partition = at(split.child[0]).entries[top.at[0]].partition +
                at(split.child[1]).entries[top.at[1]].partition;
    // Every pair comes once: from the one before it on side 0, or along the edge of side 1.
    add_pair(stream, top.split, top.at[0] + 1, top.at[1], top.key);
    if (top.at[0] == 0) add_pair(stream, top.split, 0, top.at[1] + 1, top.key);
  }
  const std::uint32_t most = leaves_at(stream.depth);
  if (most != any_leaves && partition.n_leaves > most) return;
  if (seen_.insert({id, partition}).second)
    stream.entries.push_back({top.key, partition, top.split, {top.at[0], top.at[1]}});
}

// `lower` is known of it and of all that follows.
void Streams::add_pair(Stream& stream, std::uint32_t number, std::uint32_t i, std::uint32_t j,
                       Cost lower) {
  const Split& split = stream.splits[number];
  const std::uint32_t place[2] = {i, j};
  Candidate made{own_cost(stream, split), number, {i, j}, true};
  for (int side = 0; side < 2; ++side) {
    const Stream& child = at(split.child[side]);
    const bool there = place[side] < child.entries.size();
    made.exact = made.exact && there;
    const Cost cost = there ? child.entries[place[side]].cost : child.lower();
    if (!cost.finite()) return;  // there are no more
    made.key += cost;
  }
  made.key = std::max(made.key, lower);
  push(stream, made);
}

// What the children know by now; or one of them has to find out.
void Streams::ask_children(Stream& stream, Cost goal) {
  const Candidate top = stream.queue.front();
  const Split& split = stream.splits[top.split];
  const Cost own = own_cost(stream, split);
  Cost cost[2];
  bool there[2];
  for (int side = 0; side < 2; ++side) {
    const Stream& child = at(split.child[side]);
    there[side] = top.at[side] < child.entries.size();
    cost[side] = there[side] ? child.entries[top.at[side]].cost : child.lower();
  }
  if (!cost[0].finite() || !cost[1].finite()) {  // there are no more
    pop(stream);
    return;
  }
  // Where leaves are limited, more may be known of those pairs that have few enough.
  assert(options_.max_leaves > 0 || own + cost[0] + cost[1] >= top.key);
  const Cost key = std::max(top.key, own + cost[0] + cost[1]);
  const bool exact = there[0] && there[1];
  if (exact || key > top.key) {
    replace(stream, {key, top.split, {top.at[0], top.at[1]}, exact});
    return;
  }
  const int side = there[0] ? 1 : 0;
  const std::size_t level = frames_.size();
  if (path_.size() <= level) path_.resize(level + 1);
  data_.part(path_[level - 1], split.test, side, path_[level]);
  frames_.push_back(
      {split.child[side], std::size_t{top.at[side]} + 1, goal - own - cost[1 - side]});
}

// Raises the bounds of the two first entries, until their sum is enough or both are known.
bool Streams::raise(Stream& stream, const RowSet& rows, Cost goal) {
  Candidate top = stream.queue.front();
  Split& split = stream.splits[top.split];
  const std::uint32_t depth = stream.depth + 1;
  const Cost own = own_cost(stream, split), target = goal - own;
  if (watch_->poll(static_cast<std::int64_t>(12 * rows.n_stored()))) return false;
  for (int side = 0; side < 2; ++side) data_.part(rows, split.test, side, part_[side]);
  RowKey keys[2];
  keys[1] = data_.key(part_[1]);
  keys[0] = key_of_rest(stream.rows, keys[1]);
  float price[2] = {0, 0};
  bool goes_on = true;
  const auto solved = [&] { return split.solved[0] && split.solved[1]; };
  while (goes_on && !solved() && split.lower[0] + split.lower[1] < target) {
    const int side = split.solved[0] || (!split.solved[1] && price[1] < price[0]) ? 1 : 0;
    const Cost needed = target - split.lower[1 - side];
    const Cost enough = prover_.next_goal(proof_, split.lower[side], needed);
    const Prover::Standing now =
        prover_.raise_rows(*lock_, proof_, part_[side], keys[side], depth, leaves_at(depth),
                           split.lower[side], enough, *watch_);
    goes_on = now.solved() || now.lower >= enough;
    split.lower[side] = now.lower;
    split.solved[side] = now.solved();
    price[side] = now.price;
  }
  if (goes_on && solved()) {
    StreamId child[2];
    for (int side = 0; side < 2; ++side)
      child[side] = find_or_add(part_[side], keys[side], depth, split.lower[side]);
    // A split with the same two sides was here before and costs no more, whatever is below. One
    // that costs more may have been here before, too, where the weights of tests differ.
    const bool twin = std::ranges::any_of(stream.splits, [&](const Split& other) {
      const bool same = (other.child[0] == child[0] && other.child[1] == child[1]) ||
                        (other.child[0] == child[1] && other.child[1] == child[0]);
      return same && own_cost(stream, other) <= own;
    });
    if (twin) {
      pop(stream);
      return true;
    }
    for (int side = 0; side < 2; ++side) split.child[side] = child[side];
  }
  top.key = std::max(top.key, own + split.lower[0] + split.lower[1]);
  replace(stream, top);
  return goes_on;
}

// `lower` is known of all that the split was among.
void Streams::add_split(Stream& stream, const SplitBounds& bounds, Cost lower) {
  Split& split = stream.splits.emplace_back();
  split.test = bounds.column;
  for (int side = 0; side < 2; ++side) split.lower[side] = bounds.lower[side];
  push(stream, {std::max(lower, own_cost(stream, split) + split.lower[0] + split.lower[1]),
                static_cast<std::uint32_t>(stream.splits.size() - 1),
                {0, 0},
                false});
}

// Lists splits up to the goal; of thresholds, those that are not in spans that reach it.
bool Streams::expand(Stream& stream, const RowSet& rows, Cost goal) {
  if (desk_.max_expansions >= 0 && desk_.expansions >= desk_.max_expansions) {
    desk_.out_of_expansions = true;
    return false;
  }
  const bool ordered = data_.ordered().n_columns() > 0;
  const TestCosts test_costs = posterior_.test_costs();
  const auto key = [&](const SplitBounds& span) {
    return stream.base + place_of(span, test_costs).total;
  };
  given_.clear();
  for (const SplitBounds& span : stream.spans)
    if (key(span) < goal) given_.push_back(span);
  assert(!ordered || stream.expanded != given_.empty());
  if (!expander_.expand(proof_.bounds, rows, stream.depth,
                        ordered ? Cost::infinity() : goal + margin, *watch_, expansion_, goal,
                        given_, any_leaves, Keep::all))
    return false;
  ++desk_.expansions;
  stream.base = expansion_.base;
  const Cost known = stream.queue.front().key;
  pop(stream);
  listed_.clear();
  for (const Split& split : stream.splits) listed_.push_back(split.test);
  std::ranges::sort(listed_);
  std::erase_if(stream.spans, [&](const SplitBounds& span) {
    return std::ranges::any_of(expansion_.parted, [&](std::uint32_t i) {
      return static_cast<const Tests&>(given_[i]) == static_cast<const Tests&>(span);
    });
  });
  for (const SplitBounds& split : expansion_.splits) {
    if (split.is_span())
      stream.spans.push_back(split);
    else if (!std::ranges::binary_search(listed_, split.column))
      add_split(stream, split, known);
  }
  stream.expanded = true;
  Cost next = expansion_.rest;
  for (const SplitBounds& span : stream.spans) next = std::min(next, key(span));
  if (next.finite()) push(stream, {std::max(known, next), rest, {0, 0}, false});
  return true;
}

// Without recursion: of thresholds a tree may be thousands of levels deep.
void Streams::read_tree(StreamId id, std::size_t entry, Tree& tree) const {
  struct Next {
    StreamId stream;
    std::size_t entry;
    std::int32_t parent;
    int side;
  };
  std::vector<Next> next{{id, entry, -1, 0}};
  while (!next.empty()) {
    const Next now = next.back();
    next.pop_back();
    const std::int32_t node = add_node(tree);
    if (now.parent >= 0)
      (now.side == 0 ? tree.left : tree.right)[static_cast<std::size_t>(now.parent)] = node;
    const Stream& stream = at(now.stream);
    const Entry& from = stream.entries[now.entry];
    if (from.split == leaf) continue;
    const Split& split = stream.splits[from.split];
    tree.feature[static_cast<std::size_t>(node)] =
        static_cast<std::int32_t>(data_.original(split.test));
    for (int side = 1; side >= 0; --side)
      next.push_back({split.child[side], from.at[side], node, side});
  }
}

}  // namespace maptree
