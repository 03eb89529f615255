#include "scan/part_scan.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

constexpr std::int64_t never = Cost::infinity().units();

}  // namespace

PartScan::PartScan(const Dataset& data, const Posterior& posterior, const Options& options)
    : data_(data), posterior_(posterior), options_(options) {
  const auto n_classes = static_cast<std::size_t>(data.n_classes());
  mixed_.reserve(n_classes);
  pure_.reserve(n_classes);
  mask_.reserve(data.n_words());
  floor_.reserve(data.n_distinct_rows() + 1);
  first_split_.reserve(data.n_distinct_rows() + 1);
  for (Part& part : parts_)
    for (std::vector<std::int32_t>* counts : {&part.classes, &part.rest, &part.low, &part.low_rest})
      counts->reserve(n_classes);
  ones_.reserve(words_needed(data) * data.n_words() * word_bits);
  sums_.reserve(words_needed(data) * (data.n_distinct_rows() + 1));
  everywhere_.reserve(data.n_words() * word_bits);
  if (data.ordered().weighted()) span_codes_.reserve(OrderedView::most_cuts(data));
}

std::size_t PartScan::bytes_for(const Dataset& data) {
  std::size_t counting = words_needed(data) *
                             (data.n_words() * word_bits + data.n_distinct_rows() + 1) *
                             sizeof(ones_[0]) +
                         data.n_words() * word_bits;
  if (data.ordered().weighted())
    counting += OrderedView::most_cuts(data) * sizeof(OrderedColumns::Code);
  return static_cast<std::size_t>(data.n_classes()) *
             (2 * sizeof(std::int64_t*) + 8 * sizeof(std::int32_t)) +
         data.n_words() * sizeof(Word) + 2 * (data.n_distinct_rows() + 1) * sizeof(std::int64_t) +
         counting;
}

void PartScan::start(const OrderedView& view, const Bounds& bounds, std::size_t depth) {
  view_ = &view;
  bounds_ = &bounds;
  depth_ = depth;
  last_best_[0] = last_best_[1] = no_test;
  may_split_ = bounds.may_split(depth);
  leaves_only_ = !bounds.may_split(depth + 1);
  stop_lower_ = bounds.stop_lower(depth + 1).units();
  stop_upper_ = bounds.stop_upper(depth + 1).units();
  floor_.resize(view.n_rows() + 1);
  for (std::uint32_t rows = 0; rows < floor_.size(); ++rows)
    floor_[rows] =
        bounds.floor(depth + 1, static_cast<std::int32_t>(rows), bounds.spanned_cost(rows));
  rising_ = posterior_.rising_table();
  mixed_.clear();
  pure_.clear();
  for (const std::int32_t k : view.total().numbers) {
    mixed_.push_back(posterior_.mixed_table(k));
    pure_.push_back(posterior_.pure_table(k));
  }
  of_codes_ = data_.ordered().weighted() ? posterior_.test_costs().of_codes() : nullptr;
  choose_counters();
  find_few_leaves();
  if (counted_ && of_codes_ != nullptr) find_span_codes();
}

void PartScan::count(std::span<const std::uint8_t> side) {
  const std::size_t n_classes = mixed_.size();
  mask_.assign(view_->n_words(), 0);
  for (std::size_t place = 0; place < side.size(); ++place)
    mask_[place / word_bits] |= static_cast<Word>(side[place]) << (place % word_bits);
  for (Part& part : parts_) {
    part.classes.assign(n_classes, 0);
    part.rest.assign(n_classes, 0);
    part.low.resize(n_classes);
    part.low_rest.resize(n_classes);
    part.groups = 0;
    part.weight = part.distinct = 0;
  }
  for (const OrderedView::Run& run : view_->runs()) {
    std::int32_t n[2] = {0, 0};
    for (std::uint32_t w = run.first_word; w < run.last_word; ++w) n[1] += popcount(mask_[w]);
    n[0] = static_cast<std::int32_t>(run.n_rows) - n[1];
    for (int s = 0; s < 2; ++s) {
      Part& part = parts_[s];
      part.distinct += n[s];
      part.groups += n[s] * run.group_floor;
      for (std::uint32_t i = 0; i < run.n_classes; ++i) {
        const auto k = static_cast<std::size_t>(run.pattern[i].k);
        part.classes[k] += n[s] * run.pattern[i].weight;
        part.weight += n[s] * run.pattern[i].weight;
        if (run.group_floor == 0) part.rest[k] += n[s] * run.pattern[i].weight;
      }
    }
  }
  for (Part& part : parts_) {
    part.mixed = part.pure = 0;
    part.apart = part.groups;
    for (std::size_t k = 0; k < n_classes; ++k) {
      part.mixed += mixed_[k][part.classes[k]];
      part.pure += pure_[k][part.classes[k]];
      part.apart += pure_[k][part.rest[k]];
    }
    part.best = {never, never, never, 0, 0, 0, {never, never}};
  }
  if (counted_) make_ones(side);
}

// Thresholds vary between the first and the last row of a part.
void PartScan::add_varying(std::uint32_t column, std::span<const std::uint8_t> side) {
  const OrderedView::Ordered& of = view_->ordered()[column];
  const std::uint32_t* const order = view_->order(of);
  const auto place = [=](std::uint32_t i) { return order[i] & ~OrderedView::cut_mark; };
  for (int s = 0; s < 2; ++s) {
    if (parts_[s].distinct == 0) continue;
    std::uint32_t first = 0, last = view_->n_rows() - 1;
    while (side[place(first)] != s) ++first;
    while (side[place(last)] != s) --last;
    varying_[s] += data_.ordered().weight_between(of.column, view_->rank(of, place(first)),
                                                  view_->rank(of, place(last)));
  }
}

void PartScan::reset(Part& part) const {
  std::ranges::fill(part.low, 0);
  std::ranges::fill(part.low_rest, 0);
  part.low_weight = part.low_distinct = 0;
  part.mixed_of[0] = part.mixed;
  part.pure_of[0] = part.pure;
  part.apart_of[0] = part.apart;
  part.mixed_of[1] = part.pure_of[1] = part.apart_of[1] = 0;
}

// Takes rows of a class from the high side to the low one.
template <bool LeavesOnly, bool Grouped>
void PartScan::add(Part& part, const PartScan& tables, std::int32_t k, std::int32_t weight,
                   bool group) {
  const auto c = static_cast<std::size_t>(k);
  const std::int32_t low = part.low[c], high = part.classes[c] - low;
  const std::int64_t* const mixed = tables.mixed_[c];
  part.mixed_of[1] += mixed[low + weight] - mixed[low];
  part.mixed_of[0] += mixed[high - weight] - mixed[high];
  part.low[c] = low + weight;
  part.low_weight += weight;
  if constexpr (!LeavesOnly) {
    const std::int64_t* const pure = tables.pure_[c];
    part.pure_of[1] += pure[low + weight] - pure[low];
    part.pure_of[0] += pure[high - weight] - pure[high];
    if (Grouped && !group) {
      const std::int32_t rest = part.low_rest[c], high_rest = part.rest[c] - rest;
      part.apart_of[1] += pure[rest + weight] - pure[rest];
      part.apart_of[0] += pure[high_rest - weight] - pure[high_rest];
      part.low_rest[c] = rest + weight;
    }
  }
}

template <bool LeavesOnly, bool Grouped>
void PartScan::evaluate(Part& part, std::uint32_t column, std::uint32_t from, std::uint32_t to,
                        std::int64_t test) const {
  const std::int32_t n[2] = {part.weight - part.low_weight, part.low_weight};
  const std::int32_t rows[2] = {part.distinct - part.low_distinct, part.low_distinct};
  const std::int64_t min_leaf = options_.min_samples_leaf;
  std::int64_t leaf[2], low[2], loose[2];
  for (int s = 0; s < 2; ++s) {
    const std::int64_t likelihood = rising_[n[s]] - part.mixed_of[s];
    leaf[s] = likelihood + (rows[s] > 1 ? stop_upper_ : 0);
    loose[s] = likelihood + (rows[s] > 1 ? stop_lower_ : 0);
    low[s] = loose[s];
    if constexpr (!LeavesOnly) {
      const std::int64_t pure =
          Grouped ? std::max(part.pure_of[s], part.apart_of[s]) : part.pure_of[s];
      const std::int64_t split = floor_[static_cast<std::size_t>(rows[s])] + pure;
      loose[s] = std::min(loose[s], split);
      if (n[s] >= 2 * min_leaf) low[s] = std::min(low[s], split);
    }
  }
  Best& best = part.best;
  best.loose = std::min(best.loose, loose[0] + loose[1] + test);
  if (n[0] < min_leaf || n[1] < min_leaf) return;
  best.lower = std::min(best.lower, low[0] + low[1] + test);
  if (leaf[0] + leaf[1] + test < best.upper) {
    best.upper = leaf[0] + leaf[1] + test;
    best.column = column;
    best.from = from;
    best.to = to;
    best.leaves[0] = leaf[0];
    best.leaves[1] = leaf[1];
  }
}

template <bool LeavesOnly, bool Grouped>
void PartScan::scan_ordered(std::uint32_t column, std::span<const std::uint8_t> side) {
  const OrderedView& view = *view_;
  const OrderedView::Ordered& of = view.ordered()[column];
  const std::uint32_t* const order = view.order(of);
  for (Part& part : parts_) reset(part);
  std::uint32_t last[2] = {no_test, no_test};
  // Since the last row of the part: whether there is a cut, and the least code of these.
  bool cut[2] = {false, false};
  OrderedColumns::Code code[2] = {OrderedView::no_code, OrderedView::no_code};
  const OrderedColumns::Code* codes = of_codes_ == nullptr ? nullptr : view.codes(of);
  for (std::uint32_t i = 0; i < view.n_rows(); ++i) {
    const std::uint32_t place = order[i] & ~OrderedView::cut_mark;
    if ((order[i] & OrderedView::cut_mark) != 0) {
      cut[0] = cut[1] = true;
      if (codes != nullptr) {
        for (OrderedColumns::Code& least : code) least = std::min(least, *codes);
        ++codes;
      }
    }
    const int s = side[place];
    Part& part = parts_[s];
    if (last[s] != no_test && cut[s])
      evaluate<LeavesOnly, Grouped>(part, column, last[s], place, test_cost(code[s]));
    cut[s] = false;
    code[s] = OrderedView::no_code;
    last[s] = place;
    ++part.low_distinct;
    const OrderedView::Row& row = view.row(place);
    if (row.k >= 0) {
      add<LeavesOnly, Grouped>(part, *this, row.k, row.weight, false);
    } else {
      const OrderedView::Run& run = view.runs()[row.run];
      for (std::uint32_t p = 0; p < run.n_classes; ++p)
        add<LeavesOnly, Grouped>(part, *this, run.pattern[p].k, run.pattern[p].weight,
                                 run.group_floor != 0);
      if constexpr (Grouped) {
        part.apart_of[1] += run.group_floor;
        part.apart_of[0] -= run.group_floor;
      }
    }
  }
}

template <bool LeavesOnly, bool Grouped>
void PartScan::scan_binary(std::uint32_t column) {
  const OrderedView& view = *view_;
  const OrderedView::Binary& of = view.binary()[column];
  const Word* const bits = view.bits(of);
  for (Part& part : parts_) reset(part);
  for (const OrderedView::Run& run : view.runs()) {
    std::int32_t n[2] = {0, 0};
    for (std::uint32_t w = run.first_word; w < run.last_word; ++w) {
      n[0] += popcount(bits[w] & ~mask_[w]);
      n[1] += popcount(bits[w] & mask_[w]);
    }
    for (int s = 0; s < 2; ++s) {
      Part& part = parts_[s];
      if (n[s] == 0) continue;
      part.low_distinct += n[s];
      for (std::uint32_t p = 0; p < run.n_classes; ++p)
        add<LeavesOnly, Grouped>(part, *this, run.pattern[p].k, n[s] * run.pattern[p].weight,
                                 run.group_floor != 0);
      if constexpr (Grouped) {
        part.apart_of[1] += n[s] * run.group_floor;
        part.apart_of[0] -= n[s] * run.group_floor;
      }
    }
  }
  for (int s = 0; s < 2; ++s) {
    Part& part = parts_[s];
    if (part.low_distinct == 0 || part.low_distinct == part.distinct) continue;
    varying_[s] += of.weight;
    if (!Dataset::may_test(data_.use(of.column), depth_)) continue;
    evaluate<LeavesOnly, Grouped>(part, column + static_cast<std::uint32_t>(view.ordered().size()),
                                  0, 0, posterior_.test_costs()[of.column].units());
  }
}

template <bool LeavesOnly, bool Grouped>
bool PartScan::scan_all(std::span<const std::uint8_t> side, Watch& watch) {
  const auto work = 6 * static_cast<std::int64_t>(view_->n_rows());
  // The columns that were best in the last scan come first, as parts often differ by a few rows
  // only: with a good split known fewer thresholds need a look.
  const auto n_ordered = static_cast<std::uint32_t>(view_->ordered().size());
  const auto scan_one = [&](std::uint32_t c) {
    watch.count(work);
    if (watch.poll(work)) return false;
    add_varying(c, side);
    if (!Dataset::may_test(data_.use_of_ordered(view_->ordered()[c].column), depth_)) return true;
    if (counted_)
      scan_spans<LeavesOnly>(c);
    else
      scan_ordered<LeavesOnly, Grouped>(c, side);
    return true;
  };
  const std::array first = {last_best_[0], last_best_[1]};
  for (std::size_t s = 0; s < first.size(); ++s)
    if (first[s] < n_ordered && (s == 0 || first[1] != first[0]) && !scan_one(first[s]))
      return false;
  for (std::uint32_t c = 0; c < n_ordered; ++c)
    if (c != first[0] && c != first[1] && !scan_one(c)) return false;
  for (int s = 0; s < 2; ++s) last_best_[s] = parts_[s].best.column;
  const auto little = static_cast<std::int64_t>(4 * view_->n_words() + 20 * mixed_.size() + 40);
  for (std::uint32_t c = 0; c < view_->binary().size(); ++c) {
    watch.count(little);
    if (watch.poll(little)) return false;
    scan_binary<LeavesOnly, Grouped>(c);
  }
  return true;
}

bool PartScan::find_best_cuts(Watch& watch, std::vector<BestCut>& out) {
  out.clear();
  everywhere_.assign(view_->n_places(), 0);
  for (const std::uint32_t place : view_->places()) everywhere_[place] = 1;
  count(everywhere_);
  const auto work = 6 * static_cast<std::int64_t>(view_->n_rows());
  for (std::uint32_t c = 0; c < view_->ordered().size(); ++c) {
    watch.count(work);
    if (watch.poll(work)) return false;
    Best& best = parts_[1].best;
    best = {never, never, never, 0, 0, 0, {never, never}};
    counted_ ? scan_spans<true>(c) : scan_ordered<true, false>(c, everywhere_);
    const OrderedView::Ordered& of = view_->ordered()[c];
    if (best.upper >= never) continue;  // no cut is allowed
    const std::uint32_t cut = counted_ ? OrderedView::cuts_before(of, best.from)
                                       : view_->cut_of(of, view_->rank(of, best.from));
    out.push_back({best.upper, c, cut});
  }
  std::ranges::sort(out, {}, [](const BestCut& best) { return std::pair(best.cost, best.column); });
  return true;
}

bool PartScan::scan(std::span<const std::uint8_t> side, Watch& watch, PartBounds (&out)[2]) {
  count(side);
  varying_[0] = varying_[1] = 0;
  const bool grouped = view_->total().groups != 0;
  const bool whole = leaves_only_ ? scan_all<true, false>(side, watch)
                     : grouped    ? scan_all<false, true>(side, watch)
                                  : scan_all<false, false>(side, watch);
  if (!whole) return false;
  for (int s = 0; s < 2; ++s) {
    out[s] = PartBounds{};
    out[s].varying = varying_[s];
    if (parts_[s].distinct > 0) finish(parts_[s], side, s, out[s]);
  }
  return true;
}

void PartScan::finish(const Part& part, std::span<const std::uint8_t> side, int s,
                      PartBounds& out) const {
  out.weight = part.weight;
  out.leaf = Cost(rising_[part.weight] - part.mixed) +
             (out.varying > 0 ? posterior_.stop(depth_) : Cost(0));
  out.lower = out.loose = out.upper = out.leaf;
  if (out.varying == 0 || !may_split_) return;
  const Cost base = posterior_.split(depth_) + posterior_.log_weight(out.varying);
  const Best& best = part.best;
  out.loose = std::min(out.loose, base + Cost(best.loose));
  if (best.lower < never) out.lower = std::min(out.lower, base + Cost(best.lower));
  if (best.upper >= never) return;
  out.upper = std::min(out.leaf, base + Cost(best.upper));
  for (int which = 0; which < 2; ++which) out.leaves[which] = Cost(best.leaves[which]);
  const auto n_ordered = static_cast<std::uint32_t>(view_->ordered().size());
  if (best.column >= n_ordered) {
    out.best = view_->binary()[best.column - n_ordered].column;
    return;
  }
  const OrderedView::Ordered& of = view_->ordered()[best.column];
  std::uint32_t from = best.from, to = best.to;
  if (counted_) {  // the rows of the part on either side of the cut
    const auto place = [&](std::uint32_t i) {
      return view_->order(of)[i] & ~OrderedView::cut_mark;
    };
    std::uint32_t below = best.from - 1, above = best.from;
    while (side[place(below)] != s) --below;
    while (side[place(above)] != s) ++above;
    from = place(below);
    to = place(above);
  }
  const std::uint32_t threshold =
      data_.ordered().heaviest(of.column, view_->rank(of, from), view_->rank(of, to));
  out.best =
      static_cast<std::uint32_t>(data_.n_columns()) + data_.ordered().first(of.column) + threshold;
}

std::size_t PartScan::bytes() const {
  std::size_t numbers = 0;
  for (const Part& part : parts_)
    numbers += part.classes.capacity() + part.rest.capacity() + part.low.capacity() +
               part.low_rest.capacity();
  return everywhere_.capacity() + numbers * sizeof(std::int32_t) + mask_.capacity() * sizeof(Word) +
         span_codes_.capacity() * sizeof(OrderedColumns::Code) +
         (floor_.capacity() + first_split_.capacity() + ones_.capacity() + sums_.capacity()) *
             sizeof(std::int64_t) +
         (mixed_.capacity() + pure_.capacity()) * sizeof(mixed_[0]);
}

}  // namespace maptree
