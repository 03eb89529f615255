#include "scan/node_view.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "data/transpose.hpp"

namespace maptree {

namespace {

constexpr std::size_t half_bits = 32;

// Up to this many classes all are counted at every node; beyond, those that its rows have.
constexpr int few_classes = 32;

// Whether rows of several classes are told apart from others (SetCounts::rest).
[[nodiscard]] bool has_groups(const Dataset& data, const Options& options) {
  return options.equivalent_rows_bound && data.rows_folded() &&
         std::any_of(data.segments().begin(), data.segments().end(),
                     [](const Segment& segment) { return segment.impure(); });
}

[[nodiscard]] std::size_t n_pattern_parts(const Dataset& data) {
  std::size_t n = 0;
  for (const Segment& segment : data.segments()) n += segment.pattern.size();
  return n;
}

// Of the root, which has the most.
[[nodiscard]] std::size_t half_words_of(const Dataset& data, bool compact) {
  std::size_t half_words = 0;
  for (const Segment& segment : data.segments())
    half_words += compact ? (segment.n_rows + half_bits - 1) / half_bits : 2 * segment.n_words;
  return half_words;
}

}  // namespace

void NodeView::Buffers::reserve(std::size_t n_classes, std::size_t stride, bool grouped) {
  classes.reserve(n_classes * stride);
  if (grouped) rest.reserve(n_classes * stride);
  distinct.reserve(stride);
  groups.reserve(stride);
}

bool NodeView::Buffers::reset(std::size_t n_classes, std::size_t stride, bool grouped,
                              Watch& watch) {
  constexpr std::size_t piece = 1 << 18;
  for (std::vector<std::int32_t>* counted : {&classes, &rest}) {
    counted->clear();
    if (counted == &rest && !grouped) continue;
    for (std::size_t left = n_classes * stride; left > 0;) {
      const std::size_t n = std::min(left, piece);
      if (watch.poll(static_cast<std::int64_t>(n / 4))) return false;
      counted->resize(counted->size() + n, 0);
      left -= n;
    }
  }
  distinct.assign(stride, 0);
  groups.assign(stride, 0);
  counts = {classes.data(), distinct.data(), grouped ? rest.data() : classes.data(), groups.data()};
  return true;
}

NodeView::NodeView(const Dataset& data, const Bounds& bounds, const Options& options)
    : data_(data),
      bounds_(bounds),
      kernel_(pair_kernel(options.kernel)),
      compact_(options.compact),
      fold_columns_(options.fold_columns),
      all_classes_(data.n_classes() <= few_classes),
      grouped_(has_groups(data, options)),
      weighted_(data.weighted()),
      n_at_once_(all_classes_ ? rows_at_once : 1),
      raw_stride_(data.halves_per_row() * half_bits) {
  static_assert(half_bits % lanes == 0);
  hash_.resize(raw_stride_);
  table_.resize(std::bit_ceil(2 * raw_stride_));
  ones_.reserve(raw_stride_);

  // The root needs the most; to hold it from the start keeps bytes() constant, and with it a limit.
  // It is not written, so that it takes no time.
  const std::size_t half_words = half_words_of(data, compact_);
  const auto n_classes = static_cast<std::size_t>(data.n_classes());
  slots_.reserve(half_words * half_bits);
  runs_.reserve(data.segments().size());
  raw_.reserve(half_words * raw_stride_);
  raw_one_.reserve(n_classes, raw_stride_, grouped_);
  columns_.reserve(data.n_columns());
  varying_on_.reserve(data.n_distinct_rows() + 1);
  if (weighted_) {
    heaviest_on_.reserve(data.n_distinct_rows() + 1);
    test_cost_on_.reserve(data.n_distinct_rows() + 1);
  }
  if (!all_classes_) {
    numbers_.reserve(n_classes);
    place_.resize(n_classes, -1);
    patterns_.reserve(n_pattern_parts(data));
  }
  const std::size_t places = data.has_amounts() ? half_words * half_bits : 0;
  for (int v = 0; v < 2 && places > 0; ++v) {
    amounts_.values[v].reserve(places);
    amounts_.listed[v].reserve(places);
    amounts_.raw[v].reserve(raw_stride_);
  }
  amounts_.places.reserve(places);
  if (!options.pair_expansion) return;
  part_floor_.reserve(data.n_distinct_rows() + 1);
  const std::size_t stride = stride_of(data.n_columns());
  words_.reserve(half_words * stride);
  multiplicity_.reserve(stride);
  one_.reserve(n_classes, stride, grouped_);
  both_.reserve(n_classes, n_at_once_ * stride, grouped_);
  for (int v = 0; v < 2 && places > 0; ++v) {
    amounts_.one[v].reserve(stride);
    amounts_.both[v].reserve(n_at_once_ * stride);
  }
  amounts_.rows.reserve(places * stride / 8);
  for (int side = 0; side < 2; ++side) {
    lower_[side].reserve(stride);
    upper_[side].reserve(stride);
    varying_of_[side].reserve(stride);
  }
}

bool NodeView::load(const RowSet& rows, Watch& watch) {
  if (!pack_rows(rows, watch) || !transpose_rows(watch)) return false;
  total_.clear(all_classes_ ? static_cast<std::size_t>(data_.n_classes()) : numbers_.size());
  total_.numbers = numbers_;
  for (const PairRun& run : runs_) {
    std::int32_t n = 0;
    for (std::size_t i = run.first * half_bits; i < run.last * half_bits; ++i)
      n += slots_[i] != no_slot ? 1 : 0;
    total_.add({run.pattern, run.n_classes}, n, run.group_floor);
  }
  return raw_one_.reset(total_.classes.size(), raw_stride_, grouped_, watch) &&
         count_columns(watch) && (!data_.has_amounts() || sum_columns(watch)) &&
         find_columns(watch) && find_varying_parts(watch);
}

bool NodeView::count_columns(Watch& watch) {
  const PairScan scan = describe(raw_, raw_stride_);
  return in_parts(raw_stride_, work_of_counts(), watch, [&](std::size_t first, std::size_t last) {
    kernel_.count_columns(scan, raw_one_.counts, first, last);
  });
}

bool NodeView::find_varying_parts(Watch& watch) {
  if (folded_) {
    ones_.assign(raw_one_.distinct.begin(), raw_one_.distinct.end());
  } else {
    ones_.assign(raw_stride_, 0);
    for (std::size_t k = 0; k < total_.classes.size(); ++k) {
      if (watch.poll(static_cast<std::int64_t>(raw_stride_ / 4))) return false;
      const std::int32_t* const of_class = &raw_one_.classes[k * raw_stride_];
      for (std::size_t c = 0; c < raw_stride_; ++c) ones_[c] += of_class[c];
    }
  }
  varying_on_.assign(static_cast<std::size_t>(total_.distinct) + 1, 0);
  for (const Column& column : columns_) {
    const std::int32_t one = ones_[column.dataset];
    // It varies on all parts that are larger than the rows of its commoner value.
    varying_on_[static_cast<std::size_t>(std::max(one, total_.distinct - one)) + 1] +=
        column.multiplicity;
  }
  std::partial_sum(varying_on_.begin(), varying_on_.end(), varying_on_.begin());
  return !weighted_ || find_test_costs(watch);
}

bool NodeView::find_test_costs(Watch& watch) {
  constexpr std::int64_t work = 60;  // four logarithms
  const std::size_t n = varying_on_.size();
  if (watch.poll(static_cast<std::int64_t>(4 * n + work * std::min(n, columns_.size()))))
    return false;
  heaviest_on_.assign(n, 0);
  std::int32_t heaviest = 0;
  for (const Column& column : columns_) {
    const std::int32_t one = ones_[column.dataset], weight = data_.test_weight(column.dataset);
    std::int32_t& at =
        heaviest_on_[static_cast<std::size_t>(std::max(one, total_.distinct - one)) + 1];
    at = std::max(at, weight);
    heaviest = std::max(heaviest, weight);
  }
  test_cost_on_.assign(n, Cost(0));
  for (std::size_t rows = 1; rows < n; ++rows) {
    heaviest_on_[rows] = std::max(heaviest_on_[rows], heaviest_on_[rows - 1]);
    test_cost_on_[rows] =
        varying_on_[rows] == varying_on_[rows - 1]
            ? test_cost_on_[rows - 1]
            : bounds_.least_test_cost(varying_on_[rows], heaviest_on_[rows], heaviest);
  }
  return true;
}

PairScan NodeView::describe(const std::vector<std::uint32_t>& words, std::size_t stride) const {
  PairScan scan;
  scan.words = words.data();
  scan.stride = stride;
  scan.runs = runs_.data();
  scan.n_runs = runs_.size();
  scan.n_classes = static_cast<int>(total_.classes.size());
  scan.folded = folded_;
  scan.grouped = total_.groups != 0;
  return scan;
}

// The classes of the run by their places among those that are here.
void NodeView::add_pattern(const Segment& segment, PairRun& run) {
  run.unit_class = segment.unit_class;
  run.pattern = segment.pattern.data();
  run.n_classes = segment.pattern.size();
  if (all_classes_) return;
  run.pattern = patterns_.data() + patterns_.size();  // which was reserved for all
  for (const ClassWeight& part : segment.pattern) {
    std::int32_t& place = place_[static_cast<std::size_t>(part.k)];
    if (place < 0) {
      place = static_cast<std::int32_t>(numbers_.size());
      numbers_.push_back(part.k);
    }
    patterns_.push_back({place, part.weight});
  }
  if (run.unit_class >= 0) run.unit_class = patterns_.back().k;
}

bool NodeView::pack_rows(const RowSet& rows, Watch& watch) {
  slots_.clear();
  runs_.clear();
  for (const std::int32_t k : numbers_) place_[static_cast<std::size_t>(k)] = -1;
  numbers_.clear();
  patterns_.clear();
  folded_ = false;
  std::size_t i = 0;
  for (std::size_t s = 0; s < data_.segments().size(); ++s) {
    const Segment& segment = data_.segments()[s];
    const std::size_t end = segment.first_word + segment.n_words;
    PairRun run;
    run.first = static_cast<std::uint32_t>(slots_.size() / half_bits);
    if (compact_) {
      for (; i < rows.n_stored() && rows.place(i) < end; ++i) {
        if (watch.poll(word_bits)) return false;
        for_each_slot(rows.stored(i), rows.place(i) * word_bits, [&](std::size_t slot) {
          slots_.push_back(static_cast<std::uint32_t>(slot));
        });
      }
    } else {
      for (std::size_t w = segment.first_word; w < end; ++w) {
        if (watch.poll(word_bits)) return false;
        for (std::size_t b = 0; b < word_bits; ++b)
          slots_.push_back(((rows.word(w) >> b) & 1) != 0
                               ? static_cast<std::uint32_t>(w * word_bits + b)
                               : no_slot);
      }
    }
    slots_.resize((slots_.size() + half_bits - 1) / half_bits * half_bits, no_slot);
    run.last = static_cast<std::uint32_t>(slots_.size() / half_bits);
    if (run.first == run.last) continue;
    add_pattern(segment, run);
    run.group_floor = bounds_.group_floor(s).units();
    folded_ = folded_ || run.unit_class < 0;
    runs_.push_back(run);
  }
  const auto first = std::find_if(slots_.begin(), slots_.end(),
                                  [](std::uint32_t slot) { return slot != no_slot; });
  assert(first != slots_.end());
  first_row_ = data_.row(*first);
  return true;
}

bool NodeView::transpose_rows(Watch& watch) {
  constexpr std::size_t blocks = 4;
  raw_.resize(n_half_words() * raw_stride_);
  const std::size_t halves = data_.halves_per_row();
  std::uint32_t tile[half_bits * blocks] = {};
  const std::uint8_t* from[half_bits];
  for (std::size_t w = 0; w < n_half_words(); ++w) {
    if (watch.poll(static_cast<std::int64_t>(raw_stride_ + half_bits))) return false;
    for (std::size_t r = 0; r < half_bits; ++r) {
      const std::uint32_t slot = slots_[w * half_bits + r];
      from[r] = slot == no_slot ? first_row_ : data_.row(slot);  // an absent row is all 0
    }
    for (std::size_t h = 0; h < halves; h += blocks) {
      const std::size_t n = std::min(blocks, halves - h);
      // Beyond the last column bits are as they come: nobody reads these columns.
      for (std::size_t r = 0; r < half_bits; ++r)
        for (std::size_t b = 0; b < n; ++b)
          tile[r * blocks + b] =
              Dataset::half_of(from[r], h + b) ^ Dataset::half_of(first_row_, h + b);
      transpose_blocks<blocks>(tile);
      const auto to = std::span(raw_).subspan(w * raw_stride_ + h * half_bits, n * half_bits);
      for (std::size_t b = 0; b < n; ++b)
        for (std::size_t c = 0; c < half_bits; ++c) to[b * half_bits + c] = tile[c * blocks + b];
    }
  }
  return true;
}

bool NodeView::same_words(std::size_t a, std::size_t b) const {
  for (std::size_t w = 0; w < n_half_words(); ++w)
    if (raw_[w * raw_stride_ + a] != raw_[w * raw_stride_ + b]) return false;
  return true;
}

bool NodeView::find_columns(Watch& watch) {
  columns_.clear();
  varying_ = 0;
  if (fold_columns_) {
    std::fill(hash_.begin(), hash_.end(), 0);
    // Shifts and sums only: they run on vectors of any processor. Equal hashes are compared.
    for (std::size_t w = 0; w < n_half_words(); ++w) {
      if (watch.poll(static_cast<std::int64_t>(raw_stride_))) return false;
      const std::uint32_t* words = &raw_[w * raw_stride_];
      for (std::size_t c = 0; c < raw_stride_; ++c) {
        std::uint32_t h = hash_[c] ^ words[c];
        h += h << 5;
        h ^= h >> 11;
        hash_[c] = h + (h << 15);
      }
    }
    std::fill(table_.begin(), table_.end(), no_slot);
  }
  const auto flipped = [this](std::uint32_t c) {
    return ((first_row_[c / 8] >> (c % 8)) & 1) != 0;
  };
  const std::size_t mask = table_.size() - 1;
  // To compare two columns may take a step a half word.
  const auto work =
      static_cast<std::int64_t>((fold_columns_ ? n_half_words() : 0) + total_.classes.size() + 10);
  for (std::uint32_t c = 0; c < data_.n_columns(); ++c) {
    if (watch.poll(work)) return false;
    bool constant = true;
    for (std::size_t k = 0; k < total_.classes.size() && constant; ++k)
      constant = raw_one_.classes[k * raw_stride_ + c] == 0;
    if (constant) continue;
    const std::int32_t copies = data_.multiplicity(c);
    varying_ += copies;
    if (fold_columns_) {
      std::size_t at = hash_[c] & mask;
      // Columns of another use are not tested in the same places.
      while (table_[at] != no_slot && (hash_[columns_[table_[at]].dataset] != hash_[c] ||
                                       data_.use(columns_[table_[at]].dataset) != data_.use(c) ||
                                       !same_words(columns_[table_[at]].dataset, c)))
        at = (at + 1) & mask;
      if (table_[at] != no_slot) {
        Column& same = columns_[table_[at]];
        same.multiplicity += copies;
        if (weighted_ && data_.test_weight(c) > data_.test_weight(same.dataset))
          same = {c, same.multiplicity, flipped(c)};
        continue;
      }
      table_[at] = static_cast<std::uint32_t>(columns_.size());
    }
    columns_.push_back({c, copies, flipped(c)});
  }
  return true;
}

void NodeView::count_side(std::size_t c, int side, SetCounts& out) const {
  const std::size_t at = columns_[c].dataset;
  const std::size_t n_classes = total_.classes.size();
  out.classes.resize(n_classes);
  out.rest.resize(n_classes);
  out.numbers = total_.numbers;
  out.weight = out.distinct = 0;
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::int32_t one = raw_one_.classes[k * raw_stride_ + at];
    const std::int32_t rest = total_.groups != 0 ? raw_one_.rest[k * raw_stride_ + at] : one;
    out.classes[k] = side == 1 ? one : total_.classes[k] - one;
    out.rest[k] = side == 1 ? rest : total_.rest[k] - rest;
    out.weight += out.classes[k];
  }
  out.groups = 0;
  out.distinct = out.weight;
  for (int v = 0; v < 2 && data_.has_amounts(); ++v)
    out.amounts[v] = side == 1 ? amounts_.raw[v][at] : total_.amounts[v] - amounts_.raw[v][at];
  if (!folded_) return;
  out.groups = side == 1 ? raw_one_.groups[at] : total_.groups - raw_one_.groups[at];
  out.distinct = side == 1 ? raw_one_.distinct[at] : total_.distinct - raw_one_.distinct[at];
}

PairScan* NodeView::arrange(std::span<const std::uint32_t> order, Watch& watch) {
  const std::size_t n_classes = total_.classes.size();
  const std::size_t stride = stride_of(order.size());
  if (!one_.reset(n_classes, stride, grouped_, watch) ||
      !both_.reset(n_classes, n_at_once_ * stride, grouped_, watch))
    return nullptr;
  words_.resize(n_half_words() * stride);
  for (std::size_t w = 0; w < n_half_words(); ++w) {
    if (watch.poll(static_cast<std::int64_t>(stride))) return nullptr;
    std::uint32_t* const to = &words_[w * stride];
    for (std::size_t p = 0; p < order.size(); ++p)
      to[p] = raw_[w * raw_stride_ + columns_[order[p]].dataset];
    std::fill(to + order.size(), to + stride, 0u);
  }

  multiplicity_.assign(stride, 0);
  const auto pick = [&](std::vector<std::int32_t>& to, const std::vector<std::int32_t>& from,
                        std::size_t k) {
    for (std::size_t p = 0; p < order.size(); ++p)
      to[k * stride + p] = from[k * raw_stride_ + columns_[order[p]].dataset];
  };
  for (std::size_t k = 0; k < n_classes; ++k) {
    if (watch.poll(static_cast<std::int64_t>(stride))) return nullptr;
    pick(one_.classes, raw_one_.classes, k);
  }
  for (std::size_t p = 0; p < order.size(); ++p) multiplicity_[p] = columns_[order[p]].multiplicity;
  if (folded_) {
    pick(one_.distinct, raw_one_.distinct, 0);
  }
  if (total_.groups != 0) {
    for (std::size_t k = 0; k < n_classes; ++k) {
      if (watch.poll(static_cast<std::int64_t>(stride))) return nullptr;
      pick(one_.rest, raw_one_.rest, k);
    }
    for (std::size_t p = 0; p < order.size(); ++p)
      one_.groups[p] = raw_one_.groups[columns_[order[p]].dataset];
  }
  scan_ = describe(words_, stride);
  if (data_.has_amounts()) {
    if (!arrange_amounts(order, watch)) return nullptr;
    scan_.amounts = &amounts_.scan;
  }
  for (int side = 0; side < 2; ++side) {
    lower_[side].assign(stride, Cost::infinity().units());
    upper_[side].assign(stride, Cost::infinity().units());
    varying_of_[side].assign(stride, 0);
    scan_.lower[side] = lower_[side].data();
    scan_.upper[side] = upper_[side].data();
    scan_.varying[side] = varying_of_[side].data();
  }
  scan_.one = one_.counts;
  scan_.both = both_.counts;
  scan_.total = {total_.classes.data(), &total_.distinct, total_.rest.data(), &total_.groups};
  scan_.multiplicity = multiplicity_.data();
  return &scan_;
}

std::size_t NodeView::bytes_for(const Dataset& data, const Options& options) {
  const std::size_t raw_stride = data.halves_per_row() * half_bits;
  const std::size_t stride = options.pair_expansion ? stride_of(data.n_columns()) : 0;
  const std::size_t half_words = half_words_of(data, options.compact);
  const bool few = data.n_classes() <= few_classes;
  const auto n_classes = static_cast<std::size_t>(data.n_classes());
  // Per column and class: classes, and perhaps rest; per column: distinct and groups.
  const std::size_t counted = (has_groups(data, options) ? 8 : 4) * n_classes + 12;
  const std::size_t counts = counted * (raw_stride + (1 + (few ? rows_at_once : 1)) * stride);
  const std::size_t patterns =
      data.segments().size() * sizeof(PairRun) +
      (few ? 0 : n_pattern_parts(data) * sizeof(ClassWeight) + 8 * n_classes);
  const std::size_t amounts =
      !data.has_amounts() ? 0
                          : half_words * half_bits * (4 * 8 + 4 + stride / 8) +
                                2 * 8 * (raw_stride + (1 + (few ? rows_at_once : 1)) * stride);
  return amounts + 4 * half_words * (half_bits + raw_stride + stride) + counts + patterns +
         4 * (2 * raw_stride + std::bit_ceil(2 * raw_stride)) + sizeof(Column) * data.n_columns() +
         (2 * (8 + 8 + 4) + 4) * stride +
         ((options.pair_expansion ? 12 : 4) + (data.weighted() ? 12 : 0)) *
             (data.n_distinct_rows() + 1);
}

std::size_t NodeView::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  std::size_t total = of(slots_) + of(raw_) + of(words_) + of(hash_) + of(table_) + of(columns_) +
                      of(varying_on_) + of(heaviest_on_) + of(test_cost_on_) + of(part_floor_) +
                      of(ones_) + of(runs_) + of(numbers_) + of(place_) + of(patterns_);
  for (int v = 0; v < 2; ++v)
    total += of(amounts_.values[v]) + of(amounts_.listed[v]) + of(amounts_.raw[v]) +
             of(amounts_.one[v]) + of(amounts_.both[v]);
  total += of(amounts_.places) + of(amounts_.rows);
  for (const Buffers* b : {&raw_one_, &one_, &both_})
    total += of(b->classes) + of(b->distinct) + of(b->rest) + of(b->groups);
  return total + 2 * (of(lower_[0]) + of(upper_[0]) + of(varying_of_[0])) + of(multiplicity_);
}

}  // namespace maptree
