#include "scan/span_expand.hpp"

#include <algorithm>

namespace maptree {

namespace {

constexpr std::uint32_t not_given = UINT32_MAX;

constexpr std::uint32_t most_extent = (1u << Tests::extent_bits) - 1;

// How many cuts of a node an expansion may scan, by what one takes: rows times columns. In test
// builds few, so that small problems meet the limit, too.
#if defined(MAPTREE_SMALL_BLOCKS)
constexpr std::int64_t work_at_once = 400, fewest_scans = 2;
constexpr std::size_t n_likely = 2;
#else
constexpr std::int64_t work_at_once = 200'000'000, fewest_scans = 16;
constexpr std::size_t n_likely = 8;  // columns that are parted at their best cuts first
#endif

// More than these are rare, and grow the memory.
std::size_t usual_spans(const Dataset& data) {
  return std::min<std::size_t>(4096, data.ordered().n_thresholds() + 1);
}

}  // namespace

SpanExpander::SpanExpander(const Dataset& data, const Posterior& posterior, const Bounds& bounds,
                           const Options& options)
    : data_(data),
      posterior_(posterior),
      options_(options),
      view_(data, bounds),
      scan_(data, posterior, options) {
  side_.reserve(data.n_words() * word_bits);
  heap_.reserve(usual_spans(data));
  left_.reserve(usual_spans(data));
  best_cuts_.reserve(data.ordered().n_columns());
}

bool SpanExpander::begin(const RowSet& rows, std::size_t depth, Watch& watch, Expansion& out) {
  out.splits.clear();
  out.rest = Cost::infinity();
  out.parted.clear();
  out.best = no_column;
  heap_.clear();
  left_.clear();
  best_ = Cost::infinity();
  if (!view_.load(rows, watch)) return false;
  const SetCounts& total = view_.total();
  std::int64_t leaf = posterior_.rising_table()[total.weight];
  for (std::size_t k = 0; k < total.classes.size(); ++k)
    leaf -= posterior_.mixed_table(total.numbers[k])[total.classes[k]];
  out.varying = view_.varying();
  out.leaf = Cost(leaf) + (out.varying > 0 ? posterior_.stop(depth) : Cost(0));
  out.base = posterior_.split(depth) + posterior_.log_weight(out.varying);
  side_.assign(view_.n_places(), 0);
  return true;
}

bool SpanExpander::expand(const Bounds& bounds, const RowSet& rows, std::size_t depth, Cost upper,
                          Cost goal, std::span<const SplitBounds> spans, Watch& watch,
                          Expansion& out, std::uint32_t leaves, Keep keep) {
  leaves_ = leaves;
  if (!begin(rows, depth, watch, out)) return false;
  if (out.varying == 0 || !bounds.may_split(depth)) return true;
  const bool all = keep == Keep::all;
  if (!all && !bounds.may_split(depth + 1)) return look_at_leaves(bounds, depth, watch, out);

  scan_.start(view_, bounds, depth + 1);
  depth_ = depth;
  slack_ = bounds.shrink_slack(depth + 1);
  const auto work = static_cast<std::int64_t>(view_.n_rows()) *
                    static_cast<std::int64_t>(view_.ordered().size() + 1);
  scans_left_ = std::max(fewest_scans, work_at_once / work);
  if (spans.empty()) {
    if (!try_binary(watch, out) || !part_columns(watch, out)) return false;
  } else {
    add_given(spans);
  }
  // Without a goal nobody raises anything: good trees are all that is sought.
  const bool may_wait =
      !all && (goal.finite() ? may_raise(bounds, depth) : sides_tell(bounds, depth));
  if (!all) upper = std::min(upper, out.leaf);
  const auto limit = [&] {
    return all ? std::min(goal, upper) : std::min({goal, upper, out.base + best_});
  };
  while (!heap_.empty()) {
    const Span span = heap_.front();
    if (out.base + span.total >= limit() || scans_left_ <= 0) break;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    if (may_wait && out.base + span.test + span.upper[0] + span.upper[1] >= limit()) {
      left_.push_back(span);
      continue;
    }
    // The cut in the middle of those that are open.
    const std::uint32_t cut = span.begin() + (span.end() - 1 - span.begin()) / 2;
    if (!part(span, cut, watch, out)) return false;
  }
  // Spans that were given and not parted are as they were.
  for (const std::vector<Span>* some : {&heap_, &left_})
    for (const Span& span : *some)
      if (span.given == not_given || std::ranges::binary_search(out.parted, span.given))
        if (out.base + span.total < upper) record_parts(span, out);
  return true;
}

// The children are leaves: one scan of the node itself tells the best of all its splits.
bool SpanExpander::look_at_leaves(const Bounds& bounds, std::size_t depth, Watch& watch,
                                  Expansion& out) {
  PartBounds parts[2];
  scan_.start(view_, bounds, depth);
  for (const std::uint32_t place : view_.places()) side_[place] = 1;
  if (!scan_.scan(side_, watch, parts)) return false;
  out.best = parts[1].below();
  out.best_cost = parts[1].upper;
  for (int s = 0; s < 2; ++s) {
    out.best_upper[s] = parts[1].leaves[s];
    out.best_below[s] = no_column;
  }
  return true;
}

bool SpanExpander::look(const Bounds& bounds, const RowSet& rows, std::size_t depth, Watch& watch,
                        PartBounds& out) {
  if (!view_.load(rows, watch)) return false;
  side_.assign(view_.n_places(), 0);
  for (const std::uint32_t place : view_.places()) side_[place] = 1;
  scan_.start(view_, bounds, depth);
  PartBounds parts[2];
  if (!scan_.scan(side_, watch, parts)) return false;
  out = parts[1];
  return true;
}

// A cut that was not scanned is a split as it is, and its sides must be large enough.
bool SpanExpander::is_allowed(const Span& span) const {
  if (span.first < span.last || options_.min_samples_leaf == 1) return true;
  const OrderedView::Ordered& of = view_.ordered()[span.column];
  std::int64_t low = 0;
  for (std::uint32_t i = 0; i < view_.cut_at(of, span.first); ++i) {
    const OrderedView::Run& run =
        view_.runs()[view_.row(view_.order(of)[i] & ~OrderedView::cut_mark).run];
    for (std::uint32_t p = 0; p < run.n_classes; ++p) low += run.pattern[p].weight;
  }
  return std::min(low, view_.total().weight - low) >= options_.min_samples_leaf;
}

bool SpanExpander::may_raise(const Bounds& bounds, std::size_t depth) const {
  // Without a limit of depth the thresholds themselves are better: they have more rows than the
  // sides, so that less has to be raised, and by less (bounds.md, section 14).
  return bounds.limited() && sides_tell(bounds, depth);
}

bool SpanExpander::sides_tell(const Bounds& bounds, std::size_t depth) const {
  // Where grandchildren are leaves a scan is exact, and there is nothing to raise.
  return options_.spans && options_.min_samples_leaf == 1 && bounds.may_split(depth + 2) &&
         bounds.shrink_slack(depth + 1) == Cost(0);
}

void SpanExpander::push(Span span) {
  if (span.begin() >= span.end()) return;
  span.test = posterior_.test_costs().least(test_of(span, span.first), test_of(span, span.last));
  span.total = span.lower[0] + span.lower[1];
  if (span.first < span.last)
    span.total = options_.spans ? std::max(Cost(0), span.total - slack_ - slack_) : Cost(0);
  span.total += span.test;
  heap_.push_back(span);
  std::push_heap(heap_.begin(), heap_.end());
}

void SpanExpander::add_given(std::span<const SplitBounds> spans) {
  const auto n_columns = static_cast<std::uint32_t>(data_.n_columns());
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    const std::uint32_t first = spans[i].column - n_columns, last = spans[i].last() - n_columns;
    const auto column = static_cast<std::uint32_t>(data_.ordered().column_of(first));
    const auto at = std::ranges::find(view_.ordered(), column, &OrderedView::Ordered::column);
    const std::uint32_t start = data_.ordered().first(column);
    push({{},
          {},
          static_cast<std::uint32_t>(at - view_.ordered().begin()),
          view_.cut_of(*at, first - start),
          view_.cut_of(*at, last - start),
          spans[i].first_open != 0,
          spans[i].last_open != 0,
          {spans[i].lower[0], spans[i].lower[1]},
          {spans[i].upper[0], spans[i].upper[1]},
          i,
          spans[i].share});
  }
}

std::uint32_t SpanExpander::test_of(const Span& span, std::uint32_t cut) const {
  const OrderedView::Ordered& of = view_.ordered()[span.column];
  const OrderedView::Gap gap = view_.gap(of, cut);
  return static_cast<std::uint32_t>(data_.n_columns()) + data_.ordered().first(of.column) +
         data_.ordered().heaviest(of.column, gap.low, gap.high);
}

SplitBounds SpanExpander::record(const Span& span) const {
  SplitBounds out;
  out.column = test_of(span, span.first);
  out.share = span.share & (std::uint32_t{most_limited_leaves} - 1);
  if (span.first < span.last) {
    out.extent = (test_of(span, span.last) - out.column) & most_extent;
    out.first_open = span.first_open ? 1 : 0;
    out.last_open = span.last_open ? 1 : 0;
  }
  for (int s = 0; s < 2; ++s) {
    out.lower[s] = out.is_span() ? std::max(Cost(0), span.lower[s] - slack_) : span.lower[s];
    out.upper[s] = out.is_span() ? span.upper[s] : Cost::infinity();
  }
  return out;
}

// As one, or in parts that a record can hold, which have the bounds of the whole.
void SpanExpander::record_parts(const Span& span, Expansion& out) const {
  if (span.begin() >= span.end()) return;
  if (test_of(span, span.last) - test_of(span, span.first) <= most_extent) {
    if (is_allowed(span)) out.splits.push_back(record(span));
    return;
  }
  Span low = span, high = span;
  for (int s = 0; s < 2; ++s) {
    low.lower[s] = high.lower[s] =
        options_.spans ? std::max(Cost(0), span.lower[s] - slack_) : Cost(0);
    low.upper[s] = high.upper[s] = Cost(0);
  }
  low.last = high.first = span.first + (span.last - span.first) / 2;
  if (low.last == span.first) {  // two cuts: each a part of its own
    low.last_open = low.first_open;
    high.first = high.last;
    high.first_open = high.last_open;
  } else {
    low.last_open = true;
    high.first_open = false;
  }
  record_parts(low, out);
  record_parts(high, out);
}

// All columns, the likeliest of them parted at their best cuts.
bool SpanExpander::part_columns(Watch& watch, Expansion& out) {
  if (!scan_.find_best_cuts(watch, best_cuts_)) return false;
  const auto all_of = [&](std::uint32_t c) {
    return Span{{}, {}, c, 0, view_.ordered()[c].n_cuts - 1, true, true, {}, {}, not_given, 0};
  };
  std::vector<bool> parted(view_.ordered().size(), false);
  for (std::uint32_t c = 0; c < parted.size(); ++c)
    parted[c] = !Dataset::may_test(data_.use_of_ordered(view_.ordered()[c].column), depth_);
  std::erase_if(best_cuts_, [&](const PartScan::BestCut& best) { return parted[best.column]; });
  for (std::size_t i = 0; i < std::min(n_likely, best_cuts_.size()); ++i) {
    const PartScan::BestCut& best = best_cuts_[i];
    parted[best.column] = true;
    if (!part(all_of(best.column), best.cut, watch, out)) return false;
  }
  for (std::uint32_t c = 0; c < parted.size(); ++c)
    if (!parted[c]) push(all_of(c));
  return true;
}

// Scans a cut, and leaves what is on either side of it.
bool SpanExpander::part(const Span& span, std::uint32_t cut, Watch& watch, Expansion& out) {
  const OrderedView::Ordered& of = view_.ordered()[span.column];
  --scans_left_;
  if (watch.poll(2 * static_cast<std::int64_t>(view_.n_rows()))) return false;
  std::ranges::fill(side_, std::uint8_t{0});
  for (std::uint32_t i = 0; i < view_.cut_at(of, cut); ++i)
    side_[view_.order(of)[i] & ~OrderedView::cut_mark] = 1;
  PartBounds parts[2];
  if (!scan_.scan(side_, watch, parts)) return false;
  if (span.given != not_given) {
    const auto at = std::ranges::lower_bound(out.parted, span.given);
    if (at == out.parted.end() || *at != span.given) out.parted.insert(at, span.given);
  }
  SplitBounds split;
  split.column = test_of(span, cut);
  split.share = span.share & (std::uint32_t{most_limited_leaves} - 1);
  // What is known of the ends holds for the cut, too.
  Cost loose[2];
  for (int s = 0; s < 2; ++s) {
    const bool end = cut == (s == 1 ? span.first : span.last);
    const Cost known = end              ? span.lower[s]
                       : options_.spans ? std::max(Cost(0), span.lower[s] - slack_)
                                        : Cost(0);
    loose[s] = std::min(parts[s].upper, std::max(parts[s].loose, known));
    split.lower[s] = std::min(parts[s].upper, std::max(parts[s].lower, known));
    split.upper[s] = parts[s].upper;
  }
  note(split, parts, out);
  push({{},
        {},
        span.column,
        span.first,
        cut,
        span.first_open,
        false,
        {loose[0], span.lower[1]},
        {parts[0].upper, span.upper[1]},
        span.given,
        span.share});
  push({{},
        {},
        span.column,
        cut,
        span.last,
        false,
        span.last_open,
        {span.lower[0], loose[1]},
        {span.upper[0], parts[1].upper},
        span.given,
        span.share});
  return true;
}

bool SpanExpander::try_binary(Watch& watch, Expansion& out) {
  for (const OrderedView::Binary& binary : view_.binary()) {
    if (!Dataset::may_test(data_.use(binary.column), depth_)) continue;
    const Word* const bits = view_.bits(binary);
    for (std::size_t place = 0; place < side_.size(); ++place)
      side_[place] = (bits[place / word_bits] >> (place % word_bits)) & 1;
    PartBounds parts[2];
    if (!scan_.scan(side_, watch, parts)) return false;
    SplitBounds split;
    split.column = binary.column;
    for (int s = 0; s < 2; ++s) {
      split.lower[s] = parts[s].lower;
      split.upper[s] = parts[s].upper;
    }
    note(split, parts, out);
  }
  return true;
}

void SpanExpander::note(SplitBounds& split, const PartBounds (&parts)[2], Expansion& out) {
  for (const PartBounds& part : parts)
    if (part.weight < options_.min_samples_leaf) return;
  for (int s = 0; s < 2; ++s) {
    split.few[s][0] = parts[s].leaf;
    if (data_.rows_folded()) split.few[s][1] = parts[s].upper;
  }
  out.splits.push_back(split);
  const Below sides[2] = {{parts[0].leaf, parts[0].upper}, {parts[1].leaf, parts[1].upper}};
  const SmallTree small = cheapest_of(sides, leaves_);
  const Cost total = posterior_.test_costs()[split.column] + small.cost;
  if (total >= best_) return;
  best_ = total;
  if (out.base + total >= out.leaf) return;
  out.best = split.column;
  out.best_cost = out.base + total;
  for (int s = 0; s < 2; ++s) {
    out.best_upper[s] = small.split[s] ? parts[s].upper : parts[s].leaf;
    out.best_below[s] = small.split[s] ? parts[s].best : no_column;
    for (int b = 0; b < 2; ++b) out.best_leaf[s][b] = parts[s].leaves[b];
  }
}

std::size_t SpanExpander::bytes_for(const Dataset& data) {
  return OrderedView::bytes_for(data) + PartScan::bytes_for(data) + data.n_words() * word_bits +
         2 * usual_spans(data) * sizeof(Span) +
         data.ordered().n_columns() * sizeof(PartScan::BestCut);
}

std::size_t SpanExpander::bytes() const {
  return view_.bytes() + scan_.bytes() + side_.capacity() +
         (heap_.capacity() + left_.capacity()) * sizeof(Span) +
         best_cuts_.capacity() * sizeof(PartScan::BestCut);
}

}  // namespace maptree
