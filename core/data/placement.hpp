// Placement: which rows are one, and where each goes.
//
// Identical rows never part, so they are one row with a weight for each class: its pattern. Rows of
// equal pattern form a segment, and a segment starts at a word boundary. Segments are ordered by
// pattern, not by where rows stood in the caller's table; inside one, rows keep their order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "control/control.hpp"
#include "data/class_weight.hpp"
#include "data/keyed_hash.hpp"
#include "data/packed_table.hpp"

namespace maptree {

inline constexpr std::uint32_t no_slot = UINT32_MAX;

// The classes that a row has, in order. With a weight for every class instead, all patterns
// together would grow with the square of the classes.
using Pattern = std::vector<ClassWeight>;

struct Segment {
  std::size_t first_word = 0;
  std::size_t n_words = 0;
  std::size_t n_rows = 0;   // distinct rows; they fill the first slots
  Pattern pattern;          // of each of its rows
  std::int32_t weight = 0;  // sum over the pattern
  int unit_class = -1;      // k where the pattern is one row of class k, else -1

  // More than one class: such rows can never be told apart.
  [[nodiscard]] bool impure() const { return pattern.size() > 1; }
  [[nodiscard]] std::size_t bytes() const {
    return sizeof(*this) + pattern.capacity() * sizeof(ClassWeight);
  }
};

// Rows side by side, each of whole bytes; bits beyond the last column are 0.
struct Rows {
  static constexpr std::size_t slack = 8;  // bytes that may be read behind the last row
  const std::uint8_t* data = nullptr;
  std::size_t n_rows = 0;
  std::size_t row_bytes = 0;

  [[nodiscard]] const std::uint8_t* operator[](std::size_t i) const { return data + i * row_bytes; }
};

// What each row counts.
struct RowClasses {
  Labels labels;                          // of the caller's rows
  std::span<const std::int64_t> weights;  // empty: every row counts once
  int n_classes = 0;
  bool fold = true;
  std::span<const Amounts> amounts = {};  // empty: the outcome is a class

  // How many times the caller's row is among `Rows`: where rows are folded, once if it counts.
  [[nodiscard]] std::size_t copies(std::size_t r) const {
    if (weights.empty()) return 1;
    return fold ? (weights[r] > 0 ? 1 : 0) : static_cast<std::size_t>(weights[r]);
  }
  [[nodiscard]] std::int32_t weight(std::size_t r) const {
    return weights.empty() || !fold ? 1 : static_cast<std::int32_t>(weights[r]);
  }
};

struct Placement {
  bool complete = true;  // false: stopped, and the rest is void
  std::vector<Segment> segments;
  std::size_t n_words = 0;
  std::size_t n_distinct_rows = 0;
  PageVector<std::uint32_t> slot;  // by row; no_slot: an earlier row stands for it
  PageVector<std::uint32_t>
      first;                  // by row: the one that stands for it; only where rows have amounts
  std::int64_t n_probes = 0;  // how many other rows were met while equal ones were sought
};

// Rows are those of the caller, in order, each as often as copies() says.
// `check` is called before more is taken for patterns, with the bytes that all of them will take.
Placement place_rows(const Rows& rows, const RowClasses& classes, const KeyedHash& hash,
                     Watch& watch, const std::function<void(std::size_t)>& check);
// The most that place_rows allocates at a time, but for patterns and segments, for `n_rows` rows
// that are made of `n_given` rows of the caller.
[[nodiscard]] std::size_t placement_bytes(std::size_t n_rows, std::size_t n_given, int n_classes,
                                          bool fold);

}  // namespace maptree
