// PartScan where a node has few classes: rows are counted in one pass over an order, and only some
// of the cuts are looked at.
#include <algorithm>

#include "scan/part_scan.hpp"

namespace maptree {

namespace {

// Wide enough for all rows of a node: four counters in a word, or two.
constexpr unsigned narrow = 16, wide = 32;
constexpr std::size_t most_words = 2;  // of a part

// The counters of a part.
template <std::size_t Words>
struct Counters {
  std::uint64_t words[Words];

  template <unsigned Bits>
  [[nodiscard]] std::int32_t at(std::size_t i) const {
    constexpr std::size_t in_a_word = word_bits / Bits;
    const std::uint64_t word = words[Words == 1 ? 0 : i / in_a_word];
    return static_cast<std::int32_t>((word >> (i % in_a_word * Bits)) &
                                     ((std::uint64_t{1} << Bits) - 1));
  }
  [[nodiscard]] bool none() const {
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    return any == 0;
  }
  [[nodiscard]] Counters without(const Counters& some) const {
    Counters out;
    for (std::size_t w = 0; w < Words; ++w) out.words[w] = words[w] - some.words[w];
    return out;
  }
};

// What a side costs as a leaf, and at least with any tree.
template <bool LeavesOnly>
struct SideCosts {
  std::int64_t leaf, bound;
  [[nodiscard]] std::int64_t lower() const { return bound; }
};

template <>
struct SideCosts<true> {
  std::int64_t leaf;
  [[nodiscard]] std::int64_t lower() const { return leaf; }
};

}  // namespace

std::size_t PartScan::words_needed(const Dataset& data) {
  const bool unit_rows = std::ranges::all_of(
      data.segments(), [](const Segment& segment) { return segment.unit_class >= 0; });
  const std::size_t bits = data.total_weight() < 1 << narrow ? narrow : wide;
  const std::size_t n_counters = static_cast<std::size_t>(data.n_classes()) + (unit_rows ? 0 : 1);
  return 2 * std::min(most_words, words_for(n_counters * bits));
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
  const std::size_t of_part = words_for(n_counters_ * counter_bits_);
  n_words_ = 2 * n_counters_ * counter_bits_ <= word_bits ? 1 : 2 * of_part;
  // A row of several classes pays for these, alone; with another row its bound may fall.
  counted_ = mixed_.size() >= 2 && of_part <= most_words && stop_lower_ == stop_upper_ &&
             (leaves_only_ || pure_rows);
}

// B7 bounds parts of three classes whose rows count one each.
void PartScan::find_few_leaves() {
  few_leaves_ = options_.few_leaves_bound && options_.varying_bound &&
                options_.distinct_rows_bound && data_.rows_folded() && counted_ && unit_rows_ &&
                !leaves_only_ && mixed_.size() == 3;
  if (!few_leaves_) return;
  const auto n_rows = static_cast<std::int32_t>(view_->n_rows());
  const std::int64_t rounding = 4 * static_cast<std::int64_t>(n_rows);
  first_split_.resize(floor_.size());
  for (std::size_t rows = 0; rows < first_split_.size(); ++rows)
    first_split_[rows] =
        (posterior_.split(depth_ + 1) + bounds_->spanned_cost(rows)).units() - rounding;
  // Two leaves of so many rows gain less than they cost, whatever the classes.
  const auto pays = [&](std::int32_t rows) {
    const std::int64_t gain = rising_[rows] - rising_[rows / 2] - rising_[rows - rows / 2];
    return gain > first_split_[static_cast<std::size_t>(rows)];
  };
  lone_rows_ = 1;
  while (lone_rows_ < n_rows && !pays(lone_rows_ + 1)) ++lone_rows_;
  second_split_ = !bounds_->may_split(depth_ + 2)
                      ? Cost::infinity().units()
                      : (posterior_.split(depth_ + 2) +
                         bounds_->spanned_cost(static_cast<std::size_t>(lone_rows_) + 1))
                            .units();
}

void PartScan::find_span_codes() {
  using Code = OrderedColumns::Code;
  span_codes_.clear();
  for (const OrderedView::Ordered& of : view_->ordered()) {
    span_codes_.resize(of.first_cut + of.n_cuts);
    Code* const out = &span_codes_[of.first_cut];
    const Code* const codes = view_->codes(of);
    const auto find = [=](const auto& self, std::uint32_t first, std::uint32_t last) -> Code {
      if (first == last) return OrderedView::no_code;
      if (first + 1 == last) return out[first] = codes[first];
      const std::uint32_t middle = first + (last - first) / 2;
      const Code sides = std::min(self(self, first, middle), self(self, middle + 1, last));
      return out[middle] = std::min(codes[middle], sides);
    };
    find(find, 0, of.n_cuts);
  }
}

void PartScan::make_ones(std::span<const std::uint8_t> side) {
  ones_.assign(n_words_ * view_->n_places(), 0);
  const std::size_t of_part = n_words_ / 2, in_a_word = word_bits / counter_bits_;
  for (const OrderedView::Run& run : view_->runs()) {
    std::uint64_t one[most_words] = {};
    const auto put = [&](std::size_t at, std::int32_t weight) {
      one[at / in_a_word] += static_cast<std::uint64_t>(weight) << (at % in_a_word * counter_bits_);
    };
    for (std::uint32_t p = 0; p < run.n_classes; ++p)
      put(static_cast<std::size_t>(run.pattern[p].k), run.pattern[p].weight);
    if (!unit_rows_) put(mixed_.size(), 1);
    for (std::size_t place = run.first_word * word_bits; place < run.last_word * word_bits;
         ++place) {
      if (n_words_ == 1)
        ones_[place] = one[0] << (side[place] * n_counters_ * counter_bits_);
      else
        for (std::size_t w = 0; w < of_part; ++w)
          ones_[n_words_ * place + side[place] * of_part + w] = one[w];
    }
  }
}

template <std::size_t Words>
void PartScan::sum_rows(std::uint32_t column) {
  const std::uint32_t n_rows = view_->n_rows();
  const std::uint32_t* const order = view_->order(view_->ordered()[column]);
  const std::uint64_t* const ones = ones_.data();
  sums_.resize(Words * (n_rows + 1));
  std::uint64_t* to = sums_.data();
  std::uint64_t sum[Words] = {};
  for (std::uint32_t i = 0; i < n_rows; ++i, to += Words) {
    const std::size_t place = order[i] & ~OrderedView::cut_mark;
    for (std::size_t w = 0; w < Words; ++w) to[w] = sum[w];
    for (std::size_t w = 0; w < Words; ++w) sum[w] += ones[Words * place + w];
  }
  for (std::size_t w = 0; w < Words; ++w) to[w] = sum[w];
}

// K: the number of classes, 0 where that is not known before. Words: of a part's counters.
template <bool LeavesOnly, std::size_t K, unsigned Bits, std::size_t Words>
void PartScan::scan_counted(std::uint32_t column) {
  using Counts = Counters<Words>;
  const OrderedView& view = *view_;
  const OrderedView::Ordered& of = view.ordered()[column];
  const OrderedColumns::Code* const codes = of_codes_ == nullptr ? nullptr : view.codes(of);
  const OrderedColumns::Code* const span_codes =
      of_codes_ == nullptr ? nullptr : &span_codes_[of.first_cut];

  using Costs = SideCosts<LeavesOnly>;
  const std::int64_t* const rising = rising_;
  const std::int64_t* const floor = floor_.data();
  const std::int64_t stop = stop_lower_;
  const std::int32_t min_leaf = static_cast<std::int32_t>(
      std::min<std::int64_t>(options_.min_samples_leaf, max_total_weight + 1));
  const bool unit = unit_rows_;
  const std::size_t n_classes = K > 0 ? K : mixed_.size();
  // On the stack: stores to the best split could change them anywhere else.
  constexpr std::size_t most_classes = K > 0 ? K : Words * word_bits / Bits;
  const std::int64_t *mixed[most_classes], *pure[most_classes];
  for (std::size_t k = 0; k < n_classes; ++k) {
    mixed[k] = mixed_[k];
    pure[k] = pure_[k];
  }
  const auto weight = [=](const Counts& counts) {
    std::int32_t n = 0;
    for (std::size_t k = 0; k < n_classes; ++k) n += counts.template at<Bits>(k);
    return n;
  };
  const bool few_leaves = few_leaves_;
  const std::int64_t* const first_split = first_split_.data();
  const std::int64_t second_split = second_split_;
  const std::int32_t lone_rows = lone_rows_;
  // B7: two leaves hold three classes, or there are more splits.
  const auto few = [=](const Counts& counts, std::int32_t n) {
    std::int64_t mixing = second_split;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t a = counts.template at<Bits>(k), b = counts.template at<Bits>((k + 1) % 3);
      mixing = std::min(mixing, rising[a + b] - rising[a] - rising[b]);
    }
    return first_split[n] + mixing;
  };
  const auto costs = [&](const Counts& counts) {
    std::int32_t n = 0;
    std::int64_t leaf = 0, apart = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const std::int32_t c = counts.template at<Bits>(k);
      n += c;
      leaf -= mixed[k][c];
      if constexpr (!LeavesOnly) apart += pure[k][c];
    }
    const std::int32_t rows = unit ? n : counts.template at<Bits>(n_classes);
    Costs out;
    out.leaf = leaf + rising[n] + (rows > 1 ? stop : 0);
    if constexpr (!LeavesOnly) {
      std::int64_t split = floor[static_cast<std::size_t>(rows)] + apart;
      if constexpr (K == 3)
        if (few_leaves)
          split = std::max(split, n <= lone_rows ? leaf + rising[n] : few(counts, n) + apart);
      out.bound = std::min(out.leaf, split);
    }
    return out;
  };
  struct Span {
    std::uint32_t first, last;  // cuts, without the last
    Costs low, high;            // of the low side of the cut before, the high side of the last
  };

  for (std::size_t s = 0; s < 2; ++s) {
    Part& part = parts_[s];
    if (part.distinct == 0) continue;
    const bool together = Words == 1 && n_words_ == 1;
    const std::uint64_t* const sums = sums_.data() + (together ? 0 : s * Words);
    const std::size_t step = n_words_, shift = together ? s * n_counters_ * Bits : 0;
    const std::uint64_t mask = together ? ~std::uint32_t{0} : ~std::uint64_t{0};
    const auto counts_before = [=](std::size_t i) {
      Counts out;
      for (std::size_t w = 0; w < Words; ++w) out.words[w] = sums[step * i + w];
      if constexpr (Words == 1) out.words[0] = (out.words[0] >> shift) & mask;
      return out;
    };
    const Counts all = counts_before(view.n_rows());
    Best& best = part.best;
    const auto middle_of = [](const Span& span) {
      return span.first + (span.last - span.first) / 2;
    };
    const auto is_open = [&](const Span& span) {
      if (span.first == span.last) return false;
      const std::int64_t test = codes == nullptr ? 0 : test_cost(span_codes[middle_of(span)]);
      return span.low.leaf + span.high.leaf + test < best.upper ||
             (!LeavesOnly && span.low.lower() + span.high.lower() + test < best.lower);
    };
    // One side of a cut is taken up at once, the other waits if it is open.
    Span waiting[2 * word_bits];
    std::size_t n_waiting = 0;
    Span span{0, of.n_cuts, costs({}), costs({})};
    for (;;) {
      if (!is_open(span)) {
        if (n_waiting == 0) break;
        span = waiting[--n_waiting];
        continue;
      }
      const std::uint32_t middle = middle_of(span);
      const std::uint32_t at = OrderedView::cut_at(of, middle);
      const Counts below = counts_before(at), above = all.without(below);
      const Costs low = costs(below), high = costs(above);
      const Span left{span.first, middle, span.low, high};
      const Span right{middle + 1, span.last, low, span.high};
      // Without rows below there are none further down, either.
      if (below.none()) {
        span = right;
        continue;
      }
      span = left;
      if (above.none()) continue;
      const std::int64_t test = codes == nullptr ? 0 : test_cost(codes[middle]);
      best.loose = std::min(best.loose, low.lower() + high.lower() + test);
      std::int64_t lower = low.lower() + high.lower() + test;
      bool allowed = true;
      if (min_leaf > 1) {
        const std::int32_t n[2] = {weight(above), weight(below)};
        allowed = n[0] >= min_leaf && n[1] >= min_leaf;
        lower = (n[1] < 2 * min_leaf ? low.leaf : low.lower()) +
                (n[0] < 2 * min_leaf ? high.leaf : high.lower()) + test;
      }
      if (allowed) {
        best.lower = std::min(best.lower, lower);
        if (low.leaf + high.leaf + test < best.upper)
          best = {best.lower, best.loose, low.leaf + high.leaf + test, column,
                  at,         no_test,    {high.leaf, low.leaf}};
      }
      if (is_open(right)) waiting[n_waiting++] = right;
    }
  }
}

template <bool LeavesOnly>
void PartScan::scan_spans(std::uint32_t column) {
  n_words_ == 1   ? sum_rows<1>(column)
  : n_words_ == 2 ? sum_rows<2>(column)
                  : sum_rows<2 * most_words>(column);
  const std::size_t n_classes = mixed_.size();
  if (n_words_ > 2)
    counter_bits_ == wide ? scan_counted<LeavesOnly, 0, wide, most_words>(column)
                          : scan_counted<LeavesOnly, 0, narrow, most_words>(column);
  else if (counter_bits_ == wide)
    scan_counted<LeavesOnly, 2, wide, 1>(column);
  else
    n_classes == 2   ? scan_counted<LeavesOnly, 2, narrow, 1>(column)
    : n_classes == 3 ? scan_counted<LeavesOnly, 3, narrow, 1>(column)
                     : scan_counted<LeavesOnly, 4, narrow, 1>(column);
}

template void PartScan::scan_spans<false>(std::uint32_t column);
template void PartScan::scan_spans<true>(std::uint32_t column);

}  // namespace maptree
