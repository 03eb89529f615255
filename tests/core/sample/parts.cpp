// What the samplers share: random numbers, distinct trees, varying columns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "failing_memory.hpp"
#include "problem.hpp"
#include "sample/forest.hpp"
#include "sample/random.hpp"
#include "sample/resampling.hpp"
#include "sample/split_gains.hpp"
#include "sample/varying.hpp"

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

TEST(trees_are_merged_without_a_request_for_each) {
  // After the time limit, so it has to be quick.
  constexpr std::int32_t n = 5000;
  maptree::Forest all, more;
  const std::vector<std::int64_t> counts(6, 1);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t a[] = {i, -1, -1}, b[] = {2 * i, -1, -1};
    all.add(a, counts, Cost(i));
    more.add(b, counts, Cost(2 * i));
  }
  failing_memory::Failure none(INT64_MAX, failing_memory::Then::goes_on);
  const std::vector<std::int32_t> number = all.add(std::move(more));
  const maptree::Forest::Arrays trees = all.take();
  CHECK(failing_memory::Failure::n_requests() < 50);
  CHECK_EQUAL(trees.costs.size(), std::size_t{n + n / 2});
  for (std::size_t t = 0; t < number.size(); ++t) {
    const auto at = static_cast<std::size_t>(number[t]);
    CHECK_EQUAL(trees.costs[at].units(), static_cast<std::int64_t>(2 * t));
    CHECK_EQUAL(trees.feature[static_cast<std::size_t>(trees.offsets[at])],
                static_cast<std::int32_t>(2 * t));
  }
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
  CHECK(forest.add(std::move(other)) == (std::vector<std::int32_t>{2, 0}));
  const maptree::Forest::Arrays arrays = forest.take();
  CHECK(arrays.offsets == (std::vector<std::int64_t>{0, 1, 4, 7, 12, 17}));
  CHECK_EQUAL(arrays.feature.size(), 17u);
  CHECK_EQUAL(arrays.right[12], 2);
  CHECK_EQUAL(forest.size(), 0u);
}

namespace {

// Columns of all frequencies; a row in so many is repeated, with any label.
maptree::Dataset random_table(fuzz::Random& random, std::size_t n_rows, std::size_t n_columns,
                              int n_classes, double repeated) {
  maptree::PackedTable table(n_rows, n_columns);
  std::vector<double> ones(n_columns);
  for (double& p : ones) p = random.one_of({0.5, 0.5, 0.01, 0.0001});
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t from = r > 0 && random.chance(repeated) ? random.below(r) : r;
    for (std::size_t c = 0; c < n_columns; ++c) {
      maptree::Word* const column = table.column(c);
      const bool one =
          from == r ? random.chance(ones[c]) : ((column[from / 64] >> (from % 64)) & 1) != 0;
      if (one) column[r / 64] |= maptree::Word{1} << (r % 64);
    }
  }
  std::vector<std::int32_t> labels(n_rows);
  for (std::int32_t& label : labels) label = random.below(n_classes);
  return {std::move(table), labels, {}, n_classes, {true, false}};
}

}  // namespace

TEST(common_bits_are_counted) {
  fuzz::Random random(8);
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<maptree::Word> a(n), b(n);
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = random.chance(0.2) ? ~maptree::Word{0} : random.next();
      b[i] = random.chance(0.2) ? ~maptree::Word{0} : random.next();
      expected += maptree::popcount(a[i] & b[i]);
    }
    CHECK_EQUAL(maptree::count_both(a.data(), b.data(), n), expected);
    std::fill(a.begin(), a.end(), ~maptree::Word{0});
    CHECK_EQUAL(maptree::count_both(a.data(), a.data(), n), static_cast<std::int64_t>(64 * n));
  }
}

TEST(copies_are_in_proportion_to_weights) {
  const std::vector<double> weights = {0.5, 0, 0.1, 0.3, 0.07, 0.03, 0, 0};
  for (const auto kind : {maptree::Resampling::systematic, maptree::Resampling::multinomial}) {
    Random random(3, 0);
    std::vector<double> mean(weights.size(), 0);
    std::vector<std::uint32_t> copies;
    for (int round = 0; round < 40000; ++round) {
      maptree::draw_copies(kind, weights, random, copies);
      CHECK_EQUAL(std::accumulate(copies.begin(), copies.end(), 0u), weights.size());
      for (std::size_t i = 0; i < weights.size(); ++i) {
        mean[i] += copies[i] / 40000.0;
        if (weights[i] == 0) CHECK_EQUAL(copies[i], 0u);
        if (kind == maptree::Resampling::systematic) {
          const double expected = weights[i] * static_cast<double>(weights.size());
          CHECK(std::abs(copies[i] - expected) < 1);
        }
      }
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      CHECK(std::abs(mean[i] - weights[i] * static_cast<double>(weights.size())) < 0.03);
  }
  // Sums that rounding leaves a little short, or a little long.
  for (const double sum : {1 - 1e-12, 1 + 1e-12}) {
    const std::vector<double> tenths(10, sum / 10);
    Random random(4, 0);
    std::vector<std::uint32_t> copies;
    for (int round = 0; round < 1000; ++round) {
      for (const auto kind : {maptree::Resampling::systematic, maptree::Resampling::multinomial}) {
        maptree::draw_copies(kind, tenths, random, copies);
        CHECK_EQUAL(std::accumulate(copies.begin(), copies.end(), 0u), 10u);
      }
    }
  }
}

TEST(gains_of_splits_are_differences_of_leaves) {
  fuzz::Random random(6);
  maptree::Watch never;
  std::size_t n_sparse = 0;
  for (const std::size_t n_columns : {1u, 33u, 130u}) {
    for (const std::size_t n_rows : {2u, 100u, 1000u, 20000u}) {
      for (const int n_classes : {1, 2, 5}) {
        const maptree::Dataset data =
            random_table(random, n_rows, n_columns, n_classes, random.one_of({0.0, 0.5}));
        const auto k = static_cast<std::size_t>(n_classes);
        const maptree::Posterior posterior({0.95, 0.5, std::vector<double>(k, 1.5)}, data);
        maptree::SplitGains gains(data, posterior);
        maptree::RowSet rows = data.all_rows(), part;
        std::vector<std::uint32_t> columns;
        std::vector<double> found;
        std::vector<std::int64_t> counts(k), side(k);
        for (int depth = 0; depth < 10 && data.n_columns() > 0; ++depth) {
          if (data.count(rows, counts) == 0) break;
          n_sparse += rows.sparse() ? 1 : 0;
          CHECK(gains.find(rows, counts, columns, found, never));
          CHECK_EQUAL(columns.size(), found.size());
          std::size_t at = 0;
          for (std::size_t c = 0; c < data.n_columns(); ++c) {
            Cost gain = posterior.leaf(counts);
            bool varies = true;
            for (int s = 0; s < 2; ++s) {
              part.assign_side(rows, data.column(c), s);
              varies = data.count(part, side) > 0 && varies;
              gain = gain - posterior.leaf(side);
            }
            if (!varies) continue;
            CHECK(at < columns.size() && columns[at] == c && found[at] == gain.nats());
            ++at;
          }
          CHECK_EQUAL(at, columns.size());
          part.assign_side(rows, data.column(random.below(data.n_columns())), random.below(2));
          std::swap(rows, part);
        }
      }
    }
  }
  CHECK(n_sparse > 5);
}

TEST(varying_columns_are_those_that_are_not_constant) {
  fuzz::Random random(5);
  maptree::Watch never;
  // Words of columns, words of rows, more rows than are compared side by side, sparse sets.
  for (const std::size_t n_columns : {1u, 31u, 32u, 33u, 64u, 65u, 100u, 130u}) {
    for (const std::size_t n_rows : {1u, 2u, 100u, 1000u, 20000u}) {
      const maptree::Dataset data = random_table(random, n_rows, n_columns, 2, 0);
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
        CHECK_EQUAL(n, data.varying_weight(rows));
        std::size_t rank = 0;
        for (std::size_t c = 0; c < data.n_columns(); ++c) {
          maptree::RowSet side[2];
          bool varies = true;
          for (int s = 0; s < 2; ++s) {
            side[s].assign_side(rows, data.column(c), s);
            varies = varies && data.count(side[s], counts) > 0;
          }
          CHECK_EQUAL(((varying[c / 64] >> (c % 64)) & 1) != 0, varies);
          if (varies) CHECK_EQUAL(maptree::column_at(data, varying, rank++), static_cast<int>(c));
        }
        std::swap(among, varying);
      }
    }
  }
}

TEST(columns_are_drawn_by_their_weights) {
  fuzz::Random random(6);
  maptree::Watch never;
  for (const std::size_t n_columns : {1u, 3u, 64u, 65u, 130u}) {
    fuzz::Problem problem;
    for (int r = 0; r < 40; ++r) {
      std::vector<int> row(n_columns);
      for (int& value : row) value = random.below(2);
      problem.model.x.push_back(row);
      problem.model.y.push_back(random.below(2));
      problem.model.weight.push_back(1);
    }
    for (std::size_t c = 0; c < n_columns; ++c)
      problem.model.test_weight.push_back(random.between(1L, 5L));
    problem.model.test_weight[0] = 1;
    if (n_columns > 1) problem.model.test_weight[1] = 2;
    const maptree::Dataset data = fuzz::make_dataset(problem, {.rows = true, .columns = false});
    maptree::RowSet part;
    part.assign_side(data.all_rows(), data.column(n_columns / 2), 1);
    maptree::ColumnSet varying;
    const std::int64_t weight =
        maptree::find_varying(data, part, maptree::all_columns(data), varying, never);
    CHECK_EQUAL(weight, data.varying_weight(part));
    std::vector<int> drawn(data.n_columns(), 0);
    for (std::int64_t at = 0; at < weight; ++at)
      ++drawn[static_cast<std::size_t>(
          maptree::column_at(data, varying, static_cast<std::size_t>(at)))];
    for (std::size_t c = 0; c < data.n_columns(); ++c)
      CHECK_EQUAL(drawn[c], ((varying[c / 64] >> (c % 64)) & 1) != 0 ? data.test_weight(c) : 0);
  }
}
