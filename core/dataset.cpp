#include "dataset.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "transpose.hpp"

namespace maptree {

static_assert(std::endian::native == std::endian::little, "packed columns are read as words");

namespace {

constexpr std::size_t half_bits = 32;

std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

Word read_word(const PackedTable& table, std::size_t column, std::size_t w) {
  const std::size_t first = w * sizeof(Word);
  const std::size_t n = std::min(sizeof(Word), table.bytes_per_column - first);
  Word word = 0;
  std::memcpy(&word, table.columns + column * table.bytes_per_column + first, n);
  return word;
}

// The caller's rows that count, as bits; checks labels and weights on the way.
std::vector<Word> live_rows(const PackedTable& table, std::span<const std::int32_t> labels,
                            std::span<const std::int64_t> weights, int n_classes) {
  if (labels.size() != table.n_rows || (!weights.empty() && weights.size() != table.n_rows))
    throw std::invalid_argument("labels and weights must have one entry a row");
  std::vector<Word> live(words_for(table.n_rows), 0);
  std::int64_t total = 0;
  for (std::size_t r = 0; r < table.n_rows; ++r) {
    const std::int64_t weight = weights.empty() ? 1 : weights[r];
    if (labels[r] < 0 || labels[r] >= n_classes)
      throw std::invalid_argument("label of row " + std::to_string(r) + " is " +
                                  std::to_string(labels[r]) + ", outside 0 to " +
                                  std::to_string(n_classes - 1));
    if (weight < 0 || weight > max_total_weight || total + weight > max_total_weight)
      throw std::invalid_argument("row " + std::to_string(r) +
                                  ": weights must be >= 0 and sum to " +
                                  std::to_string(max_total_weight) + " at most");
    total += weight;
    if (weight > 0) live[r / word_bits] |= Word{1} << (r % word_bits);
  }
  if (total == 0) throw std::invalid_argument("no row has a positive weight");
  return live;
}

void require(std::size_t bytes, std::size_t memory_limit) {
  if (bytes <= memory_limit) return;
  throw std::length_error("memory_limit is too small for this table: to pack it takes " +
                          std::to_string(bytes) + " bytes, and " + std::to_string(memory_limit) +
                          " are left for that. Raise memory_limit, or pass fewer rows or columns.");
}

// Groups identical rows: group[r] numbers them in order of first appearance.
struct RowGroups {
  std::vector<std::uint32_t> group;
  std::vector<std::uint32_t> first;  // a row of each group
};

RowGroups group_rows(const std::vector<std::uint32_t>& raw, std::size_t halves,
                     const std::vector<std::uint32_t>& rows) {
  RowGroups out;
  out.group.resize(rows.size());
  const std::size_t capacity = std::bit_ceil(2 * rows.size() + 1);
  std::vector<std::uint32_t> table(capacity, UINT32_MAX);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t* row = &raw[rows[i] * halves];
    std::uint64_t hash = 0;
    for (std::size_t h = 0; h < halves; ++h) hash = mix(hash ^ (row[h] + 0x9e3779b97f4a7c15ULL));
    std::size_t at = hash & (capacity - 1);
    while (table[at] != UINT32_MAX &&
           !std::equal(row, row + halves, &raw[out.first[table[at]] * halves]))
      at = (at + 1) & (capacity - 1);
    if (table[at] == UINT32_MAX) {
      table[at] = static_cast<std::uint32_t>(out.first.size());
      out.first.push_back(rows[i]);
    }
    out.group[i] = table[at];
  }
  return out;
}

}  // namespace

Dataset::Dataset(const PackedTable& table, std::span<const std::int32_t> labels,
                 std::span<const std::int64_t> weights, int n_classes, Folding folding,
                 std::size_t memory_limit)
    : n_classes_(n_classes),
      n_rows_(table.n_rows),
      n_features_(table.n_columns),
      rows_folded_(folding.rows) {
  if (n_classes < 1) throw std::invalid_argument("n_classes must be at least 1");
  if (table.n_rows == 0) throw std::invalid_argument("the table has no rows");
  if (table.bytes_per_column * 8 < table.n_rows)
    throw std::invalid_argument("packed columns are shorter than the rows");

  const std::vector<Word> live = live_rows(table, labels, weights, n_classes);
  choose_columns(table, live, folding.columns);

  // By row, 32 rows and 32 columns at a time. At least one half word, so that row() is valid.
  halves_per_row_ = std::max<std::size_t>(1, (n_columns() + half_bits - 1) / half_bits);
  // Beside the rows themselves, a few numbers a row while they are grouped.
  const std::size_t grouping = table.n_rows * (24 + 4 * static_cast<std::size_t>(n_classes));
  require(table.n_rows * halves_per_row_ * sizeof(std::uint32_t) + grouping, memory_limit);
  std::vector<std::uint32_t> raw(table.n_rows * halves_per_row_, 0);
  std::uint32_t block[half_bits];
  for (std::size_t first = 0; first < table.n_rows; first += half_bits) {
    const std::size_t n = std::min(half_bits, table.n_rows - first);
    for (std::size_t h = 0; h * half_bits < n_columns(); ++h) {
      for (std::size_t b = 0; b < half_bits; ++b) {
        const std::size_t c = h * half_bits + b;
        block[b] = 0;
        if (c < n_columns())
          block[b] = static_cast<std::uint32_t>(read_word(table, original_[c], first / word_bits) >>
                                                (first % word_bits));
      }
      transpose_32x32(block);
      for (std::size_t r = 0; r < n; ++r) raw[(first + r) * halves_per_row_ + h] = block[r];
    }
  }
  place_rows(raw, labels, weights, folding.rows, memory_limit);
  fill_columns();
}

void Dataset::choose_columns(const PackedTable& table, const std::vector<Word>& live, bool fold) {
  // A column relative to its value in the first live row: equal for complements, 0 if constant.
  std::size_t w0 = 0;
  while (live[w0] == 0) ++w0;
  const int b0 = std::countr_zero(live[w0]);
  const auto flip = [&](std::size_t column) {
    return ((read_word(table, column, w0) >> b0) & 1) != 0 ? ~Word{0} : Word{0};
  };
  std::unordered_multimap<std::uint64_t, std::size_t> seen;  // hash to folded column
  for (std::size_t column = 0; column < table.n_columns; ++column) {
    const Word flip_column = flip(column);
    std::uint64_t hash = 0;
    Word any = 0;
    for (std::size_t w = 0; w < live.size(); ++w) {
      const Word word = (read_word(table, column, w) ^ flip_column) & live[w];
      hash = mix(hash ^ word) + w;
      any |= word;
    }
    if (any == 0) continue;
    if (fold) {
      const auto [first, last] = seen.equal_range(hash);
      const auto same = std::find_if(first, last, [&](const auto& entry) {
        const std::size_t other = original_[entry.second];
        const Word flip_other = flip(other);
        for (std::size_t w = 0; w < live.size(); ++w)
          if (((read_word(table, column, w) ^ flip_column ^ read_word(table, other, w) ^
                flip_other) &
               live[w]) != 0)
            return false;
        return true;
      });
      if (same != last) {
        ++multiplicity_[same->second];
        continue;
      }
      seen.emplace(hash, multiplicity_.size());
    }
    multiplicity_.push_back(1);
    original_.push_back(static_cast<std::uint32_t>(column));
  }
}

void Dataset::place_rows(const std::vector<std::uint32_t>& raw,
                         std::span<const std::int32_t> labels,
                         std::span<const std::int64_t> weights, bool fold,
                         std::size_t memory_limit) {
  const std::size_t k_count = static_cast<std::size_t>(n_classes_);
  std::vector<std::uint32_t> rows;  // the caller's live rows, repeated by weight when not folding
  for (std::uint32_t r = 0; r < labels.size(); ++r) {
    const std::int64_t weight = weights.empty() ? 1 : weights[r];
    total_weight_ += weight;
    rows.insert(rows.end(), fold ? (weight > 0 ? 1 : 0) : static_cast<std::size_t>(weight), r);
  }
  RowGroups groups;
  if (fold) {
    groups = group_rows(raw, halves_per_row_, rows);
  } else {
    groups.first = rows;
    groups.group.resize(rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) groups.group[i] = i;
  }
  n_distinct_rows_ = groups.first.size();

  std::vector<std::int32_t> counts(n_distinct_rows_ * k_count, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t weight = weights.empty() || !fold ? 1 : weights[rows[i]];
    counts[groups.group[i] * k_count + static_cast<std::size_t>(labels[rows[i]])] +=
        static_cast<std::int32_t>(weight);
  }

  // Patterns in an order that depends on the counts alone, not on the order of the rows.
  std::map<std::vector<std::int32_t>, std::vector<std::uint32_t>> patterns;
  for (std::uint32_t g = 0; g < n_distinct_rows_; ++g) {
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(g * k_count);
    patterns[std::vector<std::int32_t>(first, first + n_classes_)].push_back(g);
  }
  n_words_ = 0;
  for (const auto& [pattern, members] : patterns) {
    Segment segment;
    segment.first_word = n_words_;
    segment.n_words = words_for(members.size());
    segment.n_rows = members.size();
    segment.counts = pattern;
    int n_present = 0;
    for (int k = 0; k < n_classes_; ++k) {
      const std::int32_t c = pattern[static_cast<std::size_t>(k)];
      segment.weight += c;
      if (c > 0) ++n_present;
      if (c == 1) segment.unit_class = k;
    }
    segment.impure = n_present > 1;
    if (segment.weight != 1) segment.unit_class = -1;
    n_words_ += segment.n_words;
    segments_.push_back(std::move(segment));
  }

  const std::size_t slots = n_words_ * word_bits;
  require(raw.size() * sizeof(std::uint32_t) + counts.size() * sizeof(std::int32_t) +
              segments_.size() * (sizeof(Segment) + 4 * k_count) +
              slots * (halves_per_row_ * sizeof(std::uint32_t) + sizeof(RowKey)) +
              n_columns() * n_words_ * sizeof(Word),
          memory_limit);
  by_row_.assign(n_words_ * word_bits * halves_per_row_, 0);
  keys_.resize(n_words_ * word_bits);
  std::size_t s = 0;
  for (const auto& [pattern, members] : patterns) {
    const std::size_t first_slot = segments_[s++].first_word * word_bits;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const std::uint32_t* from = &raw[groups.first[members[m]] * halves_per_row_];
      std::copy(from, from + halves_per_row_, &by_row_[(first_slot + m) * halves_per_row_]);
    }
  }
  std::uint64_t state = 0x6d617074726565ULL;  // any fixed seed: keys must repeat, not surprise
  for (RowKey& key : keys_) {
    key.high = mix(state += 0x9e3779b97f4a7c15ULL);
    key.low = mix(state += 0x9e3779b97f4a7c15ULL);
  }
}

void Dataset::fill_columns() {
  by_column_.assign(n_columns() * n_words_, 0);
  std::uint32_t block[half_bits];
  for (std::size_t first = 0; first < n_words_ * word_bits; first += half_bits) {
    for (std::size_t h = 0; h * half_bits < n_columns(); ++h) {
      for (std::size_t r = 0; r < half_bits; ++r) block[r] = row(first + r)[h];
      transpose_32x32(block);
      for (std::size_t b = 0; b < half_bits && h * half_bits + b < n_columns(); ++b)
        by_column_[(h * half_bits + b) * n_words_ + first / word_bits] |=
            static_cast<Word>(block[b]) << (first % word_bits);
    }
  }
}

RowSet Dataset::all_rows() const {
  RowSet rows(n_words_);
  for (const Segment& segment : segments_)
    for (std::size_t m = 0; m < segment.n_rows; ++m)
      rows.insert(segment.first_word * word_bits + m);
  return rows;
}

RowKey Dataset::key(const RowSet& rows) const {
  RowKey key;
  for (std::size_t w = 0; w < rows.n_words(); ++w)
    for_each_slot(rows.word(w), w * word_bits, [&](std::size_t slot) { key ^= keys_[slot]; });
  return key;
}

std::int64_t Dataset::count(const RowSet& rows, std::span<std::int64_t> counts) const {
  std::fill(counts.begin(), counts.end(), 0);
  std::int64_t distinct = 0;
  for (const Segment& segment : segments_) {
    std::int64_t n = 0;
    for (std::size_t w = segment.first_word; w < segment.first_word + segment.n_words; ++w)
      n += popcount(rows.word(w));
    if (n == 0) continue;
    distinct += n;
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += n * segment.counts[k];
  }
  return distinct;
}

std::int64_t Dataset::varying_columns(const RowSet& rows) const {
  std::int64_t varying = 0;
  for (std::size_t c = 0; c < n_columns(); ++c) {
    const Word* words = column(c);
    Word ones = 0;
    Word zeros = 0;
    // Most columns vary within the first words: a look now and then is enough.
    constexpr std::size_t at_once = 32;
    for (std::size_t first = 0; first < n_words_ && (ones == 0 || zeros == 0); first += at_once) {
      for (std::size_t w = first; w < std::min(first + at_once, n_words_); ++w) {
        ones |= rows.word(w) & words[w];
        zeros |= rows.word(w) & ~words[w];
      }
    }
    if (ones != 0 && zeros != 0) varying += multiplicity_[c];
  }
  return varying;
}

std::size_t Dataset::bytes() const {
  const std::size_t patterns = segments_.size() * 4 * static_cast<std::size_t>(n_classes_);
  return patterns + by_column_.capacity() * sizeof(Word) +
         by_row_.capacity() * sizeof(std::uint32_t) + keys_.capacity() * sizeof(RowKey) +
         multiplicity_.capacity() * sizeof(int) + original_.capacity() * sizeof(std::uint32_t) +
         segments_.capacity() * sizeof(Segment);
}

}  // namespace maptree
