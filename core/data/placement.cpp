#include "data/placement.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace maptree {

namespace {

// While rows are grouped, an entry of `slot` is
//   i itself      row i is the first of its kind, and the only one so far
//   many | m      row i is the first of its kind, and has number m among those with equals
//   another row   the first of its kind
// There are at most max_total_weight rows, so that the bit is free.
constexpr std::uint32_t many = 1u << 31;
constexpr unsigned index_bits = 25;
static_assert(max_total_weight == std::int64_t{1} << index_bits);

[[nodiscard]] bool is_first(const PageVector<std::uint32_t>& of, std::size_t i) {
  return of[i] == i || (of[i] & many) != 0;
}

[[nodiscard]] std::uint64_t hash_row(const std::uint8_t* row, std::size_t n_bytes,
                                     const KeyedHash& hash) {
  return hash(words_for(8 * n_bytes), [&](std::size_t i) {
    const std::size_t b = i * sizeof(std::uint64_t);
    std::uint64_t word;
    std::memcpy(&word, row + b, sizeof(word));
    if (n_bytes - b < sizeof(word)) word &= (std::uint64_t{1} << (8 * (n_bytes - b))) - 1;
    return word;
  });
}

[[nodiscard]] std::size_t table_size(std::size_t n_rows) { return n_rows + n_rows / 2 + 1; }

// Fills `of` as above and returns how many rows have equals; -1 when stopped.
std::int64_t find_equal_rows(const Rows& rows, const KeyedHash& keyed_hash,
                             PageVector<std::uint32_t>& of, std::int64_t& n_probes, Watch& watch) {
  // By hash, the first of each kind, and above its number a few more bits of the hash, 0 where
  // there is none: rows that agree in these are candidates, and a comparison decides. Without them
  // most comparisons would fetch a row from memory to find it different.
  constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
  const std::size_t size = table_size(rows.n_rows);
  PageVector<std::uint32_t> table(size);
  const auto work = static_cast<std::int64_t>(rows.row_bytes / 4 + 20);
  std::uint32_t n_many = 0;
  for (std::uint32_t i = 0; i < rows.n_rows; ++i) {
    if (watch.poll(work)) return -1;
    const std::uint64_t hash = hash_row(rows[i], rows.row_bytes, keyed_hash);
    const std::uint32_t entry = (static_cast<std::uint32_t>(1 + hash % 127) << index_bits) | i;
    auto at = static_cast<std::size_t>(((hash >> 32) * size) >> 32);
    const auto other = [&] {
      return table[at] != 0 &&
             ((table[at] ^ entry) > index_mask ||
              std::memcmp(rows[i], rows[table[at] & index_mask], rows.row_bytes) != 0);
    };
    for (; other(); ++n_probes) {
      if (watch.poll(2)) return -1;
      at = at + 1 == size ? 0 : at + 1;
    }
    of[i] = i;
    if (table[at] == 0) {
      table[at] = entry;
      continue;
    }
    const std::uint32_t first = table[at] & index_mask;
    of[i] = first;
    if (of[first] == first) of[first] = many | n_many++;
  }
  return n_many;
}

// The order of the weights of all classes, class by class: where one pattern has a class that the
// other does not, its weight is the greater one.
struct Before {
  bool operator()(const Pattern& a, const Pattern& b) const {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (a[i].k != b[i].k) return a[i].k > b[i].k;
      if (a[i].weight != b[i].weight) return a[i].weight < b[i].weight;
    }
    return a.size() < b.size();
  }
};

// Numbers patterns in the order in which they are first met.
class PatternNumbers {
 public:
  PatternNumbers(std::size_t n_classes, const std::function<void(std::size_t)>& check)
      : check_(check), last_weight_(n_classes, 0), last_number_(n_classes, 0) {}

  [[nodiscard]] std::uint32_t number(const Pattern& pattern) {
    const auto [at, is_new] = numbers_.try_emplace(pattern, n_rows_.size());
    if (is_new) {
      bytes_ += bytes_of(pattern);
      if (bytes_ > checked_) check_(checked_ = 2 * bytes_);
      n_rows_.push_back(0);
    }
    ++n_rows_[at->second];
    return at->second;
  }
  // Of rows of one class. Most are like the one before them.
  [[nodiscard]] std::uint32_t number(std::size_t k, std::int32_t weight) {
    if (last_weight_[k] == weight) {
      ++n_rows_[last_number_[k]];
      return last_number_[k];
    }
    last_weight_[k] = weight;
    return last_number_[k] = number({{static_cast<std::int32_t>(k), weight}});
  }
  [[nodiscard]] const std::map<Pattern, std::uint32_t, Before>& sorted() const { return numbers_; }
  [[nodiscard]] std::size_t n_rows(std::uint32_t number) const { return n_rows_[number]; }

 private:
  // An entry of the map, its classes, what is kept by number, and the segment it becomes.
  [[nodiscard]] static std::size_t bytes_of(const Pattern& pattern) {
    constexpr std::size_t entry = 96;
    return entry + 2 * (16 + sizeof(ClassWeight) * pattern.size()) + 2 * sizeof(std::size_t) +
           sizeof(std::uint32_t) + sizeof(Segment);
  }

  const std::function<void(std::size_t)>& check_;
  std::map<Pattern, std::uint32_t, Before> numbers_;
  std::vector<std::size_t> n_rows_;  // by number
  std::size_t bytes_ = 0, checked_ = 0;
  std::vector<std::int32_t> last_weight_;
  std::vector<std::uint32_t> last_number_;
};

[[nodiscard]] Segment make_segment(const Pattern& pattern, std::size_t n_rows,
                                   std::size_t first_word) {
  Segment segment;
  segment.first_word = first_word;
  segment.n_words = words_for(n_rows);
  segment.n_rows = n_rows;
  segment.pattern = pattern;
  for (const ClassWeight& part : pattern) segment.weight += part.weight;
  if (segment.weight == 1) segment.unit_class = pattern[0].k;
  return segment;
}

// The rows that are one, as lists of the caller's: of each the one before it.
class EqualRows {
 public:
  EqualRows(std::size_t n_many, std::size_t n_given, std::size_t n_classes)
      : last_(n_many), before_(n_many > 0 ? n_given : 0), weights_(n_many > 0 ? n_classes : 0) {}

  void add(std::uint32_t m, std::size_t r) {
    before_[r] = last_[m];
    last_[m] = static_cast<std::uint32_t>(r) + 1;  // 0: none
  }
  [[nodiscard]] const Pattern& pattern(std::uint32_t m, const RowClasses& classes) {
    pattern_.clear();
    for (std::uint32_t next = last_[m]; next != 0; next = before_[next - 1]) {
      const std::int32_t k = classes.labels[next - 1];
      std::int32_t& weight = weights_[static_cast<std::size_t>(k)];
      if (weight == 0) pattern_.push_back({k, 0});
      weight += classes.weight(next - 1);
    }
    std::sort(pattern_.begin(), pattern_.end(),
              [](const ClassWeight& a, const ClassWeight& b) { return a.k < b.k; });
    for (ClassWeight& part : pattern_)
      part.weight = std::exchange(weights_[static_cast<std::size_t>(part.k)], 0);
    return pattern_;
  }

 private:
  PageVector<std::uint32_t> last_, before_;
  std::vector<std::int32_t> weights_;  // by class; 0 but for the row at hand
  Pattern pattern_;
};

// Calls visit(i, r) for every row i and the caller's row r that it is. False when stopped.
template <class Visit>
bool for_each_row(const RowClasses& classes, Watch& watch, Visit&& visit) {
  std::size_t i = 0;
  for (std::size_t r = 0; r < classes.labels.size(); ++r) {
    for (std::size_t copy = classes.copies(r); copy > 0; --copy) {
      if (watch.poll(10)) return false;
      visit(i++, r);
    }
  }
  return true;
}

}  // namespace

Placement place_rows(const Rows& rows, const RowClasses& classes, const KeyedHash& hash,
                     Watch& watch, const std::function<void(std::size_t)>& check) {
  const auto n_classes = static_cast<std::size_t>(classes.n_classes);
  Placement out;
  out.slot.resize(rows.n_rows);
  PageVector<std::uint32_t>& of = out.slot;
  std::int64_t n_many = 0;
  if (classes.fold)
    n_many = find_equal_rows(rows, hash, of, out.n_probes, watch);
  else
    for (std::uint32_t i = 0; i < of.size(); ++i) of[i] = i;
  out.complete = n_many >= 0;
  if (!out.complete) return out;

  // Of rows with equals only: the others are known by label and weight.
  EqualRows equal(static_cast<std::size_t>(n_many), classes.labels.size(), n_classes);
  out.complete = n_many == 0 || for_each_row(classes, watch, [&](std::size_t i, std::size_t r) {
                   const std::uint32_t first = is_first(of, i) ? of[i] : of[of[i]];
                   if ((first & many) != 0) equal.add(first & ~many, r);
                 });
  if (!out.complete) return out;

  if (!classes.amounts.empty()) {
    out.first.resize(rows.n_rows);
    for (std::uint32_t i = 0; i < rows.n_rows; ++i) out.first[i] = is_first(of, i) ? i : of[i];
  }
  PatternNumbers patterns(n_classes, check);
  out.complete = for_each_row(classes, watch, [&](std::size_t i, std::size_t r) {
    if (!is_first(of, i))
      of[i] = no_slot;
    else if ((of[i] & many) != 0)
      of[i] = patterns.number(equal.pattern(of[i] & ~many, classes));
    else
      of[i] = patterns.number(static_cast<std::size_t>(classes.labels[r]), classes.weight(r));
  });
  if (!out.complete) return out;

  std::vector<std::uint32_t> next(patterns.sorted().size());  // free slot, by pattern
  out.segments.reserve(patterns.sorted().size());
  for (const auto& [pattern, number] : patterns.sorted()) {
    next[number] = static_cast<std::uint32_t>(out.n_words * word_bits);
    out.segments.push_back(make_segment(pattern, patterns.n_rows(number), out.n_words));
    out.n_words += out.segments.back().n_words;
    out.n_distinct_rows += out.segments.back().n_rows;
  }
  for (std::uint32_t& slot : out.slot)
    if (slot != no_slot) slot = next[slot]++;
  return out;
}

std::size_t placement_bytes(std::size_t n_rows, std::size_t n_given, int n_classes, bool fold) {
  const std::size_t by_class = 12 * static_cast<std::size_t>(n_classes);
  if (!fold) return 4 * n_rows + by_class;
  // The table, or the lists of equal rows, of which there are at most half as many as rows; the
  // first is given back before.
  return 4 * n_rows + std::max(4 * table_size(n_rows), 4 * n_given + 2 * n_rows) + by_class;
}

}  // namespace maptree
