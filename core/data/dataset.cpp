#include "data/dataset.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "data/transpose.hpp"

namespace maptree {

namespace {

constexpr std::size_t half_bits = 32;
constexpr std::size_t blocks = 4;  // transposed together
constexpr std::size_t slack = Rows::slack;

// Of the table that finds equal columns.
[[nodiscard]] std::size_t n_buckets(std::size_t n_columns) {
  return std::bit_ceil(2 * n_columns + 1);
}

template <class Vector>
void give_back(Vector& memory) {
  Vector().swap(memory);
}

// Weights of tests without a common divisor; none where all are 1.
[[nodiscard]] std::vector<std::int32_t> reduced(std::span<const std::uint32_t> weights,
                                                std::size_t n_columns) {
  if (weights.empty()) return {};
  if (weights.size() != n_columns)
    throw std::invalid_argument("test_weights must have one entry a test: there are " +
                                std::to_string(weights.size()) + " for " +
                                std::to_string(n_columns) + " tests");
  std::uint32_t divisor = 0;
  for (std::size_t c = 0; c < n_columns; ++c) {
    if (weights[c] == 0)
      throw std::invalid_argument("the weight of test " + std::to_string(c) +
                                  " is 0: weights are 1 or more; leave the test out");
    if (divisor != 1) divisor = std::gcd(divisor, weights[c]);
  }
  std::vector<std::int32_t> out(n_columns);
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < n_columns; ++c) {
    sum += weights[c] / divisor;
    if (sum > max_test_weight)
      throw std::invalid_argument("the weights up to test " + std::to_string(c) +
                                  " are too large: without their common divisor they may sum to " +
                                  std::to_string(max_test_weight) + " at most");
    out[c] = static_cast<std::int32_t>(weights[c] / divisor);
  }
  if (sum == static_cast<std::int64_t>(n_columns)) out.clear();
  return out;
}

// Of all that the caller handed over. When stopped it is of no use.
[[nodiscard]] Digest digest_of(const PackedTable& table, std::span<const OrderedColumn> ordered,
                               const RowClasses& classes, std::span<const std::int32_t> tests,
                               Watch& watch) {
  Blake2b hash;
  for (const std::size_t number :
       {table.n_rows, table.n_columns, static_cast<std::size_t>(classes.n_classes),
        classes.weights.size()})
    hash.add(number);
  const auto add = [&](std::span<const std::byte> bytes) {
    constexpr std::size_t piece = 1 << 16;
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece, bytes.size()))) {
      const auto some = bytes.first(std::min(piece, bytes.size()));
      if (watch.poll(static_cast<std::int64_t>(some.size()))) return;
      hash.add(some.data(), some.size());
    }
  };
  add(std::as_bytes(std::span(table.words)));
  for (const OrderedColumn& column : ordered) {
    hash.add(column.n_ranks);
    add(std::as_bytes(column.ranks));
  }
  add(classes.labels.bytes());
  add(std::as_bytes(classes.weights));
  add(std::as_bytes(classes.amounts));
  add(std::as_bytes(tests));
  return hash.finish();
}

}  // namespace

Dataset::Dataset(PackedTable table, const Labels& labels, std::span<const std::int64_t> weights,
                 int n_classes, Folding folding, std::size_t memory_limit, Watch& watch,
                 std::span<const std::uint32_t> test_weights, std::span<const Use> uses)
    : Dataset(std::move(table), {}, labels, weights, n_classes, folding, memory_limit, watch,
              test_weights, uses) {}

Dataset::Dataset(PackedTable table, std::span<const OrderedColumn> ordered, const Labels& labels,
                 std::span<const std::int64_t> weights, int n_classes, Folding folding,
                 std::size_t memory_limit, Watch& watch,
                 std::span<const std::uint32_t> test_weights, std::span<const Use> uses,
                 std::span<const Amounts> amounts)
    : n_classes_(n_classes),
      n_rows_(table.n_rows),
      n_binary_(table.n_columns),
      rows_folded_(folding.rows),
      has_amounts_(!amounts.empty()),
      ordered_(ordered, table.n_rows) {
  n_features_ = n_binary_ + ordered_.n_thresholds();
  if (n_classes < 1) throw std::invalid_argument("n_classes must be at least 1");
  if (table.n_rows == 0) throw std::invalid_argument("the table has no rows");
  if (table.words.size() != table.n_columns * table.words_per_column())
    throw std::invalid_argument("the packed table is not of the size that it says");
  if (!uses.empty() && uses.size() != n_binary_ + ordered.size())
    throw std::invalid_argument("uses must have one entry a column: there are " +
                                std::to_string(uses.size()) + " for " +
                                std::to_string(n_binary_ + ordered.size()) + " columns");
  if (has_amounts_ && (amounts.size() != table.n_rows || n_classes != 1 || !ordered.empty()))
    throw std::invalid_argument("amounts are one a row, of one class, without ordered columns");
  restricted_ = std::ranges::any_of(uses, [](Use use) { return use != Use::anywhere; });
  if (!restricted_) uses = {};
  complete_ = build(table, ordered, {labels, weights, n_classes, folding.rows, amounts},
                    test_weights, uses, folding, memory_limit, watch);
  if (complete_) return;
  give_back(by_row_);
  give_back(by_column_);
  give_back(segments_);
  give_back(row_of_);
  give_back(amounts_);
  pattern_bytes_ = 0;
  n_words_ = n_distinct_rows_ = 0;
}

void Dataset::require(std::size_t bytes, std::size_t memory_limit) {
  peak_bytes_ = std::max(peak_bytes_, bytes);
  if (bytes <= memory_limit) return;
  throw std::length_error("memory_limit is too small for this table: to pack it takes " +
                          std::to_string(bytes) + " bytes, and " + std::to_string(memory_limit) +
                          " are left for that. Raise memory_limit, or pass fewer rows or columns.");
}

bool Dataset::build(PackedTable& table, std::span<const OrderedColumn> ordered,
                    const RowClasses& classes, std::span<const std::uint32_t> test_weights,
                    std::span<const Use> uses, Folding folding, std::size_t memory_limit,
                    Watch& watch) {
  // Twice the weights: as they are given, and of the tests that are kept.
  std::vector<std::int32_t> tests = reduced(test_weights, n_features_);
  std::size_t columns_bytes =
      table.n_columns * (sizeof(int) + sizeof(std::uint32_t)) +
      2 * tests.size() * sizeof(tests[0]) + (tests.empty() ? 0 : ordered_.bytes_of_weights()) +
      uses.size() * sizeof(Use) + static_cast<std::size_t>(n_classes_) * sizeof(std::int64_t);
  require(table.bytes() + columns_bytes + words_for(table.n_rows) * sizeof(Word) +
              (folding.columns ? n_buckets(table.n_columns) * sizeof(std::uint32_t) : 0),
          memory_limit);
  std::vector<Word> live = read_classes(classes, table.n_rows);
  if (has_amounts_) read_amounts(classes);
  const Digest digest = digest_of(table, ordered, classes, tests, watch);
  const KeyedHash hash(digest);
  if (!choose_columns(table, live, tests, uses, folding.columns, hash, watch)) return false;
  if (!uses.empty())
    ordered_uses_.assign(uses.begin() + static_cast<std::ptrdiff_t>(n_binary_), uses.end());
  for (std::size_t c = 0; c < ordered.size() && !any_threshold_; ++c) {
    std::uint32_t least = UINT32_MAX, most = 0;
    for (std::size_t w = 0; w < live.size(); ++w)
      for_each_slot(live[w], w * word_bits, [&](std::size_t r) {
        least = std::min(least, ordered[c].ranks[r]);
        most = std::max(most, ordered[c].ranks[r]);
      });
    any_threshold_ = least < most;
  }
  if (watch.stopped()) return false;
  if (!tests.empty()) ordered_.weigh(std::span(tests).subspan(n_binary_));
  give_back(live);
  give_back(tests);
  if (has_amounts_) {
    require(table.bytes() + columns_bytes + 3 * n_rows_ * sizeof(Value), memory_limit);
    if (!sort_values(classes, watch)) return false;
    columns_bytes += values_.capacity() * sizeof(Value);
  }

  row_bytes_ = std::max<std::size_t>(1, (n_columns() + 7) / 8);
  const auto n_rows = static_cast<std::size_t>(
      classes.weights.empty()
          ? static_cast<std::int64_t>(table.n_rows)
          : (folding.rows ? std::count_if(classes.weights.begin(), classes.weights.end(),
                                          [](std::int64_t w) { return w > 0; })
                          : total_weight_));
  const std::size_t rows_bytes = n_rows * row_bytes_;
  const std::size_t placement = placement_bytes(n_rows, table.n_rows, n_classes_, folding.rows) +
                                (has_amounts_ ? n_rows * sizeof(std::uint32_t) : 0);
  require(columns_bytes + rows_bytes + std::max(table.bytes(), placement), memory_limit);
  // Room for a segment a class, so that the rows can be moved to their slots where they are.
  const std::size_t room =
      std::min(word_bits * static_cast<std::size_t>(n_classes_), n_rows / 16 + 2 * word_bits);
  by_row_.reserve(rows_bytes + room * row_bytes_ + slack);
  by_row_.resize(rows_bytes + slack);
  if (!fill_rows(table, classes, watch)) return false;
  give_back(table.words);

  // With the ranks beside them, for as long as equal rows are sought.
  PageVector<std::uint8_t> wide;
  const std::size_t wide_bytes = row_bytes_ + ordered.size() * sizeof(std::uint32_t);
  const std::size_t ranks_bytes = ordered.empty() ? 0 : n_rows * wide_bytes + slack;
  if (!ordered.empty()) {
    require(columns_bytes + rows_bytes + ranks_bytes + placement, memory_limit);
    wide.resize(ranks_bytes);
    std::size_t i = 0;
    for (std::size_t r = 0; r < n_rows_; ++r) {
      if (watch.poll(static_cast<std::int64_t>(4 * ordered.size() + 8))) return false;
      for (std::size_t copy = classes.copies(r); copy > 0; --copy, ++i) {
        std::uint8_t* const to = &wide[i * wide_bytes];
        std::memcpy(to, row(i), row_bytes_);
        for (std::size_t c = 0; c < ordered.size(); ++c)
          std::memcpy(to + row_bytes_ + c * sizeof(std::uint32_t), &ordered[c].ranks[r],
                      sizeof(std::uint32_t));
      }
    }
  }
  const Rows rows = ordered.empty() ? Rows{by_row_.data(), n_rows, row_bytes_}
                                    : Rows{wide.data(), n_rows, wide_bytes};
  Placement placed = place_rows(rows, classes, hash, watch, [&](std::size_t bytes) {
    require(columns_bytes + rows_bytes + ranks_bytes + placement + bytes, memory_limit);
  });
  give_back(wide);
  n_probes_ += placed.n_probes;
  if (!placed.complete) return false;
  segments_ = std::move(placed.segments);
  n_words_ = placed.n_words;
  n_distinct_rows_ = placed.n_distinct_rows;
  const std::size_t slots = n_words_ * word_bits;
  for (const Segment& segment : segments_) pattern_bytes_ += segment.bytes();
  const std::size_t keys = RowKeys::bytes_for(n_words_);
  // To move them takes the rows twice only where there is no room to move them where they are.
  const bool in_place = slots * row_bytes_ + slack <= by_row_.capacity();
  require(columns_bytes + pattern_bytes_ + slots * row_bytes_ +
              std::max((in_place ? 0 : rows_bytes) + 4 * std::max(n_rows, slots),
                       n_columns() * n_words_ * sizeof(Word) + keys) +
              (ordered.empty() ? 0 : ordered.size() + 1) * slots * sizeof(std::uint32_t) +
              (has_amounts_ ? slots * sizeof(Amounts) + n_rows * sizeof(std::uint32_t) : 0),
          memory_limit);
  if (!place_ranks(ordered, classes, placed.slot, watch)) return false;
  if (has_amounts_ && !place_amounts(classes, placed, watch)) return false;
  if (!move_rows(placed.slot, watch)) return false;
  give_back(placed.slot);
  if (!ordered.empty() && !ordered_.least_varying(all_rows(), least_varying_, watch)) return false;
  return fill_columns(watch) && keys_.draw(digest, n_words_, watch);
}

bool Dataset::place_ranks(std::span<const OrderedColumn> ordered, const RowClasses& classes,
                          std::span<const std::uint32_t> slot, Watch& watch) {
  if (ordered.empty()) return true;
  ordered_.place(n_words_ * word_bits);
  row_of_.resize(n_words_ * word_bits);
  for (std::size_t c = 0; c < ordered.size(); ++c) {
    std::size_t i = 0;
    for (std::size_t r = 0; r < n_rows_; ++r) {
      if (watch.poll(4)) return false;
      for (std::size_t copy = classes.copies(r); copy > 0; --copy, ++i)
        if (slot[i] != no_slot) {
          ordered_.set(c, slot[i], ordered[c].ranks[r]);
          row_of_[slot[i]] = static_cast<std::uint32_t>(r);
        }
    }
  }
  return true;
}

std::vector<Word> Dataset::read_classes(const RowClasses& classes, std::size_t n_rows) {
  const Labels& labels = classes.labels;
  const std::span<const std::int64_t> weights = classes.weights;
  if (labels.size() != n_rows || (!weights.empty() && weights.size() != n_rows))
    throw std::invalid_argument("labels and weights must have one entry a row");
  class_totals_.assign(static_cast<std::size_t>(n_classes_), 0);
  std::vector<Word> live(words_for(n_rows), 0);
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::int64_t weight = weights.empty() ? 1 : weights[r];
    const std::int32_t label = labels[r];
    if (label < 0 || label >= n_classes_)
      throw std::invalid_argument("label of row " + std::to_string(r) + " is " +
                                  std::to_string(label) + ", outside 0 to " +
                                  std::to_string(n_classes_ - 1));
    if (weight < 0 || weight > max_total_weight || total_weight_ + weight > max_total_weight)
      throw std::invalid_argument("row " + std::to_string(r) +
                                  ": weights must be >= 0 and sum to " +
                                  std::to_string(max_total_weight) + " at most");
    total_weight_ += weight;
    class_totals_[static_cast<std::size_t>(label)] += weight;
    if (weight > 0) live[r / word_bits] |= Word{1} << (r % word_bits);
  }
  if (total_weight_ == 0) throw std::invalid_argument("no row has a positive weight");
  return live;
}

bool Dataset::choose_columns(const PackedTable& table, const std::vector<Word>& live,
                             std::span<const std::int32_t> tests, std::span<const Use> uses,
                             bool fold, const KeyedHash& hash, Watch& watch) {
  // A column relative to its value in the first live row: equal for complements, 0 if constant.
  std::size_t w0 = 0;
  while (live[w0] == 0) ++w0;
  const int b0 = std::countr_zero(live[w0]);
  const auto flip = [&](const Word* words) {
    return ((words[w0] >> b0) & 1) != 0 ? ~Word{0} : Word{0};
  };
  // Columns by hash, which finds candidates only: a comparison of all words decides.
  std::vector<std::uint32_t> seen(fold ? n_buckets(table.n_columns) : 0, no_slot);
  multiplicity_.reserve(table.n_columns);
  original_.reserve(table.n_columns);
  if (!tests.empty()) test_weights_.reserve(table.n_columns);
  if (!uses.empty()) uses_.reserve(table.n_columns);
  for (std::size_t column = 0; column < table.n_columns; ++column) {
    // Whether any column varies is asked for in any case.
    if (watch.poll(static_cast<std::int64_t>(4 * live.size() + 10)) && n_columns() > 0)
      return false;
    const Word* const words = table.column(column);
    const Word flip_column = flip(words);
    Word any = 0;
    const std::uint64_t hashed = hash(live.size(), [&](std::size_t w) {
      const Word word = (words[w] ^ flip_column) & live[w];
      any |= word;
      return word;
    });
    if (any == 0) continue;
    const std::int32_t weight = tests.empty() ? 1 : tests[column];
    if (fold) {
      const auto same = [&](std::size_t c) {
        if (!uses.empty() && uses[column] != uses_[c]) return false;
        const Word* const other = table.column(original_[c]);
        const Word flip_both = flip_column ^ flip(other);
        for (std::size_t w = 0; w < live.size(); ++w)
          if (((words[w] ^ other[w] ^ flip_both) & live[w]) != 0) return false;
        return true;
      };
      std::size_t at = hashed & (seen.size() - 1);
      for (; seen[at] != no_slot && !same(seen[at]); ++n_probes_) {
        if (watch.poll(static_cast<std::int64_t>(live.size()))) return false;
        at = (at + 1) & (seen.size() - 1);
      }
      if (seen[at] != no_slot) {
        const std::uint32_t c = seen[at];
        multiplicity_[c] += weight;
        if (!tests.empty() && weight > test_weights_[c]) {
          test_weights_[c] = weight;
          original_[c] = static_cast<std::uint32_t>(column);
        }
        continue;
      }
      seen[at] = static_cast<std::uint32_t>(n_columns());
    }
    multiplicity_.push_back(weight);
    original_.push_back(static_cast<std::uint32_t>(column));
    if (!tests.empty()) test_weights_.push_back(weight);
    if (!uses.empty()) uses_.push_back(uses[column]);
  }
  if (!tests.empty() && fold) sort_columns();
  return true;
}

// As the caller numbers those that are kept: ties between splits go to the first.
void Dataset::sort_columns() {
  struct Kept {
    std::uint32_t original;
    std::int32_t weight, multiplicity;
    Use use;
  };
  std::vector<Kept> kept(n_columns());
  for (std::size_t c = 0; c < kept.size(); ++c)
    kept[c] = {original_[c], test_weights_[c], multiplicity_[c], use(c)};
  std::ranges::sort(kept, {}, &Kept::original);
  for (std::size_t c = 0; c < kept.size(); ++c) {
    original_[c] = kept[c].original;
    test_weights_[c] = kept[c].weight;
    multiplicity_[c] = kept[c].multiplicity;
    if (!uses_.empty()) uses_[c] = kept[c].use;
  }
}

bool Dataset::fill_rows(const PackedTable& table, const RowClasses& classes, Watch& watch) {
  std::uint32_t tile[half_bits * blocks];
  std::vector<std::uint8_t> band(half_bits * row_bytes_ + slack);  // of the caller's rows
  std::uint8_t* to = by_row_.data();
  const auto work = static_cast<std::int64_t>(4 * n_columns() + 32);
  for (std::size_t first = 0; first < table.n_rows; first += half_bits) {
    if (watch.poll(work)) return false;
    for (std::size_t h = 0; h * half_bits < n_columns(); h += blocks) {
      for (std::size_t b = 0; b < half_bits; ++b) {
        for (std::size_t k = 0; k < blocks; ++k) {
          const std::size_t c = (h + k) * half_bits + b;
          tile[b * blocks + k] =
              c >= n_columns()
                  ? 0
                  : static_cast<std::uint32_t>(table.column(original_[c])[first / word_bits] >>
                                               (first % word_bits));
        }
      }
      transpose_blocks<blocks>(tile);
      const std::size_t n = std::min(blocks * sizeof(std::uint32_t), row_bytes_ - 4 * h);
      for (std::size_t r = 0; r < half_bits; ++r)
        std::memcpy(&band[r * row_bytes_ + 4 * h], &tile[r * blocks], n);
    }
    const std::size_t n = std::min(half_bits, table.n_rows - first);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t copy = classes.copies(first + r); copy > 0; --copy, to += row_bytes_)
        std::memcpy(to, &band[r * row_bytes_], row_bytes_);
  }
  return true;
}

// To their slots, by following cycles: a second array would be as large as the packed table.
bool Dataset::move_rows(PageVector<std::uint32_t>& slot, Watch& watch) {
  const std::size_t slots = n_words_ * word_bits;
  const std::size_t n_rows = std::max(slots, slot.size());
  by_row_.resize(n_rows * row_bytes_ + slack);  // zeros, which are made when they are written
  slot.resize(n_rows, no_slot);
  std::vector<std::uint8_t> carried(row_bytes_), next(row_bytes_);
  for (std::size_t i = 0; i < n_rows; ++i) {
    if (watch.poll(static_cast<std::int64_t>(row_bytes_ / 4 + 4))) return false;
    if (slot[i] == no_slot || slot[i] == i) continue;
    // Carries the row of i to its slot, the row that was there to its own, and so on, until
    // nothing was there that is needed; at the latest in the place of i.
    std::memcpy(carried.data(), row(i), row_bytes_);
    std::uint32_t to = slot[i];
    slot[i] = no_slot;
    while (to != no_slot) {
      std::uint8_t* const there = &by_row_[to * row_bytes_];
      const std::uint32_t onwards = slot[to];
      std::memcpy(next.data(), there, row_bytes_);
      std::memcpy(there, carried.data(), row_bytes_);
      slot[to] = to;
      carried.swap(next);
      to = onwards;
    }
  }
  for (std::size_t i = 0; i < slots; ++i) {
    if (slot[i] == i) continue;
    if (watch.poll(static_cast<std::int64_t>(row_bytes_ / 8 + 4))) return false;
    std::memset(&by_row_[i * row_bytes_], 0, row_bytes_);
  }
  by_row_.resize(slots * row_bytes_ + slack);
  if (by_row_.capacity() / 8 * 7 > by_row_.size()) by_row_.shrink_to_fit();
  return true;
}

bool Dataset::fill_columns(Watch& watch) {
  by_column_.resize(n_columns() * n_words_);  // zeros
  const auto work = static_cast<std::int64_t>(8 * n_columns() + 32);
  std::uint32_t tile[half_bits * blocks];
  const std::size_t halves = halves_per_row();
  for (std::size_t first = 0; first < n_words_ * word_bits; first += half_bits) {
    if (watch.poll(work)) return false;
    for (std::size_t h = 0; h < halves; h += blocks) {
      const std::size_t n = std::min(blocks, halves - h);
      for (std::size_t r = 0; r < half_bits; ++r)
        for (std::size_t b = 0; b < n; ++b) tile[r * blocks + b] = half_of(row(first + r), h + b);
      transpose_blocks<blocks>(tile);
      for (std::size_t b = 0; b < n; ++b) {
        const std::size_t first_column = (h + b) * half_bits;
        for (std::size_t c = 0; c < half_bits && first_column + c < n_columns(); ++c)
          by_column_[(first_column + c) * n_words_ + first / word_bits] |=
              static_cast<Word>(tile[c * blocks + b]) << (first % word_bits);
      }
    }
  }
  return true;
}

std::size_t Dataset::test_of(std::uint32_t caller) const {
  if (caller >= n_binary_) return n_columns() + (caller - n_binary_);
  const auto at = std::ranges::find(original_, caller);
  return at == original_.end() ? n_tests() : static_cast<std::size_t>(at - original_.begin());
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Dataset::rows_beside(
    std::span<const std::uint32_t> callers) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  std::vector<std::uint8_t> wanted;                 // by rank
  std::map<std::uint32_t, std::uint32_t> row_with;  // by rank that is wanted
  for (std::size_t i = 0; i < callers.size();) {
    if (callers[i] < n_binary_ || callers[i] >= n_features_)
      throw std::invalid_argument("test " + std::to_string(callers[i]) + " is not a threshold");
    const std::size_t column =
        ordered_.column_of(static_cast<std::uint32_t>(callers[i] - n_binary_));
    const std::size_t first = n_binary_ + ordered_.first(column);
    const std::size_t end = first + ordered_.n_ranks(column) - 1;
    const std::size_t begin = i;
    wanted.assign(ordered_.n_ranks(column), 0);
    for (; i < callers.size() && callers[i] >= first && callers[i] < end; ++i)
      wanted[callers[i] - first] = wanted[callers[i] - first + 1] = 1;
    row_with.clear();
    const std::uint32_t* const ranks = ordered_.ranks(column);
    for (const Segment& segment : segments_) {
      const std::size_t slot = segment.first_word * word_bits;
      for (std::size_t m = slot; m < slot + segment.n_rows; ++m)
        if (std::exchange(wanted[ranks[m]], 0) != 0) row_with[ranks[m]] = row_of_[m];
    }
    for (std::size_t t = begin; t < i; ++t) {
      const auto low = row_with.find(static_cast<std::uint32_t>(callers[t] - first));
      const auto high = row_with.find(static_cast<std::uint32_t>(callers[t] - first + 1));
      if (low == row_with.end() || high == row_with.end())
        throw std::invalid_argument("no rows are beside test " + std::to_string(callers[t]));
      out.emplace_back(low->second, high->second);
    }
  }
  return out;
}

RowSet Dataset::all_rows() const {
  RowSet rows(n_words_);
  for (const Segment& segment : segments_)
    for (std::size_t m = 0; m < segment.n_rows; ++m)
      rows.insert(segment.first_word * word_bits + m);
  return rows;
}

std::int64_t Dataset::count(const RowSet& rows, std::span<std::int64_t> counts) const {
  std::fill(counts.begin(), counts.end(), 0);
  std::int64_t distinct = 0;
  std::size_t i = 0;
  for (const Segment& segment : segments_) {
    std::int64_t n = 0;
    if (rows.sparse()) {
      const std::size_t end = segment.first_word + segment.n_words;
      for (; i < rows.n_stored() && rows.place(i) < end; ++i) n += popcount(rows.stored(i));
    } else {
      const Word* const words = rows.words().data() + segment.first_word;
      n = count_both(words, words, segment.n_words);
    }
    if (n == 0) continue;
    distinct += n;
    if (segment.unit_class >= 0) {
      counts[static_cast<std::size_t>(segment.unit_class)] += n;
      continue;
    }
    for (const ClassWeight& part : segment.pattern)
      counts[static_cast<std::size_t>(part.k)] += n * part.weight;
  }
  if (!has_amounts_) return distinct;
  std::int64_t sums[2] = {0, 0};
  for (std::size_t w = 0; w < rows.n_stored(); ++w)
    for_each_slot(rows.stored(w), rows.place(w) * word_bits, [&](std::size_t slot) {
      for (std::size_t s = 0; s < 2; ++s) sums[s] += amounts_[slot].of[s];
    });
  std::copy_n(sums, 2, counts.begin() + n_classes_);
  return distinct;
}

std::int64_t Dataset::varying_weight(const RowSet& rows) const {
  std::vector<std::uint32_t> columns = all_columns();
  return varying_weight(rows, columns);
}

std::int64_t Dataset::varying_weight(const RowSet& rows,
                                     std::vector<std::uint32_t>& columns) const {
  std::erase_if(columns, [&](std::uint32_t c) {
    const Word* words = column(c);
    Word ones = 0;
    Word zeros = 0;
    for (std::size_t i = 0; i < rows.n_stored() && (ones == 0 || zeros == 0); ++i) {
      ones |= rows.stored(i) & words[rows.place(i)];
      zeros |= rows.stored(i) & ~words[rows.place(i)];
    }
    return ones == 0 || zeros == 0;
  });
  std::int64_t varying = 0;
  for (const std::uint32_t c : columns) varying += multiplicity_[c];
  return varying + ordered_.varying(rows);
}

std::vector<std::uint32_t> Dataset::all_columns() const {
  std::vector<std::uint32_t> columns(n_columns());
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

std::size_t Dataset::bytes() const {
  return pattern_bytes_ + keys_.bytes() + ordered_.bytes() + amounts_.capacity() * sizeof(Amounts) +
         values_.capacity() * sizeof(Value) + class_totals_.capacity() * sizeof(std::int64_t) +
         by_column_.capacity() * sizeof(Word) + by_row_.capacity() +
         row_of_.capacity() * sizeof(std::uint32_t) +
         least_varying_.capacity() * sizeof(std::int64_t) + multiplicity_.capacity() * sizeof(int) +
         original_.capacity() * sizeof(std::uint32_t) +
         test_weights_.capacity() * sizeof(test_weights_[0]) +
         (uses_.capacity() + ordered_uses_.capacity()) * sizeof(Use);
}

}  // namespace maptree
