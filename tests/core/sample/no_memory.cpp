// A sampler that is refused memory or a thread, at requests from the first to the last: it ends
// with std::bad_alloc or with samples whose best tree costs what they say, and no less than the
// cheapest of all. Which requests: refusals.hpp.
#include "check.hpp"
#include "problem.hpp"
#include "refusals.hpp"
#include "sample/mcmc.hpp"
#include "sample/smc.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using maptree::Dataset;

namespace {

template <class Sample>
void refuse_samples(const char* name, const Sample& sample) {
  fuzz::Random random(9);
  const auto rule = [](const std::vector<int>& row) { return (row[0] ^ row[1]) & row[2]; };
  const Problem problem = workbench::noisy(random, 60, 8, 0.2, 2, rule);
  const maptree::Prior prior = fuzz::make_prior(problem);
  const maptree::Cost best = workbench::run(problem).upper;
  const Dataset data = fuzz::make_dataset(problem, {.rows = true, .columns = false});
  refusals::Tally tally;
  for (const std::int64_t threads : {1, 2, 4})
    refusals::inject(
        tally, [&] { return sample(data, prior, maptree::Limits{.threads = threads}); },
        [&](const maptree::Samples& samples) { CHECK(samples.forest.cost(samples.best) >= best); });
  CHECK(tally.errors > 100);
  std::cout << name << ": " << tally.faults << " refusals, " << tally.errors << " errors\n";
}

}  // namespace

TEST(chains_with_threads_survive_refusals) {
  refuse_samples("chains", [](const auto& data, const auto& prior, const auto& limits) {
    maptree::McmcOptions options;
    options.n_chains = 4;
    options.n_samples = 60;
    options.burn_in = 30;
    return maptree::sample_mcmc(data, prior, options, limits);
  });
}

TEST(particles_with_threads_survive_refusals) {
  refuse_samples("particles", [](const auto& data, const auto& prior, const auto& limits) {
    maptree::SmcOptions options;
    options.n_islands = 4;
    options.n_particles = 20;
    return maptree::sample_smc(data, prior, options, limits);
  });
}
