#include "sample/split_gains.hpp"

#include <algorithm>

#include "data/transpose.hpp"

namespace maptree {

namespace {

constexpr std::size_t half_bits = 32;
constexpr std::size_t blocks = 4;         // transposed together
constexpr std::size_t worth_packing = 4;  // times fewer words, at least

}  // namespace

void SplitGains::find_classes(std::span<const std::int64_t> counts) {
  classes_.clear();
  place_of_class_.resize(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    place_of_class_[k] = classes_.size();
    classes_.push_back({counts[k], posterior_.mixed_table(static_cast<int>(k))});
  }
  ones_.resize(classes_.size());
}

void SplitGains::add_run(const Segment& segment, std::size_t first_word, std::size_t n_words) {
  runs_.push_back({first_word, n_words, parts_.size(), 0});
  for (const ClassWeight& part : segment.pattern)
    parts_.push_back({place_of_class_[static_cast<std::size_t>(part.k)], part.weight});
  runs_.back().n_parts = parts_.size() - runs_.back().first_part;
}

bool SplitGains::is_worth_packing(const RowSet& rows) const {
  if (rows.sparse()) return true;
  std::size_t n_rows = 0;
  for (const Word word : rows.words()) n_rows += static_cast<std::size_t>(popcount(word));
  return worth_packing * (words_for(n_rows) + data_.segments().size()) <= rows.n_words();
}

// Slots in order are slots by segment.
void SplitGains::place_packed(const RowSet& rows) {
  slots_.clear();
  std::size_t i = 0;
  for (const Segment& segment : data_.segments()) {
    const std::size_t end = segment.first_word + segment.n_words;
    const std::size_t first = slots_.size();
    for (; i < rows.n_stored() && rows.place(i) < end; ++i)
      for_each_slot(rows.stored(i), rows.place(i) * word_bits,
                    [&](std::size_t slot) { slots_.push_back(static_cast<std::uint32_t>(slot)); });
    if (slots_.size() == first) continue;
    slots_.resize(word_bits * words_for(slots_.size()), no_slot);
    add_run(segment, first / word_bits, (slots_.size() - first) / word_bits);
  }
}

void SplitGains::place_as_they_are(const RowSet& rows) {
  const std::span<const Word> words = rows.words();
  for (const Segment& segment : data_.segments()) {
    std::size_t first = segment.first_word, end = first + segment.n_words;
    while (first < end && words[first] == 0) ++first;
    while (first < end && words[end - 1] == 0) --end;
    if (first < end) add_run(segment, first, end - first);
  }
}

bool SplitGains::pack(Watch& watch) {
  const std::size_t n_words = slots_.size() / word_bits;
  packed_.assign(data_.n_columns() * n_words, 0);
  std::uint32_t tile[half_bits * blocks];
  for (std::size_t first = 0; first < slots_.size(); first += half_bits) {
    if (slots_[first] == no_slot) continue;
    if (watch.poll(static_cast<std::int64_t>(2 * data_.n_columns()))) return false;
    for (std::size_t h = 0; h < data_.halves_per_row(); h += blocks) {
      const std::size_t n = std::min(blocks, data_.halves_per_row() - h);
      for (std::size_t r = 0; r < half_bits; ++r) {
        const std::uint32_t slot = slots_[first + r];
        for (std::size_t b = 0; b < n; ++b)
          tile[r * blocks + b] = slot == no_slot ? 0 : Dataset::half_of(data_.row(slot), h + b);
      }
      transpose_blocks<blocks>(tile);
      for (std::size_t b = 0; b < n; ++b) {
        const std::size_t first_column = (h + b) * half_bits;
        for (std::size_t c = 0; c < half_bits && first_column + c < data_.n_columns(); ++c)
          packed_[(first_column + c) * n_words + first / word_bits] |= Word{tile[c * blocks + b]}
                                                                       << (first % word_bits);
      }
    }
  }
  return true;
}

bool SplitGains::find(const RowSet& rows, std::span<const std::int64_t> counts,
                      std::vector<std::uint32_t>& columns, std::vector<double>& gains,
                      Watch& watch) {
  if (watch.poll(static_cast<std::int64_t>(2 * counts.size() + 4 * data_.segments().size())))
    return false;
  find_classes(counts);
  runs_.clear();
  parts_.clear();
  const bool packed = is_worth_packing(rows);
  if (packed) {
    place_packed(rows);
    if (!pack(watch)) return false;
  } else {
    place_as_they_are(rows);
  }
  const std::size_t n_words = packed ? slots_.size() / word_bits : rows.n_words();
  const std::int64_t* const rising = posterior_.rising_table();
  std::int64_t total = 0, whole = 0;
  for (const Class& at : classes_) {
    total += at.total;
    whole -= at.mixed[at.total];
  }
  whole += rising[total];

  columns.clear();
  gains.clear();
  const auto work = static_cast<std::int64_t>(n_words + parts_.size() + 4 * classes_.size() + 20);
  for (std::size_t c = 0; c < data_.n_columns(); ++c) {
    if (watch.poll(work)) return false;
    const Word* const column = packed ? &packed_[c * n_words] : data_.column(c);
    const Word* const among = packed ? column : rows.words().data();
    std::fill(ones_.begin(), ones_.end(), 0);
    for (const Run& run : runs_) {
      const std::int64_t n =
          count_both(column + run.first_word, among + run.first_word, run.n_words);
      for (std::size_t p = run.first_part; p < run.first_part + run.n_parts; ++p)
        ones_[parts_[p].at] += n * parts_[p].weight;
    }
    std::int64_t n_ones = 0, parts = 0;
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      n_ones += ones_[k];
      parts -= classes_[k].mixed[ones_[k]] + classes_[k].mixed[classes_[k].total - ones_[k]];
    }
    if (n_ones == 0 || n_ones == total) continue;
    parts += rising[n_ones] + rising[total - n_ones];
    columns.push_back(static_cast<std::uint32_t>(c));
    gains.push_back(Cost(whole - parts).nats());
  }
  return true;
}

}  // namespace maptree
