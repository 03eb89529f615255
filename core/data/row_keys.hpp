// RowKeys: short names for sets of rows.
//
// A set is a row of words w_0, w_1, ... (row_set.hpp); its key is
//
//   k_0 w_0 + k_1 w_1 + ...  mod p = 2^127 - 1
//
// for multipliers k_i that are drawn at random. Two sets that differ do so in some word, by less
// than p, and p is a prime: only one value of that word's multiplier in p makes their keys equal.
// So they collide with probability 2^-126 at most (127 random bits are not quite a number below p),
// whatever their structure. As the words of disjoint sets add up to those of their union, so do
// their keys.
//
// The multipliers come from a cryptographic hash of the whole table. Runs repeat, and nobody can
// choose sets by their keys: to have other sets is to have another table, with other keys.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "control/control.hpp"
#include "data/blake2b.hpp"
#include "data/row_set.hpp"

namespace maptree {

struct RowKey {  // a number below p
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const RowKey&) const = default;
};

// The key of the rows that are in a set and not in a part of it.
[[nodiscard]] inline RowKey key_of_rest(const RowKey& whole, const RowKey& part) {
  RowKey rest{whole.high - part.high - (whole.low < part.low ? 1 : 0), whole.low - part.low};
  if (rest.high >> 63 != 0) {  // below 0: p more, which is 2^127 more and 1 less
    rest.high -= (rest.low == 0 ? 1 : 0);
    rest.high += std::uint64_t{1} << 63;
    rest.low -= 1;
  }
  return rest;
}

class RowKeys {
 public:
  RowKeys() = default;
  // For tests: these multipliers, again and again.
  RowKeys(std::span<const RowKey> multipliers, std::size_t n_words);

  // Draws multipliers for sets of that many words. False when stopped.
  bool draw(const Digest& digest_of_table, std::size_t n_words, Watch& watch);
  [[nodiscard]] RowKey operator()(const RowSet& rows) const;

  [[nodiscard]] std::size_t bytes() const { return bytes_for(multipliers_.capacity()); }
  [[nodiscard]] static std::size_t bytes_for(std::size_t n_words) {
    return n_words * sizeof(RowKey);
  }

 private:
  std::vector<RowKey> multipliers_;
};

// What sets of one key must have in common: where a set is recognised by its key, these are
// compared, and a difference ends the search.
struct RowSums {
  std::uint32_t weight = 0;
  std::uint32_t digest = 0;  // of the class counts, which give the cost of a leaf

  // `distinct` is the number of distinct rows; of the counts, the first `n_classes` are of rows.
  [[nodiscard]] static RowSums of(std::span<const std::int64_t> counts, std::int64_t distinct,
                                  int n_classes) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
    auto digest = static_cast<std::uint64_t>(distinct);
    std::int64_t weight = 0;
    for (const std::int64_t count : counts)
      digest = digest * odd + static_cast<std::uint64_t>(count);
    for (const std::int64_t count : counts.first(static_cast<std::size_t>(n_classes)))
      weight += count;
    return {static_cast<std::uint32_t>(weight), static_cast<std::uint32_t>((digest * odd) >> 32)};
  }
  bool operator==(const RowSums&) const = default;
};

class KeyCollision : public std::runtime_error {
 public:
  KeyCollision();
};
inline void check_same(const RowSums& a, const RowSums& b) {
  if (!(a == b)) throw KeyCollision();
}

}  // namespace maptree
