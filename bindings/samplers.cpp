#include "samplers.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "monitor.hpp"
#include "sample/mcmc.hpp"
#include "sample/moves.hpp"
#include "sample/smc.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace maptree;

namespace {

using Int32s = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TreeArrays = std::tuple<Int32s, Int32s, Int32s>;  // feature, left, right

const char* name(SamplingStatus status) {
  switch (status) {
    case SamplingStatus::complete:
      return "complete";
    case SamplingStatus::time_limit:
      return "time_limit";
    case SamplingStatus::memory_limit:
      return "memory_limit";
    case SamplingStatus::interrupted:
      return "interrupted";
  }
  return "";
}

template <class Enum, std::size_t n>
Enum named(const std::string& wanted, const char* what,
           const std::pair<const char*, Enum> (&names)[n]) {
  std::string allowed;
  for (const auto& [text, value] : names) {
    if (wanted == text) return value;
    allowed += (allowed.empty() ? "" : " or ") + std::string(text);
  }
  throw std::invalid_argument(std::string(what) + " must be " + allowed + ", not " + wanted);
}

Tree tree_of(const Int32s& feature, const Int32s& left, const Int32s& right) {
  const auto copy = [](const Int32s& values) {
    return std::vector<std::int32_t>(values.data(), values.data() + values.shape(0));
  };
  return {copy(feature), copy(left), copy(right), {}};
}

// Rows of different lengths as one matrix, which has to have a column at least.
template <class Out, class In, class Convert>
nb::object matrix(const std::vector<std::vector<In>>& rows, std::size_t n_columns, Out missing,
                  Convert&& convert) {
  std::vector<Out> values(rows.size() * n_columns, missing);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      values[r * n_columns + c] = convert(rows[r][c]);
  return to_numpy(std::move(values), {rows.size(), n_columns});
}

template <class T>
std::size_t longest(const std::vector<std::vector<T>>& rows) {
  std::size_t n = 0;
  for (const auto& row : rows) n = std::max(n, row.size());
  return n;
}

double log_posterior(Cost cost) { return 0.0 - cost.nats(); }  // not -0.0
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct PySamples {
  const char* status = "";
  double seconds = 0;
  ClockUse clock;
  std::size_t best = 0;
  nb::object trace, offsets, feature, left, right, counts, log_posterior, sample;
};
struct PyMcmcSamples : PySamples {
  nb::object log_posteriors, proposed, accepted;
};
struct PySmcSamples : PySamples {
  nb::object log_weights, log_evidence, resamplings;
};

void write_samples(PySamples& out, Samples& core, std::size_t n_classes) {
  out.status = name(core.status);
  out.seconds = core.seconds;
  out.clock = core.clock;
  out.best = core.best;
  std::vector<double> trace;
  for (const auto& [seconds, steps, cost] : core.trace) {
    trace.push_back(seconds);
    trace.push_back(steps);
    trace.push_back(0.0 - cost);
  }
  out.trace = to_numpy(std::move(trace), {core.trace.size(), 3});
  Forest::Arrays arrays = core.forest.take();
  const std::size_t n_trees = arrays.costs.size(), n_nodes = arrays.feature.size();
  out.offsets = to_numpy(std::move(arrays.offsets), {n_trees + 1});
  out.feature = to_numpy(std::move(arrays.feature), {n_nodes});
  out.left = to_numpy(std::move(arrays.left), {n_nodes});
  out.right = to_numpy(std::move(arrays.right), {n_nodes});
  out.counts = to_numpy(std::move(arrays.counts), {n_nodes, n_classes});
  std::vector<double> log_posteriors(n_trees);
  std::transform(arrays.costs.begin(), arrays.costs.end(), log_posteriors.begin(), log_posterior);
  out.log_posterior = to_numpy(std::move(log_posteriors), {n_trees});
  out.sample = matrix<std::int32_t>(core.sample, longest(core.sample), -1,
                                    [](std::int32_t tree) { return tree; });
}

nb::object by_move(const std::vector<std::array<std::int64_t, n_moves>>& chains) {
  std::vector<std::int64_t> values;
  for (const auto& chain : chains) values.insert(values.end(), chain.begin(), chain.end());
  return to_numpy(std::move(values), {chains.size(), n_moves});
}

PyMcmcSamples run_mcmc(const Dataset& data, const Prior& prior, std::int64_t n_samples,
                       std::int64_t burn_in, std::int64_t thin, std::int64_t n_chains,
                       std::uint64_t seed, const std::optional<TreeArrays>& initial,
                       const Limits& limits, const std::optional<nb::callable>& on_progress) {
  McmcOptions options{n_samples, burn_in, thin, n_chains, seed, {}};
  if (initial) options.initial = std::apply(tree_of, *initial);
  Raised raised;
  const auto monitor = watch_python<SamplingProgress>(on_progress, raised);
  McmcSamples core;
  {
    nb::gil_scoped_release release;
    core = sample_mcmc(data, prior, options, limits, monitor);
  }
  raised.rethrow();
  PyMcmcSamples out;
  out.log_posteriors = matrix(core.costs, longest(core.costs), nan, log_posterior);
  out.proposed = by_move(core.proposed);
  out.accepted = by_move(core.accepted);
  write_samples(out, core, static_cast<std::size_t>(data.n_classes()));
  return out;
}

PySmcSamples run_smc(const Dataset& data, const Prior& prior, std::int64_t n_particles,
                     std::int64_t n_islands, const std::string& proposal, const std::string& growth,
                     const std::string& resampling, double ess_threshold, std::uint64_t seed,
                     const Limits& limits, const std::optional<nb::callable>& on_progress) {
  const SmcOptions options{
      n_particles,
      n_islands,
      named<SmcProposal>(proposal, "proposal",
                         {{"prior", SmcProposal::prior}, {"optimal", SmcProposal::optimal}}),
      named<SmcGrowth>(growth, "growth", {{"node", SmcGrowth::node}, {"level", SmcGrowth::level}}),
      named<Resampling>(
          resampling, "resampling",
          {{"systematic", Resampling::systematic}, {"multinomial", Resampling::multinomial}}),
      ess_threshold,
      seed};
  Raised raised;
  const auto monitor = watch_python<SamplingProgress>(on_progress, raised);
  SmcSamples core;
  {
    nb::gil_scoped_release release;
    core = sample_smc(data, prior, options, limits, monitor);
  }
  raised.rethrow();
  PySmcSamples out;
  const std::size_t n_all = core.log_weights.size();
  std::vector<double> log_evidence;
  for (const auto& island : core.log_weights)
    log_evidence.push_back(island.empty() ? nan : log_sum_exp(island));
  // Of islands that were not started there is nothing to return, and there may be thousands.
  std::erase_if(core.log_weights, [](const auto& island) { return island.empty(); });
  std::erase_if(core.sample, [](const auto& island) { return island.empty(); });
  out.log_weights = matrix(core.log_weights, longest(core.log_weights),
                           -std::numeric_limits<double>::infinity(), [](double w) { return w; });
  out.log_evidence = to_numpy(std::move(log_evidence), {n_all});
  out.resamplings = to_numpy(std::move(core.resamplings), {n_all});
  write_samples(out, core, static_cast<std::size_t>(data.n_classes()));
  return out;
}

}  // namespace

void add_samplers(nb::module_& m) {
  nb::class_<SamplingProgress>(m, "SampleProgress")
      .def_ro("seconds", &SamplingProgress::seconds)
      .def_ro("steps", &SamplingProgress::steps)
      .def_ro("total_steps", &SamplingProgress::total_steps)
      .def_prop_ro("log_posterior",
                   [](const SamplingProgress& p) { return log_posterior(p.cost); });

  nb::class_<PySamples>(m, "Samples")
      .def_ro("status", &PySamples::status)
      .def_ro("seconds", &PySamples::seconds)
      .def_prop_ro("clock_readings", [](const PySamples& s) { return s.clock.n_readings; })
      .def_prop_ro("most_work", [](const PySamples& s) { return s.clock.most_work; })
      .def_ro("trace", &PySamples::trace)
      .def_ro("offsets", &PySamples::offsets)
      .def_ro("feature", &PySamples::feature)
      .def_ro("left", &PySamples::left)
      .def_ro("right", &PySamples::right)
      .def_ro("counts", &PySamples::counts)
      .def_ro("log_posterior", &PySamples::log_posterior)
      .def_ro("best", &PySamples::best)
      .def_ro("sample", &PySamples::sample);
  nb::class_<PyMcmcSamples, PySamples>(m, "McmcSamples")
      .def_ro("log_posteriors", &PyMcmcSamples::log_posteriors)
      .def_ro("proposed", &PyMcmcSamples::proposed)
      .def_ro("accepted", &PyMcmcSamples::accepted);
  nb::class_<PySmcSamples, PySamples>(m, "SmcSamples")
      .def_ro("log_weights", &PySmcSamples::log_weights)
      .def_ro("log_evidence", &PySmcSamples::log_evidence)
      .def_ro("resamplings", &PySmcSamples::resamplings);

  m.def("sample_mcmc", &run_mcmc, "dataset"_a, "prior"_a, nb::kw_only(), "n_samples"_a, "burn_in"_a,
        "thin"_a, "n_chains"_a, "seed"_a, "initial"_a = nb::none(), "limits"_a,
        "on_progress"_a = nb::none());
  m.def("sample_smc", &run_smc, "dataset"_a, "prior"_a, nb::kw_only(), "n_particles"_a,
        "n_islands"_a, "proposal"_a, "growth"_a, "resampling"_a, "ess_threshold"_a, "seed"_a,
        "limits"_a, "on_progress"_a = nb::none());
}
