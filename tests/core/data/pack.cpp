// Packing: 0/1 values of any layout become bits, and other values are refused.
#include "data/pack.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "problem.hpp"

using fuzz::Random;

TEST(packing_reads_every_layout_and_refuses_other_values) {
  Random random(15);
  for (const std::size_t n : {1u, 8u, 9u, 63u, 64u, 65u, 200u}) {
    for (const std::size_t f : {1u, 3u, 63u, 64u, 65u, 130u}) {
      std::vector<double> by_row(n * f), by_column(n * f), apart(6 * n * f, 0.5);
      const auto rows = static_cast<std::int64_t>(n), columns = static_cast<std::int64_t>(f);
      for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < f; ++c)
          by_row[r * f + c] = by_column[c * n + r] = apart[2 * r * 3 * f + 3 * c] = random.below(2);
      const maptree::Matrix layouts[] = {
          {by_row.data(), n, f, columns, 1},
          {by_column.data(), n, f, 1, rows},
          {apart.data(), n, f, 6 * columns, 3},
          {by_row.data() + (n - 1) * f, n, f, -columns, 1},   // from the last row
          {by_column.data() + (f - 1) * n, n, f, 1, -rows}};  // from the last column
      for (const maptree::Matrix& layout : layouts) {
        const auto packed = maptree::pack_columns<double>(layout);
        CHECK(packed.has_value());
        const auto* first = static_cast<const double*>(layout.data);
        for (std::size_t c = 0; c < f; ++c) {
          for (std::size_t r = 0; r < 64 * packed->words_per_column(); ++r) {
            const auto bit = (packed->column(c)[r / 64] >> (r % 64)) & 1;
            const double value = r < n ? first[static_cast<std::int64_t>(r) * layout.row_stride +
                                               static_cast<std::int64_t>(c) * layout.column_stride]
                                       : 0;
            CHECK_EQUAL(static_cast<double>(bit), value);
          }
        }
      }
      const std::size_t at = random.below(n * f);
      for (const double other : {0.5, 2.0, -1.0, 256.0, std::nan(""), HUGE_VAL}) {
        by_row[at] = by_column[at] = other;
        CHECK(!maptree::pack_columns<double>(layouts[0]));
        CHECK(!maptree::pack_columns<double>(layouts[1]));
      }
    }
  }
}
