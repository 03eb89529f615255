// A search that is refused memory or a thread, at requests from the first to the last: it ends with
// std::bad_alloc or with a tree whose certificate is true. Which requests: refusals.hpp.
#include "check.hpp"
#include "problem.hpp"
#include "refusals.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Dataset;
using maptree::Limits;
using maptree::Result;
using maptree::Status;

namespace {

std::vector<Problem> problems() {
  Random random(7);
  const auto rule = [](const std::vector<int>& row) { return (row[0] ^ row[1]) & row[2]; };
  std::vector<Problem> all;
  all.push_back(workbench::noisy(random, 60, 9, 0.3, 2, rule));
  all.push_back(workbench::noisy(random, 200, 7, 0.2, 2, rule));
  return all;
}

void refuse_searches(refusals::Tally& tally, const Problem& problem, const Limits& limits) {
  const Dataset data = fuzz::make_dataset(problem);
  const maptree::Prior prior = fuzz::make_prior(problem);
  const maptree::Options options = fuzz::make_options(problem);
  const maptree::Posterior posterior(prior, data);
  const Result best = maptree::search(data, prior, options, {});
  CHECK(best.status == Status::optimal);
  refusals::inject(
      tally, [&] { return maptree::search(data, prior, options, limits); },
      [&](const Result& found) {
        CHECK(found.lower <= best.upper && best.upper <= found.upper);
        CHECK(found.status != Status::optimal || found.upper == best.upper);
        CHECK(found.upper == maptree::score(found.tree, data, posterior).subtree[0]);
      });
}

}  // namespace

TEST(searches_with_threads_survive_refusals) {
  refusals::Tally tally;
  for (const Problem& problem : problems())
    for (const std::int64_t threads : {1, 2, 4})
      refuse_searches(tally, problem, {.threads = threads});
  CHECK(tally.faults > 500 && tally.errors > 400);
  std::cout << "searches: " << tally.faults << " refusals, " << tally.errors << " errors\n";
}

TEST(searches_with_threads_and_a_memory_limit_survive_refusals) {
  refusals::Tally tally;
  for (const Problem& problem : problems()) {
    const Result usual = workbench::run(problem);
    for (const std::int64_t threads : {1, 3})
      refuse_searches(
          tally, problem,
          {.max_expansions = 300, .memory_bytes = usual.peak_bytes * 3 / 4, .threads = threads});
  }
  CHECK(tally.errors > 100);
  std::cout << "within a limit: " << tally.faults << " refusals, " << tally.errors << " errors\n";
}

TEST(the_search_of_the_paper_survives_refusals) {
  refusals::Tally tally;
  for (Problem& problem : problems()) {
    problem.options.depth_first = false;
    refuse_searches(tally, problem, {});
    problem.options = maptree::Options::paper();
    refuse_searches(tally, problem, {.max_expansions = 100});
  }
  CHECK(tally.errors > 100);
  std::cout << "paper: " << tally.faults << " refusals, " << tally.errors << " errors\n";
}

TEST(datasets_survive_refusals) {
  refusals::Tally tally;
  Random random(8);
  const auto rule = [](const std::vector<int>& row) { return row[0]; };
  std::vector<Problem> all = problems();
  all.push_back(workbench::noisy(random, 3000, 300, 0.5, 3, rule));  // in pages
  all.back().model.rho = {1, 1, 1};
  for (Problem& problem : all) {
    std::vector<std::int32_t> labels(problem.model.y.begin(), problem.model.y.end());
    refusals::inject(
        tally,
        [&] {
          maptree::PackedTable table(problem.model.x.size(), problem.model.n_columns());
          for (std::size_t r = 0; r < table.n_rows; ++r)
            for (std::size_t c = 0; c < table.n_columns; ++c)
              if (problem.model.x[r][c] == 1)
                table.column(c)[r / 64] |= maptree::Word{1} << (r % 64);
          return Dataset(std::move(table), labels, {}, static_cast<int>(problem.model.n_classes()));
        },
        [&](const Dataset& data) { CHECK_EQUAL(data.n_rows(), problem.model.x.size()); });
  }
  CHECK(tally.errors > 50);
  std::cout << "datasets: " << tally.faults << " refusals, " << tally.errors << " errors\n";
}
