#include "rivals.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <tuple>

#include "arrays.hpp"
#include "monitor.hpp"
#include "rivals/rivals.hpp"
#include "status_names.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace maptree;

namespace {

// Cost, feature, left, right, counts, gain.
using PyRival = std::tuple<double, nb::object, nb::object, nb::object, nb::object, nb::object>;

struct PyRivals {
  RivalList core;
  std::vector<PyRival> trees;
};

PyRival to_python(Rival&& rival, std::size_t n_sums) {
  const std::size_t nodes = rival.tree.feature.size();
  std::vector<double> gain(nodes);
  for (std::size_t i = 0; i < nodes; ++i)
    gain[i] = (rival.scores.as_leaf[i] - rival.scores.subtree[i]).nats();
  return {rival.cost.nats() + rival.offset.nats(),
          to_numpy(std::move(rival.tree.feature), {nodes}),
          to_numpy(std::move(rival.tree.left), {nodes}),
          to_numpy(std::move(rival.tree.right), {nodes}),
          to_numpy(std::move(rival.tree.counts), {nodes, n_sums}),
          to_numpy(std::move(gain), {nodes})};
}

PyRivals run(const Dataset& data, const Prior& prior, const Options& options, std::int64_t most,
             double within, const Limits& limits, const std::optional<nb::callable>& on_progress,
             const std::optional<nb::callable>& accept) {
  const std::size_t n_sums = data.n_sums();
  // More than any two costs differ by is no limit.
  RivalWish wish{most, within < 1e8 ? Cost::nearest(within) : Cost::infinity()};
  if (accept)
    wish.accept = [&](const Rival& rival) {
      nb::gil_scoped_acquire acquire;
      return nb::cast<bool>(nb::bool_((*accept)(to_python(Rival(rival), n_sums))));
    };
  Raised raised;
  const RivalMonitor monitor = watch_python<RivalProgress>(on_progress, raised);
  PyRivals out;
  {
    nb::gil_scoped_release release;
    out.core = find_rivals(data, prior, options, wish, limits, monitor);
  }
  raised.rethrow();
  for (Rival& rival : out.core.rivals) out.trees.push_back(to_python(std::move(rival), n_sums));
  return out;
}

}  // namespace

void add_rivals(nb::module_& m) {
  nb::class_<RivalProgress>(m, "RivalProgress")
      .def_ro("seconds", &RivalProgress::seconds)
      .def_ro("expansions", &RivalProgress::expansions)
      .def_ro("bytes", &RivalProgress::bytes)
      .def_ro("found", &RivalProgress::found)
      .def_ro("examined", &RivalProgress::examined)
      .def_prop_ro("best", [](const RivalProgress& p) { return p.best.nats() + p.offset.nats(); })
      .def_prop_ro("complete",
                   [](const RivalProgress& p) { return p.complete.nats() + p.offset.nats(); });

  nb::class_<PyRivals>(m, "Rivals")
      .def_prop_ro("status", [](const PyRivals& r) { return name(r.core.status); })
      .def_prop_ro("complete",
                   [](const PyRivals& r) { return r.core.complete.nats() + r.core.offset.nats(); })
      .def_prop_ro("best",
                   [](const PyRivals& r) { return r.core.best.nats() + r.core.offset.nats(); })
      .def_prop_ro("examined", [](const PyRivals& r) { return r.core.examined; })
      .def_prop_ro("expansions", [](const PyRivals& r) { return r.core.expansions; })
      .def_prop_ro("first_expansions", [](const PyRivals& r) { return r.core.first_expansions; })
      .def_prop_ro("seconds", [](const PyRivals& r) { return r.core.seconds; })
      .def_prop_ro("peak_bytes", [](const PyRivals& r) { return r.core.peak_bytes; })
      .def_ro("trees", &PyRivals::trees);

  m.def("rivals", &run, "dataset"_a, "prior"_a, "options"_a, "most"_a, "within"_a, "limits"_a,
        "on_progress"_a = nb::none(), "accept"_a = nb::none());
}
