// Ranks and levels, against plain loops.
#include "data/ranking.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "check.hpp"
#include "problem.hpp"

using fuzz::Random;

namespace {

using Keys = std::vector<std::uint64_t>;

void check_ranks(const Keys& keys, const std::vector<std::int64_t>& weights) {
  const maptree::Ranking found = maptree::rank_values(keys, weights);
  std::map<std::uint64_t, std::pair<std::uint32_t, std::int64_t>> distinct;  // first, weight
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const auto at = distinct.try_emplace(keys[i], i, 0).first;
    at->second.second += weights.empty() ? 1 : weights[i];
  }
  CHECK_EQUAL(found.ranks.size(), keys.size());
  CHECK_EQUAL(found.leaders.size(), distinct.size());
  CHECK_EQUAL(found.at_most.size(), distinct.size());
  std::map<std::uint64_t, std::uint32_t> rank_of;
  std::int64_t sum = 0;
  for (const auto& [key, of] : distinct) {
    const auto rank = static_cast<std::uint32_t>(rank_of.size());
    rank_of[key] = rank;
    sum += of.second;
    CHECK_EQUAL(found.leaders[rank], of.first);
    CHECK_EQUAL(found.at_most[rank], sum);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK_EQUAL(found.ranks[i], rank_of[keys[i]]);
}

}  // namespace

TEST(ranks_are_those_of_a_sorted_list) {
  Random random(71);
  for (int round = 0; round < 300; ++round) {
    // Few values, and enough to be sorted by digits; of any number of bits, in any place.
    const auto n = random.between<std::size_t>(0, round % 2 == 0 ? 20 : 700);
    const auto bits = random.between<int>(1, 64), distinct = random.between<int>(1, 64);
    const std::uint64_t offset = random.next();
    Keys keys(n);
    for (std::uint64_t& key : keys) {
      key = random.next() >> (64 - bits);
      // Keys that agree in their higher bits, and keys that agree in their lower ones.
      if (round % 3 == 0) key &= UINT64_MAX >> (64 - distinct);
      if (round % 3 == 1) key &= UINT64_MAX << (64 - distinct);
      if (round % 5 == 0) key = key % 7 << 40 | key % 3;
      key += round % 4 == 0 ? offset >> 1 : 0;
    }
    std::vector<std::int64_t> weights(round % 3 == 2 ? n : 0);
    for (std::int64_t& weight : weights) weight = random.between<std::int64_t>(1, 9);
    check_ranks(keys, weights);
  }
  check_ranks({0, UINT64_MAX, 1, UINT64_MAX - 1, 0}, {});
}

TEST(levels_divide_the_rows_evenly) {
  Random random(72);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> below(random.between<std::size_t>(0, 60));
    std::int64_t sum = 0;
    for (std::int64_t& rows : below)
      rows = sum += random.between<std::int64_t>(1, round % 2 == 0 ? 1 : 40);
    const std::int64_t total = sum + random.between<std::int64_t>(1, 40);
    const auto last = static_cast<std::int8_t>(random.between<int>(0, 8));
    std::vector<std::int8_t> found(below.size());
    maptree::find_levels(below, total, last, found);
    // Stretches of one level after the other.
    std::vector<std::int8_t> right(below.size(), last);
    std::vector<std::pair<std::size_t, std::size_t>> stretches{{0, below.size()}};
    for (std::int8_t level = 0; level < last; ++level) {
      std::vector<std::pair<std::size_t, std::size_t>> next;
      for (const auto& [first, end] : stretches) {
        if (first == end) continue;
        const std::int64_t twice =
            (first == 0 ? 0 : below[first - 1]) + (end == below.size() ? total : below[end]);
        std::size_t nearest = first;
        for (std::size_t t = first; t < end; ++t)
          if (std::abs(2 * below[t] - twice) < std::abs(2 * below[nearest] - twice)) nearest = t;
        right[nearest] = level;
        next.emplace_back(first, nearest);
        next.emplace_back(nearest + 1, end);
      }
      stretches = next;
    }
    CHECK(found == right);
  }
}
