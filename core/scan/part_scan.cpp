#include "scan/part_scan.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace maptree {

namespace {

constexpr std::int64_t never = Cost::infinity().units();
// Wide enough for all rows of a node: four counters in a word, or two.
constexpr unsigned narrow = 16, wide = 32;

template <unsigned Bits>
[[nodiscard]] std::int32_t counter(std::uint64_t counts, std::size_t at) {
  return static_cast<std::int32_t>((counts >> (at * Bits)) & ((std::uint64_t{1} << Bits) - 1));
}

}  // namespace

PartScan::PartScan(const Dataset& data, const Posterior& posterior, const Options& options)
    : data_(data), posterior_(posterior), options_(options) {
  const auto n_classes = static_cast<std::size_t>(data.n_classes());
  mixed_.reserve(n_classes);
  pure_.reserve(n_classes);
  mask_.reserve(data.n_words());
  floor_.reserve(data.n_distinct_rows() + 1);
  for (Part& part : parts_)
    for (std::vector<std::int32_t>* counts : {&part.classes, &part.rest, &part.low, &part.low_rest})
      counts->reserve(n_classes);
  ones_.reserve(2 * data.n_words() * word_bits);
  sums_.reserve(2 * (data.n_distinct_rows() + 1));
  everywhere_.reserve(data.n_words() * word_bits);
  if (data.ordered().weighted())
    span_codes_.reserve(data.ordered().n_columns() * data.n_distinct_rows());
}

std::size_t PartScan::bytes_for(const Dataset& data) {
  std::size_t counting =
      2 * (data.n_words() * word_bits + data.n_distinct_rows() + 1) * sizeof(ones_[0]) +
      data.n_words() * word_bits;
  if (data.ordered().weighted())
    counting += data.ordered().n_columns() * data.n_distinct_rows() * sizeof(OrderedColumns::Code);
  return static_cast<std::size_t>(data.n_classes()) *
             (2 * sizeof(std::int64_t*) + 8 * sizeof(std::int32_t)) +
         data.n_words() * sizeof(Word) + (data.n_distinct_rows() + 1) * sizeof(std::int64_t) +
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
  if (counted_ && of_codes_ != nullptr) find_span_codes();
}

void PartScan::choose_counters() {
  bool pure_rows = true;
  unit_rows_ = true;
  for (const OrderedView::Run& run : view_->runs()) {
    pure_rows = pure_rows && run.n_classes == 1;
    unit_rows_ = unit_rows_ && run.n_classes == 1 && run.pattern->weight == 1;
  }
  counter_bits_ = view_->total().weight < 1 << narrow ? narrow : wide;
  n_counters_ = mixed_.size() + (unit_rows_ ? 0 : 1);
  n_words_ = 2 * n_counters_ * counter_bits_ <= word_bits ? 1 : 2;
  // A row of several classes pays for these, alone; with another row its bound may fall.
  counted_ = mixed_.size() >= 2 && n_counters_ * counter_bits_ <= word_bits &&
             stop_lower_ == stop_upper_ && (leaves_only_ || pure_rows);
}

void PartScan::find_span_codes() {
  using Code = OrderedColumns::Code;
  span_codes_.clear();
  for (const OrderedView::Ordered& of : view_->ordered()) {
    span_codes_.resize(of.first_cut + of.n_cuts);
    Code* const out = &span_codes_[of.first_cut];
    const Code* const codes = view_->codes(of);
    const std::uint32_t* const cuts = view_->cuts(of);
    const auto find = [=](const auto& self, std::uint32_t first, std::uint32_t last) -> Code {
      if (first == last) return OrderedView::no_code;
      const std::uint32_t middle = first + (last - first) / 2;
      const Code sides = std::min(self(self, first, middle), self(self, middle + 1, last));
      return out[middle] = std::min(codes[cuts[middle]], sides);
    };
    find(find, 0, of.n_cuts);
  }
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
  if (!counted_) return;
  ones_.assign(n_words_ * view_->n_places(), 0);
  for (const OrderedView::Run& run : view_->runs()) {
    std::uint64_t one = 0;
    const auto put = [&](std::size_t at, std::int32_t weight) {
      one += static_cast<std::uint64_t>(weight) << (at * counter_bits_);
    };
    for (std::uint32_t p = 0; p < run.n_classes; ++p)
      put(static_cast<std::size_t>(run.pattern[p].k), run.pattern[p].weight);
    if (!unit_rows_) put(n_classes, 1);
    for (std::size_t place = run.first_word * word_bits; place < run.last_word * word_bits;
         ++place) {
      if (n_words_ == 2)
        ones_[2 * place + side[place]] = one;
      else
        ones_[place] = one << (side[place] * n_counters_ * counter_bits_);
    }
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
  std::uint32_t first[2] = {no_test, no_test}, last[2] = {no_test, no_test};
  // Since the last row of the part: whether there is a cut, and the least code of these.
  bool cut[2] = {false, false};
  OrderedColumns::Code code[2] = {OrderedView::no_code, OrderedView::no_code};
  const OrderedColumns::Code* const codes = of_codes_ == nullptr ? nullptr : view.codes(of);
  for (std::uint32_t i = 0; i < view.n_rows(); ++i) {
    const std::uint32_t place = order[i] & ~OrderedView::cut_mark;
    if ((order[i] & OrderedView::cut_mark) != 0) cut[0] = cut[1] = true;
    if (codes != nullptr)
      for (OrderedColumns::Code& least : code) least = std::min(least, codes[i]);
    const int s = side[place];
    Part& part = parts_[s];
    if (last[s] == no_test)
      first[s] = place;
    else if (cut[s])
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
  for (int s = 0; s < 2; ++s)
    if (last[s] != no_test)
      varying_[s] += data_.ordered().weight_between(of.column, view.rank(of, first[s]),
                                                    view.rank(of, last[s]));
}

template <std::size_t Words>
void PartScan::sum_rows(std::uint32_t column) {
  const std::uint32_t n_rows = view_->n_rows();
  const std::uint32_t* const order = view_->order(view_->ordered()[column]);
  const std::uint64_t* const ones = ones_.data();
  sums_.resize(Words * (n_rows + 1));
  std::uint64_t* to = sums_.data();
  std::uint64_t sum[Words] = {};
  for (std::uint32_t i = 0; i < n_rows; ++i) {
    const std::size_t place = order[i] & ~OrderedView::cut_mark;
    for (std::size_t w = 0; w < Words; ++w) {
      *to++ = sum[w];
      sum[w] += ones[Words * place + w];
    }
  }
  for (std::size_t w = 0; w < Words; ++w) *to++ = sum[w];
}

template <bool LeavesOnly, std::size_t K, unsigned Bits>
void PartScan::scan_counted(std::uint32_t column) {
  const OrderedView& view = *view_;
  const OrderedView::Ordered& of = view.ordered()[column];
  const std::uint32_t n_rows = view.n_rows();
  const std::uint32_t* const cut_at = view.cuts(of);
  const OrderedColumns::Code* const codes = of_codes_ == nullptr ? nullptr : view.codes(of);
  const OrderedColumns::Code* const span_codes =
      of_codes_ == nullptr ? nullptr : &span_codes_[of.first_cut];
  n_words_ == 1 ? sum_rows<1>(column) : sum_rows<2>(column);

  struct Costs {
    std::int64_t leaf, lower;
  };
  const std::int64_t* const rising = rising_;
  const std::int64_t* const floor = floor_.data();
  const std::int64_t stop = stop_lower_;
  const std::int32_t min_leaf = static_cast<std::int32_t>(
      std::min<std::int64_t>(options_.min_samples_leaf, max_total_weight + 1));
  const bool unit = unit_rows_;
  const std::int64_t *mixed[K], *pure[K];
  for (std::size_t k = 0; k < K; ++k) {
    mixed[k] = mixed_[k];
    pure[k] = pure_[k];
  }
  const auto weight = [&](std::uint64_t counts) {
    std::int32_t n = 0;
    for (std::size_t k = 0; k < K; ++k) n += counter<Bits>(counts, k);
    return n;
  };
  const auto costs = [&](std::uint64_t counts) {
    std::int32_t n = 0;
    std::int64_t leaf = 0, apart = 0;
    for (std::size_t k = 0; k < K; ++k) {
      const std::int32_t c = counter<Bits>(counts, k);
      n += c;
      leaf -= mixed[k][c];
      if constexpr (!LeavesOnly) apart += pure[k][c];
    }
    const std::int32_t rows = unit ? n : counter<Bits>(counts, K);
    Costs out;
    out.leaf = leaf + rising[n] + (rows > 1 ? stop : 0);
    out.lower = out.leaf;
    if constexpr (!LeavesOnly)
      out.lower = std::min(out.lower, floor[static_cast<std::size_t>(rows)] + apart);
    return out;
  };
  struct Span {
    std::uint32_t first, last;  // cuts, without the last
    Costs low, high;            // of the low side of the cut before, the high side of the last
  };

  for (int s = 0; s < 2; ++s) {
    Part& part = parts_[s];
    if (part.distinct == 0) continue;
    const std::uint64_t* const sums = sums_.data() + (n_words_ == 2 ? s : 0);
    const std::size_t shift = n_words_ == 2 ? 0 : static_cast<std::size_t>(s) * n_counters_ * Bits;
    const std::uint64_t mask = n_words_ == 2 ? ~std::uint64_t{0} : ~std::uint32_t{0};
    const auto counts_before = [&](std::size_t i) { return (sums[n_words_ * i] >> shift) & mask; };
    const std::uint64_t all = counts_before(n_rows);
    // The first and the last row of the part.
    const auto first_where = [&](auto&& holds) {
      std::uint32_t first = 0, last = n_rows;
      while (first < last) {
        const std::uint32_t middle = first + (last - first) / 2;
        holds(middle) ? last = middle : first = middle + 1;
      }
      return first;
    };
    const std::uint32_t least = first_where([&](auto i) { return counts_before(i + 1) != 0; });
    const std::uint32_t most = first_where([&](auto i) { return counts_before(i + 1) == all; });
    const auto rank = [&](std::uint32_t i) {
      return view.rank(of, view.order(of)[i] & ~OrderedView::cut_mark);
    };
    varying_[s] += data_.ordered().weight_between(of.column, rank(least), rank(most));

    Best& best = part.best;
    Span open[2 * word_bits];
    std::size_t n_open = 0;
    open[n_open++] = {0, of.n_cuts, costs(0), costs(0)};
    while (n_open > 0) {
      const Span span = open[--n_open];
      if (span.first == span.last) continue;
      const std::uint32_t middle = span.first + (span.last - span.first) / 2;
      const std::int64_t cheapest = codes == nullptr ? 0 : test_cost(span_codes[middle]);
      if (span.low.leaf + span.high.leaf + cheapest >= best.upper &&
          (LeavesOnly || span.low.lower + span.high.lower + cheapest >= best.lower))
        continue;
      const std::uint64_t below = counts_before(cut_at[middle]), above = all - below;
      const Costs low = costs(below), high = costs(above);
      if (below != 0) open[n_open++] = {span.first, middle, span.low, high};
      if (above != 0) open[n_open++] = {middle + 1, span.last, low, span.high};
      if (below == 0 || above == 0) continue;
      const std::int64_t test = codes == nullptr ? 0 : test_cost(codes[cut_at[middle]]);
      best.loose = std::min(best.loose, low.lower + high.lower + test);
      if (min_leaf > 1) {
        const std::int32_t n[2] = {weight(above), weight(below)};
        if (n[0] < min_leaf || n[1] < min_leaf) continue;
        best.lower =
            std::min(best.lower, (n[1] < 2 * min_leaf ? low.leaf : low.lower) +
                                     (n[0] < 2 * min_leaf ? high.leaf : high.lower) + test);
      } else {
        best.lower = std::min(best.lower, low.lower + high.lower + test);
      }
      if (low.leaf + high.leaf + test < best.upper)
        best = {best.lower,     best.loose, low.leaf + high.leaf + test, column,
                cut_at[middle], no_test,    {high.leaf, low.leaf}};
    }
  }
}

template <bool LeavesOnly>
void PartScan::scan_spans(std::uint32_t column) {
  if (counter_bits_ == wide) return scan_counted<LeavesOnly, 2, wide>(column);
  mixed_.size() == 2   ? scan_counted<LeavesOnly, 2, narrow>(column)
  : mixed_.size() == 3 ? scan_counted<LeavesOnly, 3, narrow>(column)
                       : scan_counted<LeavesOnly, 4, narrow>(column);
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
    if (counted_)
      scan_spans<LeavesOnly>(c);
    else
      scan_ordered<LeavesOnly, Grouped>(c, side);
    return true;
  };
  const std::uint32_t first[2] = {last_best_[0], last_best_[1]};
  for (int s = 0; s < 2; ++s)
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
    const std::uint32_t* const cuts = view_->cuts(of);
    const auto cut =
        counted_
            ? static_cast<std::uint32_t>(std::lower_bound(cuts, cuts + of.n_cuts, best.from) - cuts)
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
         (floor_.capacity() + ones_.capacity() + sums_.capacity()) * sizeof(std::int64_t) +
         (mixed_.capacity() + pure_.capacity()) * sizeof(mixed_[0]);
}

}  // namespace maptree
