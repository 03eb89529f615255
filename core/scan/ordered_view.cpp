#include "scan/ordered_view.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace maptree {

namespace {

// Sorts keys by their upper half, of which only the lowest `bits` differ; equal ones keep their
// order. Returns where the result is.
std::vector<std::uint64_t>& sort_keys(std::vector<std::uint64_t>& keys,
                                      std::vector<std::uint64_t>& other, int bits) {
  constexpr int digit = 8;
  if (keys.size() < 64) {
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  std::vector<std::uint64_t>*from = &keys, *to = &other;
  to->resize(keys.size());
  for (int shift = 0; shift < bits; shift += digit) {
    std::array<std::uint32_t, 1 << digit> start{};
    const auto bucket = [&](std::uint64_t key) {
      return (key >> (32 + shift)) & ((1 << digit) - 1);
    };
    for (const std::uint64_t key : *from) ++start[bucket(key)];
    std::uint32_t sum = 0;
    for (std::uint32_t& at : start) at = std::exchange(sum, sum + at);
    for (const std::uint64_t key : *from) (*to)[start[bucket(key)]++] = key;
    std::swap(from, to);
  }
  return *from;
}

}  // namespace

// A node has at most as many cuts as there are between the ranks of all rows. (A data set that was
// stopped has none.)
std::size_t OrderedView::most_cuts(const Dataset& data) {
  std::size_t n = 0;
  for (std::size_t c = 0; c < data.ordered().n_columns() && data.complete(); ++c)
    n += data.ordered().n_used(c) - 1;
  return n;
}

// Where all rows differ, they differ in every node.
std::size_t OrderedView::most_listed(const Dataset& data) {
  std::size_t n = 0;
  for (std::size_t c = 0; c < data.ordered().n_columns(); ++c)
    if (data.ordered().n_used(c) < data.n_distinct_rows()) n += data.ordered().n_used(c) - 1;
  return n;
}

OrderedView::OrderedView(const Dataset& data, const Bounds& bounds) : data_(data), bounds_(bounds) {
  std::size_t n_parts = 0;
  for (const Segment& segment : data.segments()) n_parts += segment.pattern.size();
  patterns_.reserve(n_parts);
  place_.resize(static_cast<std::size_t>(data.n_classes()), -1);
  numbers_.reserve(place_.size());
  // The root needs the most; to hold it from the start keeps bytes() constant, and with it a limit.
  const std::size_t n_places = data.n_words() * word_bits, n_rows = data.n_distinct_rows();
  const std::size_t n_ordered = data.ordered().n_columns();
  runs_.reserve(data.segments().size());
  rows_.reserve(n_places);
  slots_.reserve(n_places);
  places_.reserve(n_rows);
  order_.reserve(n_ordered * n_rows);
  cut_at_.reserve(most_listed(data));
  if (data.ordered().weighted()) codes_.reserve(most_cuts(data));
  keys_.reserve(n_rows);
  sorted_.reserve(n_rows);
  bits_.reserve(data.n_columns() * data.n_words());
  ordered_.reserve(n_ordered);
  binary_.reserve(data.n_columns());
}

bool OrderedView::load(const RowSet& rows, Watch& watch) {
  if (!place_rows(rows, watch)) return false;
  ordered_.clear();
  order_.clear();
  cut_at_.clear();
  codes_.clear();
  n_cuts_ = 0;
  varying_ = 0;
  for (std::uint32_t c = 0; c < data_.ordered().n_columns(); ++c)
    if (!sort_column(c, watch)) return false;
  return load_bits(watch);
}

bool OrderedView::place_rows(const RowSet& rows, Watch& watch) {
  for (const std::int32_t k : numbers_) place_[static_cast<std::size_t>(k)] = -1;
  numbers_.clear();
  patterns_.clear();
  runs_.clear();
  rows_.clear();
  slots_.clear();
  places_.clear();
  std::size_t i = 0;
  const auto visit_segments = [&](auto&& visit) {
    for (std::size_t s = 0; s < data_.segments().size(); ++s) {
      const Segment& segment = data_.segments()[s];
      const std::size_t end = segment.first_word + segment.n_words;
      for (; i < rows.n_stored() && rows.place(i) < end; ++i) {
        if (watch.poll(word_bits)) return false;
        for_each_slot(rows.stored(i), rows.place(i) * word_bits,
                      [&](std::size_t slot) { visit(s, slot); });
      }
    }
    return true;
  };
  std::size_t last = SIZE_MAX;
  const bool whole = visit_segments([&](std::size_t s, std::size_t slot) {
    if (s != last) {
      last = s;
      const Segment& segment = data_.segments()[s];
      rows_.resize(words_for(rows_.size()) * word_bits);
      slots_.resize(rows_.size(), no_slot);
      Run run;
      run.first_word = static_cast<std::uint32_t>(n_words());
      run.pattern = patterns_.data() + patterns_.size();  // which was reserved for all
      run.n_classes = static_cast<std::uint32_t>(segment.pattern.size());
      run.group_floor = bounds_.group_floor(s).units();
      for (const ClassWeight& part : segment.pattern) {
        std::int32_t& place = place_[static_cast<std::size_t>(part.k)];
        if (place < 0) {
          place = static_cast<std::int32_t>(numbers_.size());
          numbers_.push_back(part.k);
        }
        patterns_.push_back({place, part.weight});
      }
      runs_.push_back(run);
    }
    Run& run = runs_.back();
    Row row;
    row.run = static_cast<std::uint32_t>(runs_.size() - 1);
    if (run.n_classes == 1) {
      row.k = run.pattern->k;
      row.weight = run.pattern->weight;
    }
    ++run.n_rows;
    places_.push_back(static_cast<std::uint32_t>(rows_.size()));
    rows_.push_back(row);
    slots_.push_back(static_cast<std::uint32_t>(slot));
  });
  if (!whole) return false;
  rows_.resize(words_for(rows_.size()) * word_bits);
  slots_.resize(rows_.size(), no_slot);
  for (std::size_t r = 0; r < runs_.size(); ++r)
    runs_[r].last_word =
        static_cast<std::uint32_t>(r + 1 < runs_.size() ? runs_[r + 1].first_word : n_words());
  n_rows_ = static_cast<std::uint32_t>(places_.size());
  total_.clear(numbers_.size());
  total_.numbers = numbers_;
  for (const Run& run : runs_)
    total_.add({run.pattern, run.n_classes}, static_cast<std::int32_t>(run.n_rows),
               run.group_floor);
  return true;
}

bool OrderedView::sort_column(std::uint32_t column, Watch& watch) {
  if (watch.poll(12 * static_cast<std::int64_t>(n_rows_))) return false;
  const std::uint32_t* const ranks = data_.ordered().ranks(column);
  std::uint32_t least = UINT32_MAX, most = 0;
  for (const std::uint32_t place : places_) {
    least = std::min(least, ranks[slots_[place]]);
    most = std::max(most, ranks[slots_[place]]);
  }
  if (least == most) return true;
  varying_ += data_.ordered().weight_between(column, least, most);
  keys_.clear();
  for (const std::uint32_t place : places_)
    keys_.push_back(static_cast<std::uint64_t>(ranks[slots_[place]] - least) << 32 | place);
  const std::vector<std::uint64_t>& sorted =
      sort_keys(keys_, sorted_, std::bit_width(most - least));
  Ordered out;
  out.column = column;
  out.first = order_.size();
  out.first_cut = n_cuts_;
  const std::size_t listed = cut_at_.size();
  // A column of few ranks needs no look: rows are more.
  bool every = data_.ordered().n_used(column) >= n_rows_;
  for (std::uint32_t i = 1; every && i < n_rows_; ++i)
    every = sorted[i] >> 32 != sorted[i - 1] >> 32;
  const bool weighted = data_.ordered().weighted();
  const std::uint32_t start = data_.ordered().first(column) + least;
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < n_rows_; ++i) {
    const auto rank = static_cast<std::uint32_t>(sorted[i] >> 32);
    const auto place = static_cast<std::uint32_t>(sorted[i]);
    const bool cut = i > 0 && rank != before;
    if (cut) {
      ++out.n_cuts;
      if (!every) cut_at_.push_back(i);
      if (weighted) codes_.push_back(data_.ordered().least_code(start + before, start + rank));
    }
    order_.push_back(place | (cut ? cut_mark : 0));
    before = rank;
  }
  if (!every) out.cuts = cut_at_.data() + listed;  // which was reserved for all
  n_cuts_ += out.n_cuts;
  ordered_.push_back(out);
  return true;
}

bool OrderedView::load_bits(Watch& watch) {
  binary_.clear();
  bits_.clear();
  for (std::uint32_t c = 0; c < data_.n_columns(); ++c) {
    if (watch.poll(2 * static_cast<std::int64_t>(n_rows_))) return false;
    const Word* const column = data_.column(c);
    const std::size_t first = bits_.size();
    bits_.resize(first + n_words(), 0);
    std::size_t ones = 0;
    for (const std::uint32_t place : places_) {
      const std::uint32_t slot = slots_[place];
      const Word bit = (column[slot / word_bits] >> (slot % word_bits)) & 1;
      ones += bit;
      bits_[first + place / word_bits] |= bit << (place % word_bits);
    }
    if (ones == 0 || ones == n_rows_) {
      bits_.resize(first);
      continue;
    }
    varying_ += data_.multiplicity(c);
    binary_.push_back({c, data_.multiplicity(c), first});
  }
  return true;
}

std::uint32_t OrderedView::cut_of(const Ordered& of, std::uint32_t threshold) const {
  std::uint32_t first = 0, last = of.n_cuts;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (gap(of, middle).high <= threshold)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

std::size_t OrderedView::bytes_for(const Dataset& data) {
  const std::size_t n_places = data.n_words() * word_bits, n_rows = data.n_distinct_rows();
  const std::size_t n_ordered = data.ordered().n_columns();
  std::size_t n_parts = 0;
  for (const Segment& segment : data.segments()) n_parts += segment.pattern.size();
  return n_places * (sizeof(Row) + sizeof(std::uint32_t)) +
         n_rows * (sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t)) +
         (n_ordered * n_rows + most_listed(data)) * sizeof(std::uint32_t) +
         (data.ordered().weighted() ? most_cuts(data) * sizeof(OrderedColumns::Code) : 0) +
         data.n_columns() * (data.n_words() * sizeof(Word) + sizeof(Binary)) +
         n_ordered * sizeof(Ordered) + data.segments().size() * sizeof(Run) +
         n_parts * sizeof(ClassWeight) +
         2 * static_cast<std::size_t>(data.n_classes()) * sizeof(std::int32_t);
}

std::size_t OrderedView::bytes() const {
  return runs_.capacity() * sizeof(Run) + rows_.capacity() * sizeof(Row) +
         (slots_.capacity() + places_.capacity() + order_.capacity() + cut_at_.capacity()) *
             sizeof(std::uint32_t) +
         (numbers_.capacity() + place_.capacity()) * sizeof(std::int32_t) +
         patterns_.capacity() * sizeof(ClassWeight) + ordered_.capacity() * sizeof(Ordered) +
         binary_.capacity() * sizeof(Binary) + bits_.capacity() * sizeof(Word) +
         codes_.capacity() * sizeof(OrderedColumns::Code) +
         (keys_.capacity() + sorted_.capacity()) * sizeof(std::uint64_t);
}

}  // namespace maptree
