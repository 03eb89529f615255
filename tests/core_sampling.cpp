// What the samplers share: random numbers, distinct trees, varying columns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "forest.hpp"
#include "problem.hpp"
#include "random.hpp"
#include "varying.hpp"

using maptree::Cost;
using maptree::Random;

TEST(random_numbers_repeat_everywhere) {
  // Pinned: a seed has to give the same trees on every machine, and in every version.
  Random random(42, 0);
  const std::uint64_t first[] = {random.next(), random.next(), random.next()};
  Random again(42, 0), other_stream(42, 1), other_seed(43, 0);
  for (const std::uint64_t value : first) {
    CHECK_EQUAL(again.next(), value);
    CHECK(other_stream.next() != value);
    CHECK(other_seed.next() != value);
  }
  CHECK_EQUAL(first[0], 5083557051978735613u);
}

TEST(random_choices_are_equally_likely) {
  Random random(1, 2);
  for (const std::size_t n : {1u, 2u, 3u, 7u, 100u}) {
    std::vector<double> seen(n, 0);
    const double draws = 2000.0 * static_cast<double>(n);
    for (int i = 0; i < static_cast<int>(draws); ++i) seen.at(random.below(n)) += 1;
    double chi = 0;
    for (const double count : seen) chi += (count - 2000) * (count - 2000) / 2000;
    const auto freedom = static_cast<double>(n - 1);
    CHECK(chi <= freedom + 4 * std::sqrt(2 * freedom));
  }
  // Where 2^32 is not a multiple of n by far, a biased method would show: 2/3 below the half.
  const std::size_t n = 3u << 30;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(n) < n / 2 ? 1 : 0;
  CHECK(std::abs(low - 15000) < 400);
  double sum = 0, logs = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    CHECK(u >= 0 && u < 1);
    sum += u;
    logs += random.exponential();
  }
  CHECK(std::abs(sum / 100000 - 0.5) < 0.005);
  CHECK(std::abs(logs / 100000 - 1) < 0.02);
}

TEST(a_forest_keeps_each_tree_once) {
  maptree::Forest forest;
  const std::vector<std::vector<std::int32_t>> trees = {
      {-1}, {0, -1, -1}, {1, -1, -1}, {0, 1, -1, -1, -1}, {0, -1, 1, -1, -1}};
  for (int round = 0; round < 2; ++round) {
    for (std::size_t t = 0; t < trees.size(); ++t) {
      std::vector<std::int64_t> counts(2 * trees[t].size());
      std::iota(counts.begin(), counts.end(), t);
      CHECK_EQUAL(forest.add(trees[t], counts, Cost(static_cast<int>(t))),
                  static_cast<std::int32_t>(t));
    }
  }
  CHECK_EQUAL(forest.size(), trees.size());
  CHECK(forest.tree(3).left == (std::vector<std::int32_t>{1, 2, -1, -1, -1}));
  CHECK(forest.tree(3).right == (std::vector<std::int32_t>{4, 3, -1, -1, -1}));
  CHECK(forest.tree(4).left == (std::vector<std::int32_t>{1, -1, 3, -1, -1}));
  CHECK(forest.tree(4).right == (std::vector<std::int32_t>{2, -1, 4, -1, -1}));
  CHECK_EQUAL(forest.counts(4)[0], 4);
  maptree::Forest other;
  other.add(trees[2], std::vector<std::int64_t>(6), Cost(2));
  other.add(trees[0], std::vector<std::int64_t>(2), Cost(0));
  CHECK(forest.add(other) == (std::vector<std::int32_t>{2, 0}));
  const maptree::Forest::Arrays arrays = forest.take();
  CHECK(arrays.offsets == (std::vector<std::int64_t>{0, 1, 4, 7, 12, 17}));
  CHECK_EQUAL(arrays.feature.size(), 17u);
  CHECK_EQUAL(arrays.right[12], 2);
  CHECK_EQUAL(forest.size(), 0u);
}

TEST(varying_columns_are_those_that_are_not_constant) {
  fuzz::Random random(5);
  maptree::Watch never;
  // Words of columns, words of rows, more rows than are looked at side by side, sparse sets.
  for (const std::size_t n_columns : {1u, 31u, 32u, 33u, 64u, 65u, 100u, 130u}) {
    for (const std::size_t n_rows : {1u, 2u, 100u, 1000u, 20000u}) {
      maptree::PackedTable table(n_rows, n_columns);
      for (std::size_t c = 0; c < n_columns; ++c) {
        const double ones = random.one_of({0.5, 0.5, 0.01, 0.0001});
        for (std::size_t r = 0; r < n_rows; ++r)
          if (random.chance(ones)) table.column(c)[r / 64] |= maptree::Word{1} << (r % 64);
      }
      std::vector<std::int32_t> labels(n_rows);
      for (std::int32_t& label : labels) label = random.below(2);
      const maptree::Dataset data(std::move(table), labels, {}, 2, {true, false});
      maptree::RowSet rows = data.all_rows(), part;
      maptree::ColumnSet among = maptree::all_columns(data), varying;
      CHECK_EQUAL(maptree::find_varying(data, rows, among, varying, never),
                  static_cast<std::int64_t>(data.n_columns()));
      CHECK(varying == among);
      for (int depth = 0; depth < 12 && data.n_columns() > 0; ++depth) {
        part.assign_side(rows, data.column(random.below(data.n_columns())), random.below(2));
        std::swap(rows, part);
        std::vector<std::int64_t> counts(2);
        if (data.count(rows, counts) == 0) break;
        const std::int64_t n = maptree::find_varying(data, rows, among, varying, never);
        CHECK_EQUAL(n, data.varying_columns(rows));
        std::size_t rank = 0;
        for (std::size_t c = 0; c < data.n_columns(); ++c) {
          maptree::RowSet side[2];
          bool varies = true;
          for (int s = 0; s < 2; ++s) {
            side[s].assign_side(rows, data.column(c), s);
            varies = varies && data.count(side[s], counts) > 0;
          }
          CHECK_EQUAL(((varying[c / 64] >> (c % 64)) & 1) != 0, varies);
          if (varies) CHECK_EQUAL(maptree::column_at(varying, rank++), static_cast<int>(c));
        }
        std::swap(among, varying);
      }
    }
  }
}
