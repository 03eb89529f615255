// NodeView: the columns of a node are those that part its rows, each partition once.
#include "scan/node_view.hpp"

#include <numeric>
#include <set>
#include <utility>

#include "check.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Random;
using maptree::Word;

// Equal columns are found by a hash of 32 bits. Among so many some that differ have the same, as
// good as surely, whatever the hash is.
TEST(columns_of_the_same_hash_are_told_apart) {
  constexpr std::size_t n_rows = 64, n_columns = 128 * 2500 + 70;  // and a part of a tile
  Random random(55);
  maptree::PackedTable table(n_rows, n_columns);
  std::set<Word> partitions;  // the rows where a column has another value than in the first
  for (std::size_t c = 0; c < n_columns; ++c) {
    const Word word = table.column(c)[0] = random.next();
    partitions.insert((word & 1) != 0 ? ~word : word);
  }
  const maptree::Dataset data(std::move(table), std::vector<std::int32_t>(n_rows), {}, 1);
  const maptree::Posterior posterior({0.95, 0.5, {1}}, data);
  const maptree::Bounds bounds(posterior, data, {});
  maptree::Options options;
  options.pair_expansion = false;
  maptree::NodeView view(data, bounds, options);
  CHECK(view.load(data.all_rows(), maptree::no_watch()));
  CHECK_EQUAL(view.columns().size(), partitions.size());
  CHECK_EQUAL(view.varying(), static_cast<std::int64_t>(n_columns));
}

// At whichever reading of the clock a view is stopped, it says so.
TEST(a_view_that_is_stopped_is_void) {
  Random random(60);
  for (int variant = 0; variant < 8; ++variant) {
    fuzz::Problem problem = workbench::noisy(random, 50, 9, 0.2, variant == 0 ? 40 : 2,
                                             [](const auto& row) { return row[0] ^ row[1]; });
    problem.model.rho.assign(variant == 0 ? 40 : 2, 0.5);
    if (variant == 1) problem.options.compact = false;
    if (variant == 2) problem.options.fold_columns = false;
    if (variant == 3) problem.options.fold_rows = false;
    if (variant == 4)  // impure groups
      for (auto& row : problem.model.x) std::fill(row.begin() + 4, row.end(), 0);
    if (variant == 5) problem.model.test_weight = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    if (variant > 5) {  // numbers, in one sum and in two
      problem.model.rho.resize(1);
      problem.model.outcome = brute_force::Outcome::numbers;
      for (int& label : problem.model.y)
        problem.model.amount.push_back(std::exchange(label, 0) * (variant == 6 ? 300 : 1 << 20));
    }
    const workbench::Bench bench(problem);
    maptree::NodeView view(bench.data, bench.bounds, bench.options);
    // Loaded, and then arranged; true unless stopped.
    const auto load = [&](const TurnedClock& clock) {
      maptree::Control control(clock.limits());
      maptree::Watch watch(control);
      const bool loaded = view.load(bench.data.all_rows(), watch);
      CHECK_EQUAL(loaded, !watch.stopped());
      if (!loaded) return false;
      std::vector<std::uint32_t> order(view.columns().size());
      std::iota(order.begin(), order.end(), 0u);
      const bool arranged = view.arrange(order, watch) != nullptr;
      CHECK_EQUAL(arranged, !watch.stopped());
      return arranged;
    };
    const TurnedClock counted;
    CHECK(load(counted));
    for (std::int64_t late_from = 0; late_from < counted.n_readings(); ++late_from)
      CHECK(!load(TurnedClock(late_from)));
  }
}

// Both sums of the rows on each side of every column, added up row by row, on random sets of rows;
// and the bracket of a side is that of these sums.
TEST(amounts_of_a_side_are_the_sums_of_its_rows) {
  Random random(62);
  int in_two = 0, flipped = 0;
  for (int round = 0; round < 400; ++round) {
    fuzz::Problem problem;
    problem.model = fuzz::random_model(
        random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide, fuzz::Shape::shallow}));
    fuzz::random_amounts(random, problem);
    problem.options.fold_rows = random.chance(0.7);
    problem.options.fold_columns = random.chance(0.7);
    problem.options.compact = random.chance(0.7);
    const workbench::Bench bench(problem);
    maptree::NodeView view(bench.data, bench.bounds, bench.options);
    for (int again = 0; again < 3; ++again) {  // the buffers of the node before are used again
      maptree::RowSet rows(bench.data.n_words());
      std::vector<std::size_t> slots;
      const double share = random.one_of({1.0, 0.6, 0.2});
      for (std::size_t w = 0; w < bench.data.n_words(); ++w)
        maptree::for_each_slot(bench.data.all_rows().word(w), w * 64, [&](std::size_t slot) {
          if (!random.chance(share)) return;
          rows.insert(slot);
          slots.push_back(slot);
        });
      if (slots.empty()) continue;
      CHECK(view.load(rows, maptree::no_watch()));
      std::int64_t all[2] = {0, 0}, sizes[2] = {0, 0};
      for (const std::size_t slot : slots)
        for (int v = 0; v < 2; ++v) {
          all[v] += bench.data.amounts(slot).of[v];
          sizes[v] += std::abs(bench.data.amounts(slot).of[v]);
        }
      in_two += static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) > 0x1p63;
      for (int v = 0; v < 2; ++v) CHECK_EQUAL(view.total().amounts[v], all[v]);
      maptree::SetCounts side;
      for (std::size_t c = 0; c < view.columns().size(); ++c) {
        const maptree::NodeView::Column& column = view.columns()[c];
        flipped += column.flipped;
        for (int value = 0; value < 2; ++value) {
          view.count_side(c, value, side);
          std::int64_t sums[2] = {0, 0}, n = 0;
          maptree::RowSet part(bench.data.n_words());
          for (const std::size_t slot : slots) {
            const Word word = bench.data.column(column.dataset)[slot / 64];
            if (static_cast<int>((word >> (slot % 64)) & 1) != (value ^ (column.flipped ? 1 : 0)))
              continue;
            part.insert(slot);
            ++n;
            for (int v = 0; v < 2; ++v) sums[v] += bench.data.amounts(slot).of[v];
          }
          for (int v = 0; v < 2; ++v) CHECK_EQUAL(side.amounts[v], sums[v]);
          std::vector<std::int64_t> counted(bench.data.n_sums());
          CHECK_EQUAL(bench.data.count(part, counted), n);
          CHECK_EQUAL(counted[0], std::int64_t{side.weight});
          const maptree::Bracket bracket = bench.bounds.bracket(side, 3);
          const maptree::Cost leaf = bench.posterior.leaf(counted);
          CHECK_EQUAL(
              bracket.upper.units(),
              (leaf + (side.distinct > 1 ? bench.posterior.stop(3) : maptree::Cost(0))).units());
          CHECK(maptree::Cost(0) <= bracket.lower && bracket.lower <= bracket.upper);
        }
      }
    }
    if (check::failures > 0) {
      fuzz::write(std::cout, problem);
      return;
    }
  }
  CHECK(in_two > 20 && flipped > 100);
}
