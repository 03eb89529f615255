// OrderedColumns: weights of thresholds, sides and spans, all against plain loops.
#include "data/ordered_columns.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "counted_memory.hpp"
#include "data/dataset.hpp"
#include "problem.hpp"
#include "turned_clock.hpp"

using fuzz::Random;
using maptree::OrderedColumn;
using maptree::OrderedColumns;
using maptree::RowSet;

namespace {

using Ranks = std::vector<std::uint32_t>;

// Columns of so many ranks each, without rows.
OrderedColumns without_rows(const std::vector<std::uint32_t>& n_ranks) {
  std::vector<OrderedColumn> columns;
  for (const std::uint32_t n : n_ranks) columns.push_back({{}, n});
  return {columns, 0};
}

std::string refusal(const std::vector<OrderedColumn>& columns, std::size_t n_rows) {
  try {
    const OrderedColumns refused(columns, n_rows);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

// Columns and where their rows are: row r in slot r.
struct Filled {
  Filled(const std::vector<Ranks>& of, const std::vector<std::uint32_t>& n_ranks) : ranks(of) {
    std::vector<OrderedColumn> given;
    for (std::size_t c = 0; c < of.size(); ++c) given.push_back({of[c], n_ranks[c]});
    columns = OrderedColumns(given, of[0].size());
    columns.place(maptree::words_for(of[0].size()) * maptree::word_bits);
    for (std::size_t c = 0; c < of.size(); ++c)
      for (std::size_t r = 0; r < of[c].size(); ++r) columns.set(c, r, of[c][r]);
    for (std::size_t t = 0; t < columns.n_thresholds(); ++t) weights.push_back(1);
  }
  void weigh(const std::vector<std::int32_t>& of) {
    columns.weigh(of);
    weights = of;
  }
  [[nodiscard]] RowSet set_of(const std::vector<std::size_t>& rows) const {
    RowSet out(maptree::words_for(ranks[0].size()));
    for (const std::size_t r : rows) out.insert(r);
    return out;
  }
  // The weight of the thresholds that vary: the test of each is tried on every row.
  [[nodiscard]] std::int64_t varying(const std::vector<std::size_t>& rows) const {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < ranks.size(); ++c)
      for (std::uint32_t t = 0; t + 1 < columns.n_ranks(c); ++t) {
        const auto low = std::ranges::count_if(rows, [&](auto r) { return ranks[c][r] <= t; });
        if (low > 0 && low < static_cast<std::ptrdiff_t>(rows.size()))
          sum += weights[columns.first(c) + t];
      }
    return sum;
  }
  // B6, column by column: the least weight between neighbours of an order.
  [[nodiscard]] std::int64_t least(std::size_t n) const {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < ranks.size(); ++c) {
      std::vector<std::int64_t> below(columns.n_ranks(c), 0);
      for (std::uint32_t t = 0; t + 1 < columns.n_ranks(c); ++t)
        below[t + 1] = below[t] + weights[columns.first(c) + t];
      Ranks sorted = ranks[c];
      std::ranges::sort(sorted);
      std::int64_t least = INT64_MAX;
      for (std::size_t i = 0; i + n <= sorted.size(); ++i)
        least = std::min(least, below[sorted[i + n - 1]] - below[sorted[i]]);
      sum += least;
    }
    return sum;
  }

  std::vector<Ranks> ranks;
  OrderedColumns columns;
  std::vector<std::int32_t> weights;
};

std::vector<std::int32_t> random_weights(Random& random, std::size_t n) {
  const int kind = random.below(4);
  std::vector<std::int32_t> weights(n);
  for (std::size_t t = 0; t < n; ++t) {
    weights[t] = random.between(1, 3);
    if (kind == 1) weights[t] = random.between(1, 100'000);
    if (kind == 2)  // coarse to fine
      weights[t] = 1 << (12 - std::min(12, std::countr_zero(t + 1)));
    if (kind == 3 && t > 0 && !random.chance(0.05)) weights[t] = weights[t - 1];  // long runs
  }
  return weights;
}

Filled random_rows(Random& random, std::size_t n_rows, bool weighted) {
  std::vector<Ranks> ranks;
  std::vector<std::uint32_t> n_ranks;
  for (int c = random.between(1, 3); c > 0; --c) {
    n_ranks.push_back(random.one_of<std::uint32_t>({1, 2, 5, 17, 100, 300}));
    Ranks& of = ranks.emplace_back(n_rows);
    for (std::uint32_t& rank : of) rank = random.below(n_ranks.back());
  }
  Filled out(ranks, n_ranks);
  if (weighted && out.columns.n_thresholds() > 0)
    out.weigh(random_weights(random, out.columns.n_thresholds()));
  return out;
}

}  // namespace

TEST(wrong_ordered_columns_are_refused_by_their_number) {
  const Ranks good = {0, 1, 2}, bad = {0, 3, 1}, first = {3, 0, 1}, few = {0, 1};
  CHECK_EQUAL(refusal({{good, 3}, {good, 3}}, 3), "");
  CHECK_EQUAL(refusal({{good, 3}, {bad, 3}}, 3),
              "ordered column 1: the rank of row 1 is 3, and there are 3");
  CHECK_EQUAL(refusal({{bad, 4}, {good, 2}}, 3),
              "ordered column 1: the rank of row 2 is 2, and there are 2");
  CHECK_EQUAL(refusal({{first, 3}}, 3),
              "ordered column 0: the rank of row 0 is 3, and there are 3");
  CHECK_EQUAL(refusal({{few, 3}}, 3), "ordered column 0 must have one rank a row");
  CHECK_EQUAL(refusal({{few, 3}, {good, 3}}, 2), "ordered column 1 must have one rank a row");
  CHECK_EQUAL(refusal({{good, 3}, {{}, 0}}, 3), "ordered column 1 must have one rank a row");
  CHECK_EQUAL(refusal({{{}, 2}, {{}, 0}}, 0), "ordered column 1 has no ranks");
  // As many thresholds as numbers of 31 bits have room for, and one more.
  CHECK_EQUAL(refusal({{{}, 1u << 30}, {{}, (1u << 30) + 1}}, 0), "");
  CHECK_EQUAL(refusal({{{}, 1u << 30}, {{}, (1u << 30) + 2}}, 0), "there are too many thresholds");
  CHECK_EQUAL(refusal({{{}, UINT32_MAX}, {{}, 3}}, 0), "there are too many thresholds");
}

TEST(thresholds_are_numbered_through_the_columns) {
  const OrderedColumns columns = without_rows({3, 1, 2, 70});
  CHECK_EQUAL(columns.n_columns(), 4u);
  CHECK_EQUAL(columns.n_thresholds(), 72u);
  std::uint32_t threshold = 0;
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK_EQUAL(columns.first(c), threshold);
    for (std::uint32_t t = 0; t + 1 < columns.n_ranks(c); ++t)
      CHECK_EQUAL(columns.column_of(threshold++), c);
  }
  CHECK_EQUAL(threshold, 72u);
}

// Around the sizes of blocks, where sums and least codes are kept, and for some thousands.
TEST(weights_of_thresholds_are_found_as_by_loops) {
  Random random(151);
  for (const std::uint32_t n :
       {1u, 2u, 15u, 16u, 17u, 31u, 33u, 63u, 64u, 65u, 127u, 128u, 129u, 193u, 256u, 1000u, 4097u})
    for (int round = 0; round < 6; ++round) {
      std::vector<std::uint32_t> n_ranks;
      for (std::uint32_t left = n; left > 0;) {
        const std::uint32_t some = round < 2 ? left : random.between(1u, left);
        n_ranks.push_back(some + 1);
        if (random.chance(0.2)) n_ranks.push_back(1);
        left -= some;
      }
      OrderedColumns columns = without_rows(n_ranks);
      CHECK_EQUAL(columns.n_thresholds(), n);
      const std::vector<std::int32_t> weights = random_weights(random, n);
      columns.weigh(weights);
      CHECK(columns.weighted());
      std::map<std::int64_t, std::size_t> how_many, found;
      for (const std::int32_t weight : weights) ++how_many[weight];
      columns.for_each_weight([&](std::int64_t weight, std::size_t many) { found[weight] = many; });
      CHECK(found == how_many);
      CHECK_EQUAL(columns.heaviest_weight(), *std::ranges::max_element(weights));
      CHECK(std::ranges::is_sorted(columns.weights(), std::greater<>()));
      CHECK_EQUAL(columns.weights().size(), how_many.size());
      for (std::uint32_t t = 0; t < n; ++t)
        CHECK_EQUAL(columns.weights()[columns.code(t)], weights[t]);

      const auto check = [&](std::size_t c, std::uint32_t low, std::uint32_t high) {
        const auto begin = weights.begin() + columns.first(c) + low, end = begin + (high - low);
        CHECK_EQUAL(columns.weight_between(c, low, high),
                    std::accumulate(begin, end, std::int64_t{0}));
        if (low == high) return;
        const auto most = std::max_element(begin, end);  // the first of equals
        CHECK_EQUAL(columns.heaviest(c, low, high), low + static_cast<std::uint32_t>(most - begin));
        const OrderedColumns::Code code =
            columns.least_code(columns.first(c) + low, columns.first(c) + high);
        CHECK_EQUAL(columns.weights()[code], *most);
      };
      for (std::size_t c = 0; c < columns.n_columns(); ++c) {
        const std::uint32_t of = columns.n_ranks(c) - 1;
        if (of <= 70)
          for (std::uint32_t low = 0; low <= of; ++low)
            for (std::uint32_t high = low; high <= of; ++high) check(c, low, high);
        for (int i = 0; i < 300; ++i) {
          const std::uint32_t low = random.below(of + 1);
          check(c, low, random.between(low, of));
        }
        check(c, 0, of);
      }
    }
}

// Where blocks begin and end: one of several blocks is the heaviest, just inside or outside.
TEST(the_heaviest_threshold_is_found_at_the_ends_of_blocks) {
  constexpr std::uint32_t n = 5 * 64 + 3;
  for (std::uint32_t heavy = 0; heavy < n; ++heavy) {
    std::vector<std::int32_t> weights(n, 1);
    weights[heavy] = 2;
    OrderedColumns columns = without_rows({n + 1});
    columns.weigh(weights);
    for (std::uint32_t low = 0; low < n; low += low % 64 == 2 ? 60 : 1)
      for (std::uint32_t high = low + 1; high <= n; high += high % 64 == 2 ? 60 : 1) {
        const bool within = low <= heavy && heavy < high;
        CHECK_EQUAL(columns.heaviest(0, low, high), within ? heavy : low);
        CHECK_EQUAL(columns.weights()[columns.least_code(low, high)], within ? 2 : 1);
        CHECK_EQUAL(columns.weight_between(0, low, high), (high - low) + (within ? 1 : 0));
      }
  }
}

TEST(thresholds_without_weights_count_one_each) {
  const OrderedColumns columns = without_rows({200, 5});
  CHECK(!columns.weighted());
  CHECK_EQUAL(columns.heaviest_weight(), 1);
  CHECK_EQUAL(columns.weight_between(0, 20, 199), 179);
  CHECK_EQUAL(columns.weight_between(1, 2, 2), 0);
  CHECK_EQUAL(columns.heaviest(0, 10, 11), 10u);
  CHECK_EQUAL(columns.heaviest(0, 10, 12), 10u);
  CHECK_EQUAL(columns.heaviest(0, 10, 13), 11u);
  CHECK_EQUAL(columns.heaviest(0, 0, 199), 99u);
  std::map<std::int64_t, std::size_t> found;
  const auto note = [&](std::int64_t weight, std::size_t many) { found[weight] += many; };
  columns.for_each_weight(note);
  CHECK((found == std::map<std::int64_t, std::size_t>{{1, 203}}));
  found.clear();
  without_rows({1, 2}).for_each_weight(note);
  CHECK((found == std::map<std::int64_t, std::size_t>{{1, 1}}));
  found.clear();
  without_rows({1, 1}).for_each_weight(note);
  OrderedColumns().for_each_weight(note);
  CHECK(found.empty());
}

TEST(there_is_a_code_for_every_weight_up_to_their_limit) {
  constexpr std::uint32_t most = 65'535;
  std::vector<std::int32_t> weights(most + 1);
  for (std::uint32_t t = 0; t <= most; ++t) weights[t] = static_cast<std::int32_t>(70'000 - t);
  OrderedColumns refused = without_rows({most + 2});
  CHECK_THROWS(std::invalid_argument, (refused.weigh(weights), 0));
  weights.pop_back();
  OrderedColumns columns = without_rows({most + 1});
  columns.weigh(weights);
  CHECK_EQUAL(columns.code(most - 1), most - 1);
  CHECK_EQUAL(columns.heaviest(0, 60'000, most), 60'000u);
}

TEST(a_threshold_parts_rows_by_their_ranks) {
  Random random(152);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = random.one_of<std::size_t>({1, 63, 64, 65, 200, 1000});
    const Filled filled = random_rows(random, n, false);
    const double share = random.one_of({0.05, 0.5, 1.0});
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < n; ++r)
      if (random.chance(share)) rows.push_back(r);
    const RowSet from = filled.set_of(rows);
    RowSet out;
    for (int i = 0; i < 20 && filled.columns.n_thresholds() > 0; ++i) {
      const std::uint32_t threshold = random.below(filled.columns.n_thresholds());
      const std::size_t c = filled.columns.column_of(threshold);
      const std::uint32_t last = threshold - filled.columns.first(c);
      for (int side = 0; side < 2; ++side) {
        filled.columns.part(from, threshold, side, out);
        std::vector<std::size_t> right;
        for (const std::size_t r : rows)
          if ((filled.ranks[c][r] <= last) == (side == 1)) right.push_back(r);
        const RowSet expected = filled.set_of(right);
        for (std::size_t w = 0; w < expected.n_words(); ++w)
          CHECK_EQUAL(out.word(w), expected.word(w));
      }
    }
    if (!rows.empty()) CHECK_EQUAL(filled.columns.varying(from), filled.varying(rows));
  }
}

TEST(the_least_that_varies_is_that_of_the_closest_rows) {
  Random random(153);
  for (int round = 0; round < 120; ++round) {
    Filled filled = random_rows(random, random.between<std::size_t>(1, 150), round % 2 == 0);
    std::vector<std::size_t> rows(filled.ranks[0].size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::vector<std::int64_t> least;
    CHECK(filled.columns.least_varying(filled.set_of(rows), least, maptree::no_watch()));
    for (std::size_t c = 0; c < filled.ranks.size(); ++c)
      CHECK_EQUAL(filled.columns.n_used(c),
                  std::set<std::uint32_t>(filled.ranks[c].begin(), filled.ranks[c].end()).size());
    CHECK_EQUAL(least.size(), rows.size() + 1);
    CHECK_EQUAL(least[0], 0);
    CHECK_EQUAL(least[1], 0);
    for (std::size_t n = 2; n <= rows.size(); ++n) {
      const std::int64_t right = filled.least(n);
      CHECK(least[n] <= right);
      if (n <= 16) CHECK_EQUAL(least[n], right);
      if (n > 18) CHECK(least[n] >= filled.least(n - n / 8));  // the next lower number is near
    }
    for (int i = 0; i < 30; ++i) {
      std::vector<std::size_t> some;
      const double share = random.uniform();
      for (const std::size_t r : rows)
        if (random.chance(share)) some.push_back(r);
      if (!some.empty()) CHECK(least[some.size()] <= filled.varying(some));
    }
  }
}

// With one column the closest rows are a set of their own: exact, over all sets there are.
TEST(the_least_that_varies_is_reached_by_some_set) {
  Random random(154);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t n_ranks = random.between(2u, 14u);
    Ranks ranks(random.between<std::size_t>(2, 9));
    for (std::uint32_t& rank : ranks) rank = random.below(n_ranks);
    Filled filled({ranks}, {n_ranks});
    if (round % 2 == 0) filled.weigh(random_weights(random, filled.columns.n_thresholds()));
    std::vector<std::int64_t> right(ranks.size() + 1, INT64_MAX), least;
    right[0] = 0;
    std::vector<std::size_t> all(ranks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (unsigned subset = 1; subset < 1u << ranks.size(); ++subset) {
      std::vector<std::size_t> rows;
      maptree::for_each_slot(subset, 0, [&](std::size_t r) { rows.push_back(r); });
      right[rows.size()] = std::min(right[rows.size()], filled.varying(rows));
    }
    CHECK(filled.columns.least_varying(filled.set_of(all), least, maptree::no_watch()));
    CHECK(least == right);
  }
}

// The rows of a part of the table alone, and how many numbers are looked at by how many rows.
TEST(the_least_that_varies_is_found_for_fewer_numbers_where_rows_are_many) {
  Random random(155);
  const std::size_t many = (1 << 16) + 1;
  Ranks ranks(many);
  for (std::uint32_t& rank : ranks) rank = random.below(200'000u);
  Filled filled({ranks}, {200'000});
  for (const bool weighted : {false, true}) {
    if (weighted) filled.weigh(random_weights(random, filled.columns.n_thresholds()));
    RowSet rows(maptree::words_for(many));
    for (std::size_t r = 0; r < many; ++r) rows.insert(r);
    std::vector<std::int64_t> least;
    CHECK(filled.columns.least_varying(rows, least, maptree::no_watch()));
    for (const std::size_t n : {2u, 15u, 16u, 32u, 64u, 4096u, 65'536u})
      CHECK_EQUAL(least[n], filled.least(n));
    for (const std::size_t n : {17u, 31u}) CHECK_EQUAL(least[n], filled.least(16));
    for (const std::size_t n : {40'000u, 65'535u}) CHECK_EQUAL(least[n], filled.least(32'768));
    CHECK_EQUAL(least[many], filled.least(65'536));
  }
  // Without the last row: one number in eight more.
  ranks.pop_back();
  Filled fewer({ranks}, {200'000});
  RowSet rows(maptree::words_for(ranks.size()));
  for (std::size_t r = 0; r < ranks.size(); ++r) rows.insert(r);
  std::vector<std::int64_t> least;
  CHECK(fewer.columns.least_varying(rows, least, maptree::no_watch()));
  for (const std::size_t n : {16u, 18u, 20u, 22u, 24u, 27u, 30u})
    CHECK_EQUAL(least[n], fewer.least(n));
  CHECK_EQUAL(least[29], fewer.least(27));
}

// Found by fuzzing: two thousand million ranks of eight rows took 8 GB.
TEST(ranks_of_no_row_take_no_memory) {
  Random random(158);
  constexpr std::uint32_t n_ranks = 1u << 31;
  for (int round = 0; round < 20; ++round) {
    Ranks ranks(8);
    for (std::uint32_t& rank : ranks) rank = random.below(n_ranks);
    if (round % 2 == 0) ranks[3] = ranks[5];
    OrderedColumns columns(std::vector<OrderedColumn>{{ranks, n_ranks}}, ranks.size());
    columns.place(maptree::word_bits);
    RowSet rows(1);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      columns.set(0, r, ranks[r]);
      rows.insert(r);
    }
    std::vector<std::int64_t> least;
    const std::size_t before = counted_memory::held();
    counted_memory::start();
    CHECK(columns.least_varying(rows, least, maptree::no_watch()));
    CHECK(counted_memory::peak() - before < 4096);
    std::ranges::sort(ranks);
    for (std::size_t n = 2; n <= ranks.size(); ++n) {
      std::int64_t right = INT64_MAX;
      for (std::size_t i = 0; i + n <= ranks.size(); ++i)
        right = std::min<std::int64_t>(right, ranks[i + n - 1] - ranks[i]);
      CHECK_EQUAL(least[n], right);
    }
    CHECK_EQUAL(columns.n_used(0), std::set(ranks.begin(), ranks.end()).size());
  }
}

TEST(the_least_that_varies_is_void_where_it_is_stopped) {
  Random random(156);
  for (const bool weighted : {false, true}) {
    Filled filled = random_rows(random, 40, weighted);
    std::vector<std::size_t> rows(40);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const auto find = [&](const TurnedClock& clock) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      std::vector<std::int64_t> least;
      const bool found = filled.columns.least_varying(filled.set_of(rows), least, watch);
      CHECK_EQUAL(found, !watch.stopped());
      return found;
    };
    const TurnedClock counted;
    CHECK(find(counted));
    CHECK(counted.n_readings() > 40);
    for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
      CHECK(!find(TurnedClock(late_from)));
  }
}

TEST(rows_beside_a_threshold_have_the_ranks_next_to_it) {
  Random random(157);
  for (int round = 0; round < 100; ++round) {
    const auto n_rows = random.between<std::size_t>(2, 90);
    const std::uint32_t n_ranks = random.between(2u, 30u);
    std::vector<Ranks> ranks(2, Ranks(n_rows));
    std::vector<std::uint8_t> labels(n_rows);
    std::vector<std::int64_t> weights(round % 2 == 0 ? n_rows : 0);
    for (std::size_t r = 0; r < n_rows; ++r) {
      for (Ranks& of : ranks) of[r] = random.below(n_ranks);
      labels[r] = static_cast<std::uint8_t>(random.below(2));
      if (!weights.empty()) weights[r] = r == 0 ? 1 : random.below(3);
    }
    const std::vector<OrderedColumn> columns{{ranks[0], n_ranks}, {ranks[1], n_ranks}};
    const maptree::Dataset data(maptree::PackedTable(n_rows, 3), columns,
                                maptree::Labels(std::span<const std::uint8_t>(labels)), weights, 2,
                                {.rows = round % 3 != 0});
    const auto counts = [&](std::size_t r) { return weights.empty() || weights[r] > 0; };
    const auto is_used = [&](std::uint32_t c, std::uint32_t rank) {
      for (std::size_t r = 0; r < n_rows; ++r)
        if (counts(r) && ranks[c][r] == rank) return true;
      return false;
    };
    const auto beside = [&](const std::vector<std::uint32_t>& of) { return data.rows_beside(of); };
    std::vector<std::uint32_t> tests;
    for (std::uint32_t c = 0; c < 2; ++c) {
      for (std::uint32_t t = 0; t + 1 < n_ranks; ++t) {
        const std::uint32_t test = 3 + c * (n_ranks - 1) + t;
        if (!is_used(c, t) || !is_used(c, t + 1)) {
          CHECK_THROWS(std::invalid_argument, beside({test}));
        } else if (random.chance(0.5)) {
          tests.push_back(test);
        }
      }
    }
    const auto found = beside(tests);
    CHECK_EQUAL(found.size(), tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const std::uint32_t c = (tests[i] - 3) / (n_ranks - 1), t = (tests[i] - 3) % (n_ranks - 1);
      const auto [below, above] = found[i];
      CHECK_EQUAL(ranks[c][below], t);
      CHECK_EQUAL(ranks[c][above], t + 1);
      CHECK(counts(below) && counts(above));
    }
    CHECK_THROWS(std::invalid_argument, beside({2}));
    CHECK_THROWS(std::invalid_argument, beside({3 + 2 * (n_ranks - 1)}));
  }
}
