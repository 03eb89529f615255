#include "scan/part_scan.hpp"

#include <algorithm>
#include <cassert>

namespace maptree {

namespace {

constexpr std::int64_t never = Cost::infinity().units();
constexpr std::uint32_t block_rows = 8;
constexpr unsigned counter_bits = 16;
constexpr std::uint64_t counter_mask = (1u << counter_bits) - 1;

[[nodiscard]] std::size_t n_blocks(std::size_t n_rows) {
  return (n_rows + block_rows - 1) / block_rows;
}

}  // namespace

PartScan::PartScan(const Dataset& data, const Posterior& posterior, const Options& options)
    : data_(data), posterior_(posterior), options_(options) {
  const auto n_classes = static_cast<std::size_t>(data.n_classes());
  mixed_.reserve(n_classes);
  pure_.reserve(n_classes);
  mask_.reserve(data.n_words());
  floor_.reserve(data.n_distinct_rows() + 1);
  if (data.n_classes() == 2 && data.n_distinct_rows() <= counter_mask) {
    ones_.reserve(data.n_words() * word_bits);
    sums_.reserve(data.n_distinct_rows() / block_rows + 2);
    if (data.ordered().weighted())
      block_codes_.reserve(data.ordered().n_columns() * n_blocks(data.n_distinct_rows()));
  }
  for (Part& part : parts_)
    for (std::vector<std::int32_t>* counts : {&part.classes, &part.rest, &part.low, &part.low_rest})
      counts->reserve(n_classes);
}

std::size_t PartScan::bytes_for(const Dataset& data) {
  return static_cast<std::size_t>(data.n_classes()) *
             (2 * sizeof(std::int64_t*) + 8 * sizeof(std::int32_t)) +
         data.n_words() * sizeof(Word) + (data.n_distinct_rows() + 1) * sizeof(std::int64_t) +
         (data.n_classes() == 2 && data.n_distinct_rows() <= counter_mask
              ? (data.n_words() * word_bits + data.n_distinct_rows() / block_rows + 2) *
                        sizeof(std::uint64_t) +
                    (data.ordered().weighted() ? data.ordered().n_columns() : 0) *
                        n_blocks(data.n_distinct_rows()) * sizeof(OrderedColumns::Code)
              : 0);
}

void PartScan::start(const OrderedView& view, const Bounds& bounds, std::size_t depth) {
  view_ = &view;
  bounds_ = &bounds;
  depth_ = depth;
  may_split_ = bounds.may_split(depth);
  leaves_only_ = !bounds.may_split(depth + 1);
  const LevelBounds& below = bounds.level(depth + 1);
  stop_lower_ = below.stop_lower.units();
  stop_upper_ = below.stop_upper.units();
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
  in_blocks_ = options_.min_samples_leaf == 1 && stop_lower_ == stop_upper_ &&
               data_.n_classes() == 2 && mixed_.size() == 2 &&
               data_.n_distinct_rows() <= counter_mask &&
               std::ranges::all_of(view.runs(), [](const OrderedView::Run& run) {
                 return run.n_classes == 1 && run.pattern->weight == 1;
               });
  of_codes_ = data_.ordered().weighted() ? posterior_.test_costs().of_codes() : nullptr;
  if (in_blocks_ && of_codes_ != nullptr) find_block_codes();
}

void PartScan::find_block_codes() {
  block_codes_.clear();
  for (const OrderedView::Ordered& of : view_->ordered()) {
    const OrderedColumns::Code* const codes = view_->codes(of);
    for (std::uint32_t i = 0; i < view_->n_rows(); i += block_rows) {
      OrderedColumns::Code least = codes[i];
      const std::uint32_t end = std::min(view_->n_rows(), i + block_rows);
      for (std::uint32_t j = i + 1; j < end; ++j) least = std::min(least, codes[j]);
      block_codes_.push_back(least);
    }
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
  if (!in_blocks_) return;
  ones_.resize(view_->n_places());
  for (const OrderedView::Run& run : view_->runs())
    for (std::size_t place = run.first_word * word_bits; place < run.last_word * word_bits; ++place)
      ones_[place] = std::uint64_t{1} << ((2 * side[place] + run.pattern->k) * counter_bits);
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

template <bool LeavesOnly>
void PartScan::scan_block(Part& part, std::uint32_t column, std::span<const std::uint8_t> side,
                          int s, std::uint32_t first, std::uint32_t last, std::uint64_t counts) {
  const OrderedView& view = *view_;
  const std::uint32_t* const order = view.order(view.ordered()[column]);
  const OrderedColumns::Code* const codes =
      of_codes_ == nullptr ? nullptr : view.codes(view.ordered()[column]);
  // The last row of the part before the block, whether there is a cut behind it, and its code.
  std::uint32_t before = first;
  bool cut = false;
  OrderedColumns::Code code = OrderedView::no_code;
  const auto place_at = [&](std::uint32_t i) { return order[i] & ~OrderedView::cut_mark; };
  const auto has_cut = [&](std::uint32_t i) { return (order[i] & OrderedView::cut_mark) != 0; };
  const auto pass = [&](std::uint32_t i) {
    cut = cut || has_cut(i);
    if (codes != nullptr) code = std::min(code, codes[i]);
  };
  while (before > 0) {
    if (before < first) pass(before);
    --before;
    if (side[place_at(before)] == s) break;
  }
  const auto of_class = [&](int k) {
    return static_cast<std::int32_t>((counts >> ((2 * s + k) * counter_bits)) & counter_mask);
  };
  bool any = of_class(0) + of_class(1) > 0;
  std::uint32_t last_place = any ? place_at(before) : 0;
  for (std::uint32_t i = first; i < last; ++i) {
    const std::uint32_t place = place_at(i);
    pass(i);
    if (side[place] != s) continue;
    if (any && cut) {
      part.low_weight = part.low_distinct = of_class(0) + of_class(1);
      for (int which = 0; which < 2; ++which) {
        part.mixed_of[which] = part.pure_of[which] = 0;
        for (int k = 0; k < 2; ++k) {
          const std::int32_t low = of_class(k);
          const std::int32_t c = which == 1 ? low : part.classes[static_cast<std::size_t>(k)] - low;
          part.mixed_of[which] += mixed_[static_cast<std::size_t>(k)][c];
          if constexpr (!LeavesOnly) part.pure_of[which] += pure_[static_cast<std::size_t>(k)][c];
        }
      }
      evaluate<LeavesOnly, false>(part, column, last_place, place, test_cost(code));
    }
    any = true;
    cut = false;
    code = OrderedView::no_code;
    last_place = place;
    counts += ones_[place];
  }
}

template <bool LeavesOnly>
void PartScan::scan_blocks(std::uint32_t column, std::span<const std::uint8_t> side) {
  const OrderedView& view = *view_;
  const OrderedView::Ordered& of = view.ordered()[column];
  const std::uint32_t* const order = view.order(of);
  const std::uint32_t n_rows = view.n_rows();
  sums_.clear();
  std::uint64_t sum = 0;
  std::uint32_t i = 0;
  for (; i + block_rows <= n_rows; i += block_rows) {
    sums_.push_back(sum);
    for (std::uint32_t j = 0; j < block_rows; ++j)
      sum += ones_[order[i + j] & ~OrderedView::cut_mark];
  }
  sums_.push_back(sum);
  if (i < n_rows) {
    for (; i < n_rows; ++i) sum += ones_[order[i] & ~OrderedView::cut_mark];
    sums_.push_back(sum);
  }
  for (int s = 0; s < 2; ++s) {
    Part& part = parts_[s];
    if (part.distinct == 0) continue;
    const unsigned shift = static_cast<unsigned>(2 * s) * counter_bits;
    struct Costs {
      std::int64_t leaf, low;
    };
    const auto costs = [&](std::int32_t c0, std::int32_t c1) {
      const std::int32_t n = c0 + c1;
      Costs out;
      out.leaf = rising_[n] - mixed_[0][c0] - mixed_[1][c1] + (n > 1 ? stop_lower_ : 0);
      out.low = out.leaf;
      if constexpr (!LeavesOnly)
        out.low =
            std::min(out.low, floor_[static_cast<std::size_t>(n)] + pure_[0][c0] + pure_[1][c1]);
      return out;
    };
    std::uint64_t before = sums_[0];
    Costs low = costs(0, 0);
    const OrderedColumns::Code* const codes =
        of_codes_ == nullptr ? nullptr : &block_codes_[column * n_blocks(n_rows)];
    // Of the blocks since the last that has rows of the part, and that one: the cuts behind its
    // last row are among them.
    OrderedColumns::Code since = OrderedView::no_code;
    for (std::size_t b = 0; b + 1 < sums_.size(); ++b) {
      const std::uint64_t after = sums_[b + 1];
      const OrderedColumns::Code here = codes == nullptr ? since : codes[b];
      const OrderedColumns::Code code = std::min(since, here);
      if (((before ^ after) >> shift & 0xffffffffu) == 0) {
        before = after;
        since = code;
        continue;
      }
      since = here;
      const auto c0 = static_cast<std::int32_t>((after >> shift) & counter_mask);
      const auto c1 = static_cast<std::int32_t>((after >> (shift + counter_bits)) & counter_mask);
      const Costs high = costs(part.classes[0] - c0, part.classes[1] - c1);
      const bool any = codes == nullptr || code != OrderedView::no_code;
      const std::int64_t test = any ? test_cost(code) : 0;
      if (any && (low.leaf + high.leaf + test < part.best.upper ||
                  (!LeavesOnly && low.low + high.low + test < part.best.lower)))
        scan_block<LeavesOnly>(part, column, side, s, static_cast<std::uint32_t>(b) * block_rows,
                               std::min(n_rows, static_cast<std::uint32_t>(b + 1) * block_rows),
                               before);
      low = costs(c0, c1);
      before = after;
    }
    std::uint32_t first = 0, last = n_rows - 1;
    while (side[order[first] & ~OrderedView::cut_mark] != s) ++first;
    while (side[order[last] & ~OrderedView::cut_mark] != s) --last;
    varying_[s] += data_.ordered().weight_between(
        of.column, view.rank(of, order[first] & ~OrderedView::cut_mark),
        view.rank(of, order[last] & ~OrderedView::cut_mark));
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
    evaluate<LeavesOnly, Grouped>(part, column + static_cast<std::uint32_t>(view.ordered().size()),
                                  0, 0, posterior_.test_costs()[of.column].units());
  }
}

template <bool LeavesOnly, bool Grouped>
bool PartScan::scan_all(std::span<const std::uint8_t> side, Watch& watch) {
  const auto work = 6 * static_cast<std::int64_t>(view_->n_rows());
  for (std::uint32_t c = 0; c < view_->ordered().size(); ++c) {
    watch.count(work);
    if (watch.poll(work)) return false;
    if (in_blocks_)
      scan_blocks<LeavesOnly>(c, side);
    else
      scan_ordered<LeavesOnly, Grouped>(c, side);
  }
  const auto little = static_cast<std::int64_t>(4 * view_->n_words() + 20 * mixed_.size() + 40);
  for (std::uint32_t c = 0; c < view_->binary().size(); ++c) {
    watch.count(little);
    if (watch.poll(little)) return false;
    scan_binary<LeavesOnly, Grouped>(c);
  }
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
    if (parts_[s].distinct > 0) finish(parts_[s], out[s]);
  }
  return true;
}

void PartScan::finish(Part& part, PartBounds& out) {
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
  for (int s = 0; s < 2; ++s) out.leaves[s] = Cost(best.leaves[s]);
  const auto n_ordered = static_cast<std::uint32_t>(view_->ordered().size());
  if (best.column >= n_ordered) {
    out.best = view_->binary()[best.column - n_ordered].column;
    return;
  }
  const OrderedView::Ordered& of = view_->ordered()[best.column];
  const std::uint32_t threshold =
      data_.ordered().heaviest(of.column, view_->rank(of, best.from), view_->rank(of, best.to));
  out.best =
      static_cast<std::uint32_t>(data_.n_columns()) + data_.ordered().first(of.column) + threshold;
}

std::size_t PartScan::bytes() const {
  std::size_t numbers = 0;
  for (const Part& part : parts_)
    numbers += part.classes.capacity() + part.rest.capacity() + part.low.capacity() +
               part.low_rest.capacity();
  return numbers * sizeof(std::int32_t) + mask_.capacity() * sizeof(Word) +
         block_codes_.capacity() * sizeof(OrderedColumns::Code) +
         (floor_.capacity() + ones_.capacity() + sums_.capacity()) * sizeof(std::int64_t) +
         (mixed_.capacity() + pure_.capacity()) * sizeof(mixed_[0]);
}

}  // namespace maptree
