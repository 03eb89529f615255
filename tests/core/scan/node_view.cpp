// NodeView: the columns of a node are those that part its rows, each partition once.
#include "scan/node_view.hpp"

#include <numeric>
#include <set>

#include "check.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Random;
using maptree::Word;

// Equal columns are found by a hash of 32 bits. Among so many some that differ have the same, as
// good as surely, whatever the hash is.
TEST(columns_of_the_same_hash_are_told_apart) {
  constexpr std::size_t n_rows = 64, n_columns = 128 * 2500;  // whole tiles of a transposition
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
  for (int variant = 0; variant < 5; ++variant) {
    fuzz::Problem problem = workbench::noisy(random, 50, 9, 0.2, variant == 0 ? 40 : 2,
                                             [](const auto& row) { return row[0] ^ row[1]; });
    problem.model.rho.assign(variant == 0 ? 40 : 2, 0.5);
    if (variant == 1) problem.options.compact = false;
    if (variant == 2) problem.options.fold_columns = false;
    if (variant == 3) problem.options.fold_rows = false;
    if (variant == 4)  // impure groups
      for (auto& row : problem.model.x) std::fill(row.begin() + 4, row.end(), 0);
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
