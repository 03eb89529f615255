// Tables with ordered columns, some 0/1 columns beside them, and what tests of their scans compare
// with: every test of every part, one by one, from the definition.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "data/dataset.hpp"
#include "model/bounds.hpp"
#include "model/posterior.hpp"
#include "problem.hpp"

namespace ordered_rows {

using maptree::Cost;
using maptree::RowSet;

struct Table {
  std::vector<std::vector<std::uint32_t>> ranks;  // by ordered column and row
  std::vector<std::uint32_t> n_ranks;
  std::vector<std::vector<int>> bits;  // by 0/1 column and row
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> weights;
  std::vector<std::uint32_t> test_weights;  // empty: all are 1
  std::vector<maptree::Use> uses;           // of 0/1 columns, then of ordered ones; empty: anywhere
  int n_classes = 2;

  [[nodiscard]] std::size_t n_tests() const {
    std::size_t n = bits.size();
    for (const std::uint32_t of : n_ranks) n += of - 1;
    return n;
  }
};

[[nodiscard]] inline maptree::Dataset make_dataset(const Table& table) {
  const std::size_t n_rows = table.labels.size();
  std::vector<maptree::OrderedColumn> ordered;
  for (std::size_t c = 0; c < table.ranks.size(); ++c)
    ordered.push_back({table.ranks[c], table.n_ranks[c]});
  maptree::PackedTable packed(n_rows, table.bits.size());
  for (std::size_t c = 0; c < table.bits.size(); ++c)
    for (std::size_t r = 0; r < n_rows; ++r)
      if (table.bits[c][r] == 1) packed.column(c)[r / 64] |= maptree::Word{1} << (r % 64);
  return {std::move(packed),  ordered,  table.labels,        table.weights,      table.n_classes,
          maptree::Folding{}, SIZE_MAX, maptree::no_watch(), table.test_weights, table.uses};
}

struct Shape {
  std::size_t n_rows = 30;
  int n_classes = 2;
  std::size_t n_ordered = 2;
  std::size_t n_binary = 0;
  std::uint32_t most_ranks = 20;  // of a column; some are not met
  bool weighted_rows = false;     // and rows that are met twice, of several classes
  bool weighted_tests = false;
  bool restricted = false;  // columns that may not be tested everywhere
};

// Labels by the first column, many of them wrong.
[[nodiscard]] inline Table random_table(fuzz::Random& random, const Shape& shape) {
  Table table;
  table.n_classes = shape.n_classes;
  for (std::size_t c = 0; c < shape.n_ordered; ++c) {
    table.n_ranks.push_back(random.between(c == 0 ? 2u : 1u, shape.most_ranks));
    auto& of = table.ranks.emplace_back(shape.n_rows);
    const std::uint32_t step = random.chance(0.3) ? 3 : 1;  // ranks between are not met
    for (std::uint32_t& rank : of) rank = random.below(table.n_ranks[c]) / step * step;
  }
  for (std::size_t c = 0; c < shape.n_binary; ++c) {
    auto& of = table.bits.emplace_back(shape.n_rows);
    const double share = random.uniform();
    for (int& value : of) value = random.chance(share) ? 1 : 0;
  }
  for (std::size_t r = 0; r < shape.n_rows; ++r) {
    const auto rule = static_cast<std::int32_t>(table.ranks[0][r] * 3 / table.n_ranks[0]);
    table.labels.push_back(random.chance(0.3) ? random.below(shape.n_classes)
                                              : rule % shape.n_classes);
    table.weights.push_back(1);
  }
  if (shape.weighted_rows)
    for (std::size_t r = 0; r < shape.n_rows; ++r) {
      if (random.chance(0.5)) table.weights[r] = random.between(1, 4);
      if (r == 0 || !random.chance(0.3)) continue;
      const std::size_t like = random.below(r);
      for (auto& of : table.ranks) of[r] = of[like];
      for (auto& of : table.bits) of[r] = of[like];
    }
  if (shape.weighted_tests) {
    const int kind = random.below(4);
    for (std::size_t t = 0; t < table.n_tests(); ++t) {
      std::uint32_t weight = random.between(1u, 3u);
      if (kind == 1) weight = 1u << random.below(12);
      if (kind == 2) weight = random.between(1u, 1'000'000u);
      if (kind == 3) weight = random.chance(0.2) ? 1'000'000 : 1;  // a few outweigh all others
      table.test_weights.push_back(weight);
    }
  }
  if (shape.restricted)
    for (std::size_t c = 0; c < shape.n_binary + shape.n_ordered; ++c)
      table.uses.push_back(random.one_of({maptree::Use::anywhere, maptree::Use::anywhere,
                                          maptree::Use::below_root, maptree::Use::nowhere}));
  return table;
}

// All that a scan stands on, and bounds that do not know of min_samples_leaf.
struct Bench {
  Bench(const Table& table, const maptree::Prior& prior, const maptree::Options& given)
      : options(given),
        data(make_dataset(table)),
        posterior(prior, data),
        bounds(posterior, data, options),
        free_bounds(posterior, data, without_min_leaf(given)) {}

  [[nodiscard]] static maptree::Options without_min_leaf(maptree::Options options) {
    options.min_samples_leaf = 1;
    return options;
  }
  [[nodiscard]] Cost test_cost(std::size_t test) const {
    const std::int64_t weight = !data.weighted() ? 1
                                : test < data.n_columns()
                                    ? data.test_weight(test)
                                    : data.ordered().weights()[data.ordered().code(
                                          static_cast<std::uint32_t>(test - data.n_columns()))];
    return Cost(0) - posterior.log_weight(weight);
  }

  const maptree::Options options;
  const maptree::Dataset data;
  const maptree::Posterior posterior;
  const maptree::Bounds bounds, free_bounds;
};

[[nodiscard]] inline std::vector<std::size_t> slots_of(const RowSet& rows) {
  std::vector<std::size_t> slots;
  for (std::size_t w = 0; w < rows.n_words(); ++w)
    maptree::for_each_slot(rows.word(w), w * maptree::word_bits,
                           [&](std::size_t slot) { slots.push_back(slot); });
  return slots;
}

[[nodiscard]] inline RowSet set_of(const std::vector<std::size_t>& slots, std::size_t n_words) {
  RowSet rows(n_words);
  for (const std::size_t slot : slots) rows.insert(slot);
  return rows;
}

[[nodiscard]] inline RowSet some_rows(fuzz::Random& random, const RowSet& of, double share) {
  RowSet out(of.n_words());
  for (const std::size_t slot : slots_of(of))
    if (random.chance(share)) out.insert(slot);
  return out;
}

// The splits of a part, each with its two sides' counts: every 0/1 column and every threshold, row
// by row in the order of ranks.
class Splits {
 public:
  Splits(const Bench& bench, const std::vector<std::size_t>& slots) : bench_(bench), slots_(slots) {
    segment_.resize(bench.data.n_words());
    for (std::size_t s = 0; s < bench.data.segments().size(); ++s) {
      const maptree::Segment& segment = bench.data.segments()[s];
      for (std::size_t w = 0; w < segment.n_words; ++w) segment_[segment.first_word + w] = s;
    }
  }

  [[nodiscard]] maptree::SetCounts count(const std::vector<std::size_t>& slots) const {
    maptree::SetCounts out;
    out.clear(static_cast<std::size_t>(bench_.data.n_classes()));
    for (const std::size_t slot : slots) add(out, slot, 1);
    return out;
  }
  // visit(test, the counts of side 0, those of side 1), where neither is empty.
  template <class Visit>
  void visit(const Visit& visit) const {
    const maptree::Dataset& data = bench_.data;
    for (std::size_t c = 0; c < data.n_columns(); ++c) {
      std::vector<std::size_t> side[2];
      for (const std::size_t slot : slots_)
        side[(data.column(c)[slot / 64] >> (slot % 64)) & 1].push_back(slot);
      if (!side[0].empty() && !side[1].empty()) visit(c, count(side[0]), count(side[1]));
    }
    for (std::size_t c = 0; c < data.ordered().n_columns(); ++c) {
      const std::uint32_t* const ranks = data.ordered().ranks(c);
      std::vector<std::size_t> sorted = slots_;
      std::ranges::sort(sorted, {}, [&](std::size_t slot) { return ranks[slot]; });
      maptree::SetCounts low = count({}), high = count(slots_);
      std::size_t i = 0;
      for (std::uint32_t t = 0; t + 1 < data.ordered().n_ranks(c); ++t) {
        for (; i < sorted.size() && ranks[sorted[i]] <= t; ++i) {
          add(low, sorted[i], 1);
          add(high, sorted[i], -1);
        }
        if (i > 0 && i < sorted.size())
          visit(data.n_columns() + data.ordered().first(c) + t, high, low);
      }
    }
  }

 private:
  void add(maptree::SetCounts& set, std::size_t slot, std::int32_t rows) const {
    const std::size_t s = segment_[slot / 64];
    set.add(bench_.data.segments()[s].pattern, rows, bench_.bounds.group_floor(s).units());
  }

  const Bench& bench_;
  const std::vector<std::size_t> slots_;
  std::vector<std::size_t> segment_;  // by word
};

}  // namespace ordered_rows
