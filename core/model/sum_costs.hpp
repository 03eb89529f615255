// SumCosts: what a leaf costs by the sums of its rows, where the outcome is a number or a count
// (docs/design/outcomes.md). Plain arrays and arithmetic, compiled once per instruction set: all
// give the same integers, as IEEE operations do if none are contracted (-ffp-contract=off).
//
// With n rows and the sums a and b, t = n for numbers and t = a for counts,
//
//   cost = table[t] + round( (coefficient + per_t t) log(1 + x) )
//   x    = scale max(0, b - a^2 / (n + kappa))     numbers: a = sum of z, b = sum of z^2
//   x    = scale b                                 counts: a = sum of y, b = sum of exposures
//
// in units of 2^-32 nats. The table is such that no cost is negative (SumLeaves).
#pragma once

#include <cstdint>

namespace maptree {

// log x for x >= 1 by a table of 128 and a short series; the error is below 2^-51,
// or 2^-51 of it where it is above 1.
struct LogTables {
  static constexpr int size = 128;
  double inverse[size];  // of a point in the middle of each part of [1, 2)
  double log[size];      // of that point
};

struct SumCosts {
  const std::int64_t* table = nullptr;
  const LogTables* logs = nullptr;
  bool of_counts = false;
  double kappa = 0, scale = 0;
  double coefficient = 0, per_t = 0;  // in units

  // For L sets at once: `a` and `b` their sums.
  template <int L>
  void costs(const std::int32_t* n, const std::int64_t* a, const std::int64_t* b,
             std::int64_t* out) const {
    double x[L], t[L];
    if (of_counts) {
      for (int l = 0; l < L; ++l) {
        x[l] = scale * static_cast<double>(b[l]);
        t[l] = static_cast<double>(a[l]);
        out[l] = table[a[l]];
      }
    } else {
      for (int l = 0; l < L; ++l) {
        const double sum = static_cast<double>(a[l]);
        t[l] = static_cast<double>(n[l]);
        const double squares = static_cast<double>(b[l]) - sum * sum / (t[l] + kappa);
        x[l] = scale * (squares > 0 ? squares : 0);
        out[l] = table[n[l]];
      }
    }
    for (int l = 0; l < L; ++l) {
      const double units = (coefficient + per_t * t[l]) * log_of(1 + x[l]);
      out[l] += static_cast<std::int64_t>(units + 0.5);
    }
  }

 private:
  [[nodiscard]] double log_of(double y) const {
    constexpr double log_2 = 0.693147180559945309417;
    std::uint64_t bits;
    __builtin_memcpy(&bits, &y, sizeof(bits));
    const auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
    const std::uint64_t part = (bits >> 45) & 127;
    bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
    double mantissa;
    __builtin_memcpy(&mantissa, &bits, sizeof(mantissa));
    const double r = mantissa * logs->inverse[part] - 1;
    const double series =
        r * (1 + r * (-1.0 / 2 +
                      r * (1.0 / 3 + r * (-1.0 / 4 + r * (1.0 / 5 + r * (-1.0 / 6 + r / 7))))));
    return static_cast<double>(exponent) * log_2 + (logs->log[part] + series);
  }
};

}  // namespace maptree
