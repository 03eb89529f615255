// Routing: the leaf that each row of a caller's table ends in.
//
// Columns stay in the caller's memory, in types of their own. A bound is a value of its column's
// type (the caller has rounded thresholds to it), so comparisons are exact. NaN takes the false
// branch, except when asked for. Rows go down the tree a block at a time, and each node parts those
// that reach it without a branch for every row: a processor guesses the answers of a good test
// badly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace maptree {

enum class Asks { at_most, equals, is_nan };

template <class T>
struct TestOf {
  const T* values = nullptr;
  std::int64_t stride = 0;  // in elements
  Asks asks = Asks::at_most;
  T bound = {};
  // Rows with something other than 0 here take the false branch; null: there are none.
  const std::uint8_t* missing = nullptr;
  std::int64_t missing_stride = 0;
};

using ColumnTest =
    std::variant<TestOf<std::int8_t>, TestOf<std::uint8_t>, TestOf<std::int16_t>,
                 TestOf<std::uint16_t>, TestOf<std::int32_t>, TestOf<std::uint32_t>,
                 TestOf<std::int64_t>, TestOf<std::uint64_t>, TestOf<float>, TestOf<double>>;

// A tree over such tests, by node: the number of its test (-1 at a leaf), and the children where
// the test is false and where it is true. Children come after their parents.
struct Branches {
  std::span<const std::int32_t> test, no, yes;
};

// Writes the node of each row's leaf. std::invalid_argument if the branches do not form a tree.
void route(const Branches& tree, std::span<const ColumnTest> tests,
           std::span<std::int64_t> leaf_of_row);

}  // namespace maptree
