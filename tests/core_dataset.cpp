// Dataset: what folding and packing must not change, and what they must.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>

#include "check.hpp"
#include "pack.hpp"
#include "problem.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Dataset;
using maptree::Folding;
using maptree::RowSet;

namespace {

Problem table(std::vector<std::vector<int>> x, std::vector<int> y, std::vector<long> weight = {}) {
  Problem problem;
  problem.model.x = std::move(x);
  problem.model.y = std::move(y);
  problem.model.weight =
      weight.empty() ? std::vector<long>(problem.model.x.size(), 1) : std::move(weight);
  return problem;
}

Problem random_table(Random& random, std::size_t n_rows, std::size_t n_columns) {
  std::vector<std::vector<int>> x(n_rows, std::vector<int>(n_columns));
  std::vector<int> y(n_rows);
  for (auto& row : x)
    for (int& value : row) value = random.below(2);
  for (int& label : y) label = random.below(2);
  return table(x, y);
}

int value(const Dataset& data, std::size_t slot, std::size_t column) {
  return static_cast<int>((data.row(slot)[column / 32] >> (column % 32)) & 1u);
}

std::int64_t total_multiplicity(const Dataset& data) {
  std::int64_t total = 0;
  for (std::size_t c = 0; c < data.n_columns(); ++c) total += data.multiplicity(c);
  return total;
}

// A row as folded columns see it, to its class counts.
using Contents = std::map<std::vector<int>, std::vector<long>>;

Contents contents(const Dataset& data) {
  Contents out;
  for (const maptree::Segment& segment : data.segments()) {
    for (std::size_t m = 0; m < segment.n_rows; ++m) {
      std::vector<int> row;
      for (std::size_t c = 0; c < data.n_columns(); ++c)
        row.push_back(value(data, segment.first_word * 64 + m, c));
      std::vector<long>& counts = out[row];
      counts.resize(segment.counts.size());
      for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += segment.counts[k];
    }
  }
  return out;
}

Contents expected_contents(const Problem& problem, const Dataset& data) {
  Contents out;
  for (std::size_t r = 0; r < problem.model.x.size(); ++r) {
    if (problem.model.weight[r] == 0) continue;
    std::vector<int> row;
    for (std::size_t c = 0; c < data.n_columns(); ++c)
      row.push_back(problem.model.x[r][data.original(c)]);
    std::vector<long>& counts = out[row];
    counts.resize(problem.model.n_classes());
    counts[static_cast<std::size_t>(problem.model.y[r])] += problem.model.weight[r];
  }
  return out;
}

// The invariants of the header, and that nothing was lost or invented.
void check_dataset(const Problem& problem, Folding folding) {
  const Dataset data = fuzz::make_dataset(problem, folding);
  const brute_force::Solver brute(problem.model);
  CHECK_EQUAL(data.n_rows(), problem.model.x.size());
  CHECK_EQUAL(data.n_features(), problem.model.n_columns());
  CHECK_EQUAL(data.rows_folded(), folding.rows);
  CHECK(contents(data) == expected_contents(problem, data));

  std::size_t n_words = 0, n_rows = 0;
  std::int64_t weight = 0;
  std::set<std::vector<std::int32_t>> patterns;
  for (const maptree::Segment& segment : data.segments()) {
    CHECK_EQUAL(segment.first_word, n_words);
    CHECK_EQUAL(segment.n_words, maptree::words_for(segment.n_rows));
    CHECK(segment.n_rows > 0 && segment.weight > 0);
    CHECK_EQUAL(segment.weight, std::accumulate(segment.counts.begin(), segment.counts.end(), 0));
    const auto present = std::count_if(segment.counts.begin(), segment.counts.end(),
                                       [](std::int32_t c) { return c > 0; });
    CHECK_EQUAL(segment.impure, present > 1);
    CHECK_EQUAL(segment.unit_class >= 0, segment.weight == 1);
    if (segment.weight == 1)
      CHECK_EQUAL(segment.counts[static_cast<std::size_t>(segment.unit_class)], 1);
    CHECK(patterns.insert(segment.counts).second);
    n_words += segment.n_words;
    n_rows += segment.n_rows;
    weight += static_cast<std::int64_t>(segment.n_rows) * segment.weight;
  }
  CHECK_EQUAL(data.n_words(), n_words);
  CHECK_EQUAL(data.n_distinct_rows(), n_rows);
  CHECK_EQUAL(data.total_weight(), weight);
  if (folding.rows) CHECK_EQUAL(contents(data).size(), n_rows);

  // By row and by column say the same; slots without a row are 0 in every column.
  const RowSet all = data.all_rows();
  for (std::size_t slot = 0; slot < data.n_words() * 64; ++slot) {
    const bool there = ((all.word(slot / 64) >> (slot % 64)) & 1) != 0;
    for (std::size_t c = 0; c < data.n_columns(); ++c) {
      const int bit = static_cast<int>((data.column(c)[slot / 64] >> (slot % 64)) & 1);
      CHECK_EQUAL(bit, there ? value(data, slot, c) : 0);
    }
  }
  CHECK_EQUAL(data.varying_columns(all), static_cast<long>(brute.varying(brute.all()).size()));
  CHECK_EQUAL(total_multiplicity(data), data.varying_columns(all));

  // Counts and |V| of the sides of every column, against brute force.
  std::vector<std::int64_t> counts(problem.model.n_classes());
  RowSet part;
  for (std::size_t c = 0; c < data.n_columns(); ++c) {
    for (int side = 0; side < 2; ++side) {
      part.assign_side(all, data.column(c), side);
      const brute_force::Set rows = brute.side(brute.all(), data.original(c), side);
      data.count(part, counts);
      CHECK(std::equal(counts.begin(), counts.end(), brute.counts(rows).begin()));
      CHECK_EQUAL(data.varying_columns(part), static_cast<long>(brute.varying(rows).size()));
    }
  }
}

constexpr Folding all_foldings[] = {{true, true}, {true, false}, {false, true}, {false, false}};

}  // namespace

TEST(equal_and_complementary_columns_are_one) {
  const Problem problem =
      table({{0, 1, 0, 1, 0}, {1, 0, 1, 1, 0}, {1, 0, 1, 1, 1}, {0, 1, 0, 1, 1}}, {0, 0, 1, 1});
  const Dataset data = fuzz::make_dataset(problem);
  CHECK_EQUAL(data.n_columns(), 2u);  // 0 with 1 and 2; 3 is constant; 4
  CHECK_EQUAL(data.multiplicity(0), 3);
  CHECK_EQUAL(data.original(0), 0u);
  CHECK_EQUAL(data.multiplicity(1), 1);
  CHECK_EQUAL(data.original(1), 4u);
  const Dataset apart = fuzz::make_dataset(problem, {true, false});
  CHECK_EQUAL(apart.n_columns(), 4u);
  CHECK_EQUAL(total_multiplicity(apart), 4);
}

TEST(rows_of_weight_zero_do_not_keep_columns_apart) {
  // Without the first and last row columns 0 and 1 are equal, 2 their complement, 3 constant.
  const Problem problem =
      table({{0, 1, 0, 1}, {0, 0, 1, 0}, {1, 1, 0, 0}, {0, 1, 0, 1}}, {0, 0, 1, 1}, {0, 1, 2, 0});
  const Dataset data = fuzz::make_dataset(problem);
  CHECK_EQUAL(data.n_columns(), 1u);
  CHECK_EQUAL(data.multiplicity(0), 3);
  CHECK_EQUAL(data.n_distinct_rows(), 2u);
  CHECK_EQUAL(data.total_weight(), 3);
}

TEST(identical_rows_are_one_row_with_a_pattern) {
  const Problem problem = table({{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 1}, {0, 0}},
                                {0, 1, 1, 0, 0, 0}, {1, 1, 1, 3, 1, 2});
  const Dataset data = fuzz::make_dataset(problem);
  CHECK_EQUAL(data.n_distinct_rows(), 3u);
  const Contents found = contents(data);
  CHECK(found.at({0, 0}) == (std::vector<long>{3, 1}));
  CHECK(found.at({0, 1}) == (std::vector<long>{0, 1}));
  CHECK(found.at({1, 1}) == (std::vector<long>{4, 0}));
  const Dataset apart = fuzz::make_dataset(problem, {false, true});
  CHECK_EQUAL(apart.n_distinct_rows(), 9u);
  CHECK_EQUAL(apart.segments().size(), 2u);  // one per class
}

TEST(every_number_of_rows_is_packed_whole) {
  Random random(11);
  for (const std::size_t n : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 127u, 128u, 129u, 200u})
    for (const std::size_t f : {0u, 1u, 5u, 31u, 32u, 33u, 70u})
      for (const Folding folding : all_foldings) check_dataset(random_table(random, n, f), folding);
}

TEST(random_tables_keep_their_contents) {
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    Problem problem;
    problem.model = fuzz::random_model(
        random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide, fuzz::Shape::shallow}));
    for (const Folding folding : all_foldings) check_dataset(problem, folding);
  }
}

TEST(keys_tell_sets_apart_wherever_they_differ) {
  // The published hash took row 63 for row 127. Rows here are distinct and of one class, so that
  // slots are rows.
  Random random(13);
  Problem problem = random_table(random, 200, 40);
  std::fill(problem.model.y.begin(), problem.model.y.end(), 0);
  const Dataset data = fuzz::make_dataset(problem);
  CHECK_EQUAL(data.n_distinct_rows(), 200u);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::set<std::uint64_t> high, low;
  RowSet base(data.n_words());
  for (const std::size_t slot : {5u, 70u, 130u}) base.insert(slot);
  std::size_t n = 0;
  for (std::size_t a = 0; a < 200; ++a) {
    for (std::size_t b = a + 1; b < 200; ++b) {
      if ((a % 64 != 63 || b % 64 != 63) && !random.chance(0.2)) continue;
      RowSet rows = base;
      rows.insert(a);
      rows.insert(b);
      const maptree::RowKey key = data.key(rows);
      const bool within = a == 5 || a == 70 || a == 130 || b == 5 || b == 70 || b == 130;
      if (within) continue;
      ++n;
      seen.insert({key.high, key.low});
      high.insert(key.high);
      low.insert(key.low);
    }
  }
  CHECK_EQUAL(seen.size(), n);
  CHECK_EQUAL(high.size(), n);
  CHECK_EQUAL(low.size(), n);
}

TEST(keys_of_two_sides_make_the_key_of_the_whole) {
  Random random(14);
  const Dataset data = fuzz::make_dataset(random_table(random, 150, 6));
  RowSet zero, one;
  for (std::size_t c = 0; c < data.n_columns(); ++c) {
    zero.assign_side(data.all_rows(), data.column(c), 0);
    one.assign_side(data.all_rows(), data.column(c), 1);
    maptree::RowKey sum = data.key(zero);
    sum ^= data.key(one);
    CHECK(sum == data.key(data.all_rows()));
    CHECK(!(data.key(zero) == data.key(one)));
  }
}

TEST(dataset_refuses_a_callers_mistakes) {
  const std::uint8_t byte = 1;
  const std::vector<std::int32_t> labels = {0, 1};
  const std::vector<std::int64_t> none;
  const auto make = [&](maptree::PackedTable packed, std::vector<std::int32_t> y,
                        std::vector<std::int64_t> w, int k) { return Dataset(packed, y, w, k); };
  const maptree::PackedTable good = {&byte, 2, 1, 1};
  CHECK_EQUAL(make(good, labels, none, 2).n_columns(), 1u);
  CHECK_THROWS(std::invalid_argument, make({&byte, 0, 1, 1}, {}, none, 2));
  CHECK_THROWS(std::invalid_argument,
               make({&byte, 9, 1, 1}, std::vector<std::int32_t>(9), none, 2));
  CHECK_THROWS(std::invalid_argument, make(good, labels, none, 0));
  CHECK_THROWS(std::invalid_argument, make(good, {0}, none, 2));
  CHECK_THROWS(std::invalid_argument, make(good, {0, 2}, none, 2));
  CHECK_THROWS(std::invalid_argument, make(good, {0, -1}, none, 2));
  CHECK_THROWS(std::invalid_argument, make(good, labels, {1}, 2));
  CHECK_THROWS(std::invalid_argument, make(good, labels, {1, -1}, 2));
  CHECK_THROWS(std::invalid_argument, make(good, labels, {0, 0}, 2));
  CHECK_THROWS(std::invalid_argument, make(good, labels, {1, maptree::max_total_weight}, 2));
  CHECK_THROWS(std::invalid_argument, make(good, labels, {INT64_MAX, INT64_MAX}, 2));
  CHECK_EQUAL(make(good, labels, {1, maptree::max_total_weight - 1}, 2).total_weight(),
              maptree::max_total_weight);
}

TEST(packing_reads_every_layout_and_names_the_bad_value) {
  Random random(15);
  for (const std::size_t n : {1u, 8u, 9u, 511u, 512u, 513u, 1100u}) {
    constexpr std::size_t n_columns = 3;
    std::vector<double> by_row(n * n_columns), by_column(n * n_columns);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n_columns; ++c)
        by_row[r * n_columns + c] = by_column[c * n + r] = random.below(2);
    std::vector<std::uint8_t> bits, other;
    CHECK(!maptree::pack_columns<double>({by_row.data(), n, n_columns, n_columns, 1}, bits));
    CHECK(!maptree::pack_columns<double>(
        {by_column.data(), n, n_columns, 1, static_cast<std::int64_t>(n)}, other));
    CHECK(bits == other);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n_columns; ++c)
        CHECK_EQUAL((bits[c * ((n + 7) / 8) + r / 8] >> (r % 8)) & 1, by_row[r * n_columns + c]);
    by_row[(n - 1) * n_columns + 1] = 0.5;
    const auto bad =
        maptree::pack_columns<double>({by_row.data(), n, n_columns, n_columns, 1}, bits);
    CHECK(bad && bad->row == n - 1 && bad->column == 1 && bad->value == 0.5);
  }
}
