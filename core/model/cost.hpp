// Cost: a negative log probability in fixed point, int64 in units of 2^-32 nats.
//
// Sums of fixed-point numbers are associative, so a bound that meets another meets it exactly,
// a run repeats bit for bit, and "solved" is an equality of integers, never of doubles.
// This is the only place where costs are compared.
//
// Range: real costs stay below 2^60 units (Posterior refuses counts that could pass it), infinity
// is 2^61, so that the sum of three costs, infinite or not, still fits.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace maptree {

class Cost {
 public:
  constexpr Cost() = default;
  constexpr explicit Cost(std::int64_t units) : units_(units) {}

  static constexpr double units_per_nat = 4294967296.0;
  static constexpr Cost infinity() { return Cost(std::int64_t{1} << 61); }
  // Halves away from 0, as llround does: tables have millions of entries, and that is a call.
  static Cost nearest(double nats) {
    const double units = nats * units_per_nat;
    const auto whole = static_cast<std::int64_t>(units);
    const double rest = units - static_cast<double>(whole);  // exact
    return Cost(whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0));
  }
  // For lower bounds that are not sums of table entries: never above the real value.
  static Cost below(double nats) {
    return Cost(static_cast<std::int64_t>(std::floor(nats * units_per_nat)));
  }

  [[nodiscard]] constexpr std::int64_t units() const { return units_; }
  [[nodiscard]] constexpr bool finite() const { return units_ < (std::int64_t{1} << 60); }
  [[nodiscard]] double nats() const {
    if (units_ <= -(std::int64_t{1} << 60)) return -std::numeric_limits<double>::infinity();
    return finite() ? static_cast<double>(units_) / units_per_nat
                    : std::numeric_limits<double>::infinity();
  }

  constexpr auto operator<=>(const Cost&) const = default;
  constexpr Cost& operator+=(Cost other) {
    units_ += other.units_;
    return *this;
  }
  friend constexpr Cost operator+(Cost a, Cost b) { return Cost(a.units_ + b.units_); }
  friend constexpr Cost operator-(Cost a, Cost b) { return Cost(a.units_ - b.units_); }

 private:
  std::int64_t units_ = 0;
};

static_assert(sizeof(Cost) == 8);

}  // namespace maptree
