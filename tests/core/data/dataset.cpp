// Dataset: what folding and packing must not change, and what they must.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "check.hpp"
#include "problem.hpp"
#include "search/search.hpp"
#include "turned_clock.hpp"

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
  return static_cast<int>((data.row(slot)[column / 8] >> (column % 8)) & 1u);
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
      counts.resize(static_cast<std::size_t>(data.n_classes()));
      for (const maptree::ClassWeight& part : segment.pattern)
        counts[static_cast<std::size_t>(part.k)] += part.weight;
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
  std::vector<std::vector<std::int32_t>> patterns;  // weights of all classes
  for (const maptree::Segment& segment : data.segments()) {
    CHECK_EQUAL(segment.first_word, n_words);
    CHECK_EQUAL(segment.n_words, maptree::words_for(segment.n_rows));
    CHECK(segment.n_rows > 0 && segment.weight > 0);
    std::vector<std::int32_t> weights(static_cast<std::size_t>(data.n_classes()));
    for (const maptree::ClassWeight& part : segment.pattern) {
      CHECK(part.weight > 0 && weights[static_cast<std::size_t>(part.k)] == 0);
      weights[static_cast<std::size_t>(part.k)] = part.weight;
    }
    CHECK_EQUAL(segment.weight, std::accumulate(weights.begin(), weights.end(), 0));
    CHECK(std::is_sorted(segment.pattern.begin(), segment.pattern.end(),
                         [](const auto& a, const auto& b) { return a.k < b.k; }));
    CHECK_EQUAL(segment.impure(), segment.pattern.size() > 1);
    CHECK_EQUAL(segment.unit_class >= 0, segment.weight == 1);
    if (segment.weight == 1) CHECK_EQUAL(weights[static_cast<std::size_t>(segment.unit_class)], 1);
    // In the order of the weights, class by class, and each once.
    CHECK(patterns.empty() || patterns.back() < weights);
    patterns.push_back(weights);
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
  CHECK_EQUAL(data.varying_weight(all), static_cast<long>(brute.varying(brute.all()).size()));
  CHECK_EQUAL(total_multiplicity(data), data.varying_weight(all));

  // Counts and |V| of the sides of every column, against brute force.
  std::vector<std::int64_t> counts(data.n_sums());
  RowSet part;
  for (std::size_t c = 0; c < data.n_columns(); ++c) {
    for (int side = 0; side < 2; ++side) {
      part.assign_side(all, data.column(c), side);
      const brute_force::Set rows = brute.side(brute.all(), data.original(c), side);
      data.count(part, counts);
      CHECK(counts == brute.sums(rows));
      CHECK_EQUAL(data.varying_weight(part), static_cast<long>(brute.varying(rows).size()));
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

// A distinct row has what its rows add up to, weights counted; a set has what its rows do.
TEST(folded_rows_add_up_their_amounts) {
  Random random(18);
  for (int round = 0; round < 200; ++round) {
    Problem problem;
    problem.model = fuzz::random_model(
        random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide, fuzz::Shape::shallow}));
    fuzz::random_amounts(random, problem);
    const brute_force::Solver brute(problem.model);
    const std::vector<std::int64_t> all = brute.sums(brute.all());
    for (const Folding folding : all_foldings) {
      check_dataset(problem, folding);
      const Dataset data = fuzz::make_dataset(problem, folding);
      CHECK(data.has_amounts());
      CHECK_EQUAL(data.n_sums(), 3u);
      CHECK(data.totals() == all);
      for (std::size_t v = 0; v < 2; ++v) CHECK_EQUAL(data.amount_totals().of[v], all[v + 1]);
      // By what a row has in the columns that are kept: weight, and both sums.
      std::map<std::vector<int>, std::array<std::int64_t, 3>> found, right;
      for (std::size_t r = 0; r < problem.model.x.size(); ++r) {
        const long weight = problem.model.weight[r];
        if (weight == 0) continue;
        std::vector<int> row;
        for (std::size_t c = 0; c < data.n_columns(); ++c)
          row.push_back(problem.model.x[r][data.original(c)]);
        auto& to = right[row];
        to[0] += weight;
        to[1] += weight * problem.model.amount[r];
        to[2] += weight * problem.model.second(r);
      }
      const RowSet rows = data.all_rows();
      RowSet some(data.n_words());
      std::array<std::int64_t, 3> of_some = {0, 0, 0};
      for (std::size_t w = 0; w < data.n_words(); ++w)
        maptree::for_each_slot(rows.word(w), w * 64, [&](std::size_t slot) {
          RowSet lone(data.n_words());
          lone.insert(slot);
          std::array<std::int64_t, 3> sums{};
          CHECK_EQUAL(data.count(lone, sums), 1);
          for (std::size_t v = 0; v < 2; ++v) CHECK_EQUAL(sums[v + 1], data.amounts(slot).of[v]);
          std::vector<int> row;
          for (std::size_t c = 0; c < data.n_columns(); ++c) row.push_back(value(data, slot, c));
          for (std::size_t i = 0; i < 3; ++i) found[row][i] += sums[i];
          if (!random.chance(0.4)) return;
          some.insert(slot);
          for (std::size_t i = 0; i < 3; ++i) of_some[i] += sums[i];
        });
      CHECK(found == right);
      std::array<std::int64_t, 3> counted{};
      data.count(some, counted);
      CHECK(counted == of_some);
      // Values are of rows that are not folded, each once.
      std::map<std::int64_t, std::int64_t> values;
      for (std::size_t r = 0; r < problem.model.x.size(); ++r)
        if (problem.model.weight[r] > 0) values[problem.model.amount[r]] += problem.model.weight[r];
      CHECK(std::ranges::equal(data.values(), values, [](const auto& a, const auto& b) {
        return a.value == b.first && a.weight == b.second;
      }));
    }
  }
}

TEST(amounts_need_one_class_and_packed_columns) {
  const std::vector<maptree::Amounts> amounts(2, {{1, 1}}), few(1, {{1, 1}});
  const std::vector<std::uint32_t> ranks{0, 1};
  const std::vector<maptree::OrderedColumn> ordered{{ranks, 2}};
  const auto make = [&](const std::vector<maptree::OrderedColumn>& columns, int n_classes,
                        const std::vector<maptree::Amounts>& of) {
    maptree::PackedTable packed(2, 1);
    packed.column(0)[0] = 1;
    return Dataset(std::move(packed), columns, std::vector<std::int32_t>{0, 0}, {}, n_classes, {},
                   SIZE_MAX, maptree::no_watch(), {}, {}, of);
  };
  CHECK(make({}, 1, amounts).has_amounts());
  CHECK(!make({}, 1, {}).has_amounts());
  CHECK_EQUAL(make({}, 2, {}).n_sums(), 2u);
  CHECK_THROWS(std::invalid_argument, make({}, 2, amounts));
  CHECK_THROWS(std::invalid_argument, make({}, 1, few));
  CHECK_THROWS(std::invalid_argument, make(ordered, 1, amounts));
}

TEST(a_dataset_of_amounts_can_be_stopped_anywhere) {
  Random random(19);
  Problem problem = random_table(random, 150, 12);
  std::vector<maptree::Amounts> amounts;
  for (int& label : problem.model.y) {
    const std::int64_t z = std::exchange(label, 0) * 300 + random.below(50);
    amounts.push_back({{z, z * z}});
  }
  std::int64_t n_readings = 0;
  const auto make = [&](std::int64_t late_from) {
    maptree::PackedTable packed(150, 12);
    for (std::size_t r = 0; r < 150; ++r)
      for (std::size_t c = 0; c < 12; ++c)
        packed.column(c)[r / 64] |= static_cast<maptree::Word>(problem.model.x[r][c]) << (r % 64);
    const std::vector<std::int32_t> labels(problem.model.y.begin(), problem.model.y.end());
    maptree::Control control(TurnedClock(late_from).limits());
    maptree::Watch watch(control);
    Dataset made(std::move(packed), {}, labels, {}, 1, {}, SIZE_MAX, watch, {}, {}, amounts);
    n_readings = control.clock_use().n_readings;
    return made;
  };
  const maptree::Prior prior{0.95, 0.5, {1}, maptree::NumberLeaves{}};
  const Dataset whole = make(TurnedClock::never);
  CHECK(whole.complete());
  const maptree::Result leaf = maptree::search(whole, prior, {}, {.max_expansions = 0});
  const std::int64_t all = n_readings;
  for (std::int64_t late_from = 0; late_from < all; late_from += 1 + late_from / 40) {
    const Dataset data = make(late_from);
    CHECK(!data.complete());
    CHECK(data.totals() == whole.totals());
    CHECK(data.bytes() < 150 * 16 + 12 * 8 + 1000);  // values, and nothing that is of no use
    // The lone leaf, and no bound: densities have none.
    const maptree::Result result = maptree::search(data, prior, {}, {.seconds = 0});
    CHECK(result.status == maptree::Status::time_limit);
    CHECK_EQUAL(result.tree.feature.size(), 1u);
    CHECK(result.tree.counts == whole.totals());
    CHECK_EQUAL(result.lower.nats(), -std::numeric_limits<double>::infinity());
    CHECK_EQUAL(result.offset.units(), 0);
    CHECK(std::abs(result.upper.nats() - (leaf.scores.as_leaf[0] + leaf.offset).nats()) < 1e-6);
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

TEST(sets_of_few_rows_are_counted_like_others) {
  // Some rows are repeated, with other labels, so that there are several segments.
  Random random(18);
  Problem problem = random_table(random, 12000, 14);
  for (long& weight : problem.model.weight) weight = random.between(1L, 3L);
  const Dataset data = fuzz::make_dataset(problem);
  CHECK(data.segments().size() > 4 && data.n_words() >= 128);
  RowSet rows = data.all_rows(), part;
  std::vector<std::int64_t> counts(2), expected_counts(2);
  for (std::size_t c = 0; c < data.n_columns(); ++c) {
    part.assign_side(rows, data.column(c), static_cast<int>(c % 2));
    std::swap(rows, part);
    RowSet dense(data.n_words());
    for (std::size_t w = 0; w < data.n_words(); ++w)
      maptree::for_each_slot(rows.word(w), w * 64, [&](std::size_t slot) { dense.insert(slot); });
    CHECK(!dense.sparse());
    CHECK_EQUAL(data.count(rows, counts), data.count(dense, expected_counts));
    CHECK(counts == expected_counts);
    CHECK(data.key(rows) == data.key(dense));
    CHECK_EQUAL(data.varying_weight(rows), data.varying_weight(dense));
  }
  CHECK(rows.sparse());
  CHECK_EQUAL(data.varying_weight(rows), 0);  // one row at most is left

  maptree::Options options;
  const auto solve = [&] {
    return maptree::search(data, {0.95, 0.5, {2.5, 2.5}}, options, {.max_expansions = 40});
  };
  const maptree::Result compact = solve();
  options.compact = false;
  const maptree::Result whole = solve();
  CHECK_EQUAL(compact.upper.units(), whole.upper.units());
  CHECK_EQUAL(compact.lower.units(), whole.lower.units());
  CHECK(compact.tree.feature == whole.tree.feature);
}

TEST(the_key_of_one_side_gives_that_of_the_other) {
  Random random(14);
  const Dataset data = fuzz::make_dataset(random_table(random, 150, 6));
  RowSet zero, one;
  for (std::size_t c = 0; c < data.n_columns(); ++c) {
    zero.assign_side(data.all_rows(), data.column(c), 0);
    one.assign_side(data.all_rows(), data.column(c), 1);
    const maptree::RowKey all = data.key(data.all_rows());
    CHECK(data.key(zero) == maptree::key_of_rest(all, data.key(one)));
    CHECK(!(data.key(zero) == data.key(one)));
  }
}

TEST(dataset_refuses_a_callers_mistakes) {
  const std::vector<std::int32_t> labels = {0, 1};
  const std::vector<std::int64_t> none;
  const auto packed = [](std::size_t n_rows) {
    maptree::PackedTable out(n_rows, 1);
    if (n_rows > 0) out.words[0] = 1;
    return out;
  };
  const auto make = [&](std::size_t n_rows, std::vector<std::int32_t> y,
                        std::vector<std::int64_t> w,
                        int k) { return Dataset(packed(n_rows), y, w, k); };
  CHECK_EQUAL(make(2, labels, none, 2).n_columns(), 1u);
  CHECK_THROWS(std::invalid_argument, make(0, {}, none, 2));
  maptree::PackedTable taken = packed(2);
  taken.words.clear();
  CHECK_THROWS(std::invalid_argument, Dataset(taken, labels, none, 2));
  CHECK_THROWS(std::invalid_argument, make(2, labels, none, 0));
  CHECK_THROWS(std::invalid_argument, make(2, {0}, none, 2));
  CHECK_THROWS(std::invalid_argument, make(2, {0, 2}, none, 2));
  CHECK_THROWS(std::invalid_argument, make(2, {0, -1}, none, 2));
  CHECK_THROWS(std::invalid_argument, make(2, labels, {1}, 2));
  CHECK_THROWS(std::invalid_argument, make(2, labels, {1, -1}, 2));
  CHECK_THROWS(std::invalid_argument, make(2, labels, {0, 0}, 2));
  CHECK_THROWS(std::invalid_argument, make(2, labels, {1, maptree::max_total_weight}, 2));
  CHECK_THROWS(std::invalid_argument, make(2, labels, {INT64_MAX, INT64_MAX}, 2));
  CHECK_EQUAL(make(2, labels, {1, maptree::max_total_weight - 1}, 2).total_weight(),
              maptree::max_total_weight);
}

TEST(labels_of_a_byte_are_the_same_labels) {
  Random random(16);
  const Problem problem = random_table(random, 100, 6);
  const Dataset expected = fuzz::make_dataset(problem);
  const std::vector<std::uint8_t> bytes(problem.model.y.begin(), problem.model.y.end());
  maptree::PackedTable packed(100, 6);
  for (std::size_t r = 0; r < 100; ++r)
    for (std::size_t c = 0; c < 6; ++c)
      packed.column(c)[r / 64] |= static_cast<maptree::Word>(problem.model.x[r][c]) << (r % 64);
  const Dataset data(packed, std::span<const std::uint8_t>(bytes), {}, 2);
  CHECK(contents(data) == contents(expected));
  CHECK(data.class_totals() == expected.class_totals());
}

TEST(a_dataset_can_be_stopped_anywhere) {
  Random random(17);
  // Every column of the first is constant: whether one varies is known in any case.
  for (const int largest : {1, 2}) {
    Problem problem = random_table(random, 300, 40);
    for (auto& row : problem.model.x)
      for (int& value : row) value = std::min(value, largest - 1);
    const Dataset whole = fuzz::make_dataset(problem);
    std::int64_t n_readings = 0;
    const auto make = [&](std::int64_t late_from) {
      maptree::PackedTable packed(300, 40);
      for (std::size_t r = 0; r < 300; ++r)
        for (std::size_t c = 0; c < 40; ++c)
          packed.column(c)[r / 64] |= static_cast<maptree::Word>(problem.model.x[r][c]) << (r % 64);
      const std::vector<std::int32_t> labels(problem.model.y.begin(), problem.model.y.end());
      maptree::Control control(TurnedClock(late_from).limits());
      maptree::Watch watch(control);
      Dataset made(std::move(packed), labels, {}, 2, {}, SIZE_MAX, watch);
      n_readings = control.clock_use().n_readings;
      return made;
    };
    CHECK(make(TurnedClock::never).complete());
    const std::int64_t all = n_readings;
    CHECK(all > 1000);
    for (std::int64_t late_from = 0; late_from < all; late_from += 1 + late_from / 40) {
      const Dataset data = make(late_from);
      CHECK(!data.complete());
      CHECK_EQUAL(n_readings, late_from + 1);  // none after the first that is past the limit
      CHECK(data.class_totals() == whole.class_totals());
      CHECK_EQUAL(data.total_weight(), 300);
      CHECK_EQUAL(data.n_columns() > 0, whole.n_columns() > 0);
      CHECK(data.bytes() < 40 * 8 + 1000);  // nothing is held that is of no use
      const maptree::Result result =
          maptree::search(data, {0.95, 0.5, {2.5, 2.5}}, {}, {.seconds = 0});
      const maptree::Result expected =
          maptree::search(whole, {0.95, 0.5, {2.5, 2.5}}, {}, {.max_expansions = 0});
      CHECK(result.status == maptree::Status::time_limit);
      CHECK_EQUAL(result.tree.feature.size(), 1u);
      CHECK_EQUAL(result.lower.units(), 0);
      CHECK(std::abs(result.upper.nats() - expected.scores.as_leaf[0].nats()) < 1e-6);
    }
  }
}
