#include "improve/look_ahead.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

// What the table may take of the memory; the rest is for the way down.
constexpr std::size_t table_share(std::size_t max_bytes) { return max_bytes / 4 * 3; }

// How much less effort a candidate gets than the first.
int price(std::size_t rank) { return static_cast<int>(std::bit_width(rank)); }

}  // namespace

LookAhead::LookAhead(const Dataset& data, const Posterior& posterior, Expander& expander,
                     std::size_t max_bytes)
    : data_(data),
      test_costs_(posterior.test_costs()),
      expander_(expander),
      max_bytes_(max_bytes),
      step_bytes_(sizeof(Entry) + 2 * sizeof(Frame) + usual_splits(data) * sizeof(Candidate) +
                  data.n_words() * sizeof(Word) + 4096),
      table_(table_share(max_bytes), test_costs_),
      counts_(data.n_sums()) {
  if (max_bytes > 0) expansion_.splits.reserve(usual_splits(data));
}

void LookAhead::start(const RowSet& rows, std::size_t depth, int effort, const Subtree& known) {
  assert(done());
  if (table_.full()) clear();
  known_ = known;
  found_ = known;
  lower_ = Cost(0);
  if (!has_room()) return;
  Frame& frame = push();
  frame.rows = rows;
  frame.key = data_.key(rows);
  frame.depth = depth;
  frame.effort = effort;
}

bool LookAhead::step(Watch& watch) {
  if (top().entry == EntryId::none && !open(watch)) return false;
  go_on();
  return true;
}

void LookAhead::give_up() {
  if (!done() && top().entry == EntryId::none) --n_frames_;
  while (!done()) {
    close();
    if (!done()) learn();
  }
}

void LookAhead::clear() {
  assert(done());
  table_.clear();
  frames_ = {};
  frame_bytes_ = 0;
}

bool LookAhead::has_room() const { return bytes() + step_bytes_ <= max_bytes_; }

LookAhead::Frame& LookAhead::push() {
  if (n_frames_ == frames_.size()) {
    frame_bytes_ -= frames_.capacity() * sizeof(Frame);
    frames_.emplace_back();
    frame_bytes_ += frames_.capacity() * sizeof(Frame) + data_.n_words() * sizeof(Word);
  }
  Frame& frame = frames_[n_frames_++];
  frame.entry = EntryId::none;
  return frame;
}

bool LookAhead::open(Watch& watch) {
  Frame& frame = top();
  // Nanoseconds, roughly: the way here, and the repacking of the rows that an expansion begins
  // with.
  const auto here = static_cast<std::int64_t>(2 * data_.n_words() + 200);
  const std::int64_t rows = data_.count(frame.rows, counts_);
  const RowSums sums = RowSums::of(counts_, rows, data_.n_classes());
  EntryId id = table_.find(frame.key, sums, frame.depth);
  if (id == EntryId::none) {
    watch.count(static_cast<std::int64_t>(data_.n_columns()) * (rows / 8 + 16));
    if (watch.stop(here)) return false;
    if (!expander_.expand(frame.rows, frame.depth, Cost::infinity(), watch, expansion_))
      return false;
    id = table_.add(frame.key, sums, frame.depth, expansion_);
  } else if (watch.stop(here)) {
    return false;
  }
  frame.entry = id;
  frame.rank = 0;
  frame.second = false;
  if (n_frames_ == 1 && known_.cost() < table_[id].best.cost())
    table_.replace_best(id, Subtree(known_));
  Entry& entry = table_[id];
  if (entry.effort >= frame.effort) {
    frame.rank = entry.candidates.size();  // nothing new to be found
    return true;
  }
  entry.prune(test_costs_);
  std::sort(entry.candidates.begin(), entry.candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              return a.upper != b.upper ? a.upper < b.upper : a.column < b.column;
            });
  return true;
}

// Down to the next candidate that the effort reaches, or back up.
void LookAhead::go_on() {
  Frame& frame = top();
  Entry& entry = table_[frame.entry];
  for (; frame.rank < entry.candidates.size() && price(frame.rank) <= frame.effort; ++frame.rank) {
    const Candidate& candidate = entry.candidates[frame.rank];
    // A split that does not pay yet costs one more: without effort, growth ends where gain ends.
    const bool pays = entry.base + candidate.upper <= entry.best.cost();
    frame.effort_below = frame.effort - price(frame.rank) - (pays ? 0 : 1);
    if (frame.effort_below < 0) break;
    if (entry.bound(candidate, test_costs_) >= entry.best.cost()) continue;
    if (!has_room()) break;
    frame.second = false;
    // The costlier side is the likelier to refute the split alone.
    descend(candidate.lower[0] > candidate.lower[1] ? 0 : 1);
    return;
  }
  entry.effort = std::max(entry.effort, frame.effort);
  close();
  if (!done()) receive();
}

void LookAhead::descend(int side) {
  Frame& child = push();
  Frame& frame = frames_[n_frames_ - 2];
  const std::uint32_t column = table_[frame.entry].candidates[frame.rank].column;
  data_.part(frame.rows, column, side, child.rows);
  if (!frame.second) {  // one key gives the other: the children part the rows
    frame.child_key[side] = data_.key(child.rows);
    frame.child_key[1 - side] = key_of_rest(frame.key, frame.child_key[side]);
  }
  frame.side = side;
  child.key = frame.child_key[side];
  child.depth = frame.depth + 1;
  child.effort = frame.effort_below;
}

void LookAhead::close() {
  const EntryId id = top().entry;
  Entry& entry = table_[id];
  entry.prune(test_costs_);
  found_ = entry.best;
  lower_ = entry.lower;
  if (!entry.entered) table_.release(id);
  --n_frames_;
}

// What was found below one side of the split at hand.
void LookAhead::learn() {
  Frame& frame = top();
  Entry& entry = table_[frame.entry];
  Candidate& candidate = entry.candidates[frame.rank];
  Cost& lower = candidate.lower[frame.side];
  lower = std::max(lower, lower_);
  if (!frame.second) return;
  const Cost both = test_costs_[candidate.column] + frame.first.cost() + found_.cost();
  candidate.upper = std::min(candidate.upper, both);
  if (entry.base + both >= entry.best.cost()) return;
  Subtree better;
  better.parts.reserve(1 + frame.first.parts.size() + found_.parts.size());
  better.parts.push_back({entry.base + both, candidate.column});
  better.append(frame.side == 1 ? frame.first : found_);
  better.append(frame.side == 1 ? found_ : frame.first);
  table_.replace_best(frame.entry, std::move(better));
}

// On to the other side where it may help, else to the next candidate.
void LookAhead::receive() {
  learn();
  Frame& frame = top();
  const Entry& entry = table_[frame.entry];
  const Candidate& candidate = entry.candidates[frame.rank];
  const Cost least =
      entry.base + test_costs_[candidate.column] + found_.cost() + candidate.lower[1 - frame.side];
  if (!frame.second && least < entry.best.cost()) {
    std::swap(frame.first, found_);
    frame.second = true;
    descend(1 - frame.side);
  } else {
    ++frame.rank;
  }
}

}  // namespace maptree
