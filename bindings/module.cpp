// Python bindings. No algorithm lives here: arrays come in, results go out as arrays, the GIL is
// released while the core works. Signals and Python callbacks become a Monitor of the core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "data/pack.hpp"
#include "data/ranking.hpp"
#include "monitor.hpp"
#include "rivals.hpp"
#include "routing.hpp"
#include "samplers.hpp"
#include "scan/pair_kernel.hpp"
#include "search/search.hpp"
#include "status_names.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace maptree;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TestWeights = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Uses = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AmountsOfRows =
    nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::pair<const char*, Kernel> kernel_names[] = {{"avx512", Kernel::avx512},
                                                           {"avx2", Kernel::avx2},
                                                           {"plain", Kernel::plain},
                                                           {"auto", Kernel::automatic}};

Kernel kernel_named(const std::string& wanted) {
  for (const auto& [text, kernel] : kernel_names)
    if (wanted == text) return kernel;
  throw std::invalid_argument("kernel must be auto, avx512, avx2 or plain, not " + wanted);
}

std::vector<std::string> kernels() {
  std::vector<std::string> out;
  for (const auto& [text, kernel] : kernel_names)
    if (kernel != Kernel::automatic && kernel_available(kernel)) out.emplace_back(text);
  return out;
}

// None: a value is neither 0 nor 1.
std::optional<PackedTable> pack(const nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>& x) {
  const auto type = x.dtype();
  const Matrix matrix{x.data(), x.shape(0), x.shape(1), x.stride(0), x.stride(1)};
  const auto run = [&](auto zero) {
    nb::gil_scoped_release release;
    return pack_columns<decltype(zero)>(matrix);
  };
  if (type == nb::dtype<bool>() || type == nb::dtype<std::uint8_t>()) return run(std::uint8_t{});
  if (type == nb::dtype<std::int8_t>()) return run(std::int8_t{});
  if (type == nb::dtype<std::uint16_t>()) return run(std::uint16_t{});
  if (type == nb::dtype<std::int16_t>()) return run(std::int16_t{});
  if (type == nb::dtype<std::uint32_t>()) return run(std::uint32_t{});
  if (type == nb::dtype<std::int32_t>()) return run(std::int32_t{});
  if (type == nb::dtype<std::uint64_t>()) return run(std::uint64_t{});
  if (type == nb::dtype<std::int64_t>()) return run(std::int64_t{});
  if (type == nb::dtype<float>()) return run(float{});
  if (type == nb::dtype<double>()) return run(double{});
  throw nb::type_error("X must hold booleans, integers or floats of at most 64 bits");
}

void make_table(PackedTable* self, std::size_t n_rows, std::size_t n_columns) {
  if (n_rows > SIZE_MAX / 2 || n_columns > SIZE_MAX / std::max<std::size_t>(words_for(n_rows), 1))
    throw std::bad_array_new_length();
  new (self) PackedTable(n_rows, n_columns);
}

void write_columns(PackedTable& table, std::size_t first, const Bytes& columns) {
  const std::size_t bytes = (table.n_rows + 7) / 8;
  if (columns.shape(1) != bytes || first > table.n_columns ||
      columns.shape(0) > table.n_columns - first)
    throw nb::value_error("these columns do not fit into the table");
  if (bytes == 0) return;
  for (std::size_t c = 0; c < columns.shape(0); ++c)
    std::memcpy(table.column(first + c), columns.data() + c * bytes, bytes);
}

// As NumPy packs: bytes of a column end with its last row, the words of the next one come later.
nb::object take_columns(PackedTable& table) {
  auto* owner = new PageVector<Word>(std::move(table.words));
  nb::capsule free(owner, [](void* p) noexcept { delete static_cast<PageVector<Word>*>(p); });
  const std::size_t shape[] = {table.n_columns, (table.n_rows + 7) / 8};
  const std::int64_t strides[] = {
      static_cast<std::int64_t>(table.words_per_column() * sizeof(Word)), 1};
  table = PackedTable();
  return nb::ndarray<nb::numpy, std::uint8_t>(owner->data(), 2, shape, free, strides).cast();
}

nb::tuple rank(const Keys& keys, const std::optional<Weights>& weights) {
  if (weights && weights->shape(0) != keys.shape(0))
    throw nb::value_error("weights must have one entry a key");
  const auto w =
      weights ? std::span(weights->data(), weights->shape(0)) : std::span<const std::int64_t>();
  Ranking found;
  {
    nb::gil_scoped_release release;
    found = rank_values(std::span(keys.data(), keys.shape(0)), w);
  }
  const std::size_t n_values = found.ranks.size(), n_ranks = found.leaders.size();
  return nb::make_tuple(to_numpy(std::move(found.ranks), {n_values}),
                        to_numpy(std::move(found.leaders), {n_ranks}),
                        to_numpy(std::move(found.at_most), {n_ranks}));
}

nb::object levels(const Weights& below, std::int64_t total, std::int8_t last) {
  std::vector<std::int8_t> out(below.shape(0));
  find_levels(std::span(below.data(), below.shape(0)), total, last, out);
  return to_numpy(std::move(out), {below.shape(0)});
}

// Class numbers as bytes, or as 32 bits where there are more than 256 classes.
using ByteLabels = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Int32Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
void make_dataset(Dataset* self, PackedTable& table, const Array& labels,
                  const std::optional<Weights>& weights, int n_classes, bool fold_rows,
                  bool fold_columns, std::int64_t memory_limit, double seconds,
                  const std::optional<nb::callable>& clock,
                  const std::optional<TestWeights>& test_weights,
                  const std::vector<std::pair<Ranks, std::uint32_t>>& ordered,
                  const std::optional<Uses>& uses, const std::optional<AmountsOfRows>& amounts) {
  const Labels y(std::span(labels.data(), labels.shape(0)));
  const auto w =
      weights ? std::span(weights->data(), weights->shape(0)) : std::span<const std::int64_t>();
  std::vector<OrderedColumn> columns;
  std::size_t n_tests = table.n_columns;
  for (const auto& [ranks, n_ranks] : ordered) {
    columns.push_back({std::span(ranks.data(), ranks.shape(0)), n_ranks});
    n_tests += std::max(n_ranks, 1U) - 1;
  }
  if (test_weights && test_weights->shape(0) != n_tests)
    throw nb::value_error("test_weights must have one entry a test");
  const auto tests = test_weights ? std::span(test_weights->data(), test_weights->shape(0))
                                  : std::span<const std::uint32_t>();
  std::vector<Use> of_columns;
  for (std::size_t c = 0; uses && c < uses->shape(0); ++c) {
    if (uses->data()[c] > static_cast<std::uint8_t>(Use::nowhere))
      throw nb::value_error("uses are 0 (anywhere), 1 (below the root) and 2 (nowhere)");
    of_columns.push_back(static_cast<Use>(uses->data()[c]));
  }
  if (uses && of_columns.size() != table.n_columns + columns.size())
    throw nb::value_error("uses must have one entry a column");
  std::span<const Amounts> of_rows;
  if (amounts) of_rows = {reinterpret_cast<const Amounts*>(amounts->data()), amounts->shape(0)};
  Limits limits{.seconds = seconds};
  if (clock) limits.clock = call_clock(*clock);
  nb::gil_scoped_release release;
  Control control(limits);
  Watch watch(control);
  new (self) Dataset(std::exchange(table, {}), columns, y, w, n_classes, {fold_rows, fold_columns},
                     memory_limit < 0 ? SIZE_MAX : static_cast<std::size_t>(memory_limit), watch,
                     tests, of_columns, of_rows);
}

// For tests: multipliers of the words of row sets (row_keys.hpp), high and low, again and again.
using Multipliers =
    nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

void use_keys(Dataset& data, const Multipliers& multipliers) {
  std::vector<RowKey> keys(multipliers.shape(0));
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = {multipliers.data()[2 * i], multipliers.data()[2 * i + 1]};
  if (keys.empty()) throw nb::value_error("no multipliers");
  data.use_keys(RowKeys(keys, data.n_words()));
}

struct PyResult {
  Result core;
  Tree tree;  // without counts, as a search takes it
  nb::object trace, feature, left, right, counts, gain;
};

PyResult to_python(Result&& result, const Dataset& data) {
  PyResult out;
  out.core = std::move(result);
  Result& core = out.core;
  out.tree = {core.tree.feature, core.tree.left, core.tree.right, {}};
  std::vector<double> trace;
  for (const auto& row : core.trace) trace.insert(trace.end(), row.begin(), row.end());
  const std::size_t nodes = core.tree.feature.size();
  out.trace = to_numpy(std::move(trace), {core.trace.size(), 4});
  out.feature = to_numpy(std::move(core.tree.feature), {nodes});
  out.left = to_numpy(std::move(core.tree.left), {nodes});
  out.right = to_numpy(std::move(core.tree.right), {nodes});
  std::vector<double> gain(nodes);
  for (std::size_t i = 0; i < nodes; ++i)
    gain[i] = (core.scores.as_leaf[i] - core.scores.subtree[i]).nats();
  out.gain = to_numpy(std::move(gain), {nodes});
  out.counts = to_numpy(std::move(core.tree.counts), {nodes, data.n_sums()});
  return out;
}

PyResult run_search(const Dataset& data, const Prior& prior, const Options& options,
                    const Limits& limits, const std::optional<nb::callable>& on_progress,
                    const nb::list& known) {
  Raised raised;
  const Monitor monitor = watch_python<Progress>(on_progress, raised);
  std::vector<Tree> trees;
  for (const nb::handle result : known) trees.push_back(nb::cast<const PyResult&>(result).tree);
  Result found;
  {
    nb::gil_scoped_release release;
    found = search(data, prior, options, limits, monitor, trees);
  }
  raised.rethrow();
  return to_python(std::move(found), data);
}

nb::list run_sweep(const Dataset& data, const Prior& prior, const Options& options,
                   const Limits& limits, const std::optional<nb::callable>& on_progress) {
  Raised raised;
  const Monitor monitor = watch_python<Progress>(on_progress, raised);
  std::vector<Result> found;
  {
    nb::gil_scoped_release release;
    found = sweep_sizes(data, prior, options, limits, monitor);
  }
  raised.rethrow();
  nb::list out;
  for (Result& result : found) out.append(to_python(std::move(result), data));
  return out;
}

constexpr std::pair<const char*, bool Options::*> switches[] = {
    {"fold_columns", &Options::fold_columns},
    {"fold_rows", &Options::fold_rows},
    {"compact", &Options::compact},
    {"pair_expansion", &Options::pair_expansion},
    {"greedy_start", &Options::greedy_start},
    {"improve", &Options::improve},
    {"depth_first", &Options::depth_first},
    {"depth_transfer", &Options::depth_transfer},
    {"graded_proof", &Options::graded_proof},
    {"distinct_rows_bound", &Options::distinct_rows_bound},
    {"varying_bound", &Options::varying_bound},
    {"structure_bound", &Options::structure_bound},
    {"equivalent_rows_bound", &Options::equivalent_rows_bound},
    {"few_leaves_bound", &Options::few_leaves_bound}};

Options make_options(Options options, const nb::kwargs& kwargs) {
  for (const auto& [key, value] : kwargs) {
    const std::string field = nb::cast<std::string>(key);
    const auto* found = std::find_if(std::begin(switches), std::end(switches),
                                     [&](const auto& entry) { return field == entry.first; });
    if (found != std::end(switches))
      options.*(found->second) = nb::cast<bool>(value);
    else if (field == "max_depth")
      options.max_depth = nb::cast<std::int64_t>(value);
    else if (field == "min_samples_leaf")
      options.min_samples_leaf = nb::cast<std::int64_t>(value);
    else if (field == "max_leaves")
      options.max_leaves = nb::cast<std::int64_t>(value);
    else if (field == "leaf_price")
      options.leaf_price = nb::cast<double>(value);
    else if (field == "kernel")
      options.kernel = kernel_named(nb::cast<std::string>(value));
    else
      throw nb::type_error(("Options has no field " + field).c_str());
  }
  return options;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The core of maptree: search and samplers.";
  m.def("pack", &pack, "X"_a);
  m.def("rank", &rank, "keys"_a.noconvert(), "weights"_a.noconvert().none());
  m.def("levels", &levels, "below"_a.noconvert(), "total"_a, "last"_a);
  m.def("kernels", &kernels);

  nb::class_<PackedTable>(m, "PackedTable")
      .def("__init__", &make_table, "n_rows"_a, "n_columns"_a)
      .def("write", &write_columns, "first"_a, "columns"_a)
      .def("take", &take_columns)
      .def_ro("n_rows", &PackedTable::n_rows)
      .def_ro("n_columns", &PackedTable::n_columns)
      .def_prop_ro("n_bytes", &PackedTable::bytes);

  nb::class_<Dataset> dataset(m, "Dataset");
  const auto def_init = [&](auto init) {
    dataset.def("__init__", init, "table"_a, "labels"_a, "weights"_a.none(), "n_classes"_a,
                "fold_rows"_a = true, "fold_columns"_a = true, "memory_limit"_a = -1,
                "seconds"_a = HUGE_VAL, "clock"_a = nb::none(),
                "test_weights"_a.noconvert() = nb::none(), "ordered"_a = nb::make_tuple(),
                "uses"_a.noconvert() = nb::none(), "amounts"_a.noconvert() = nb::none());
  };
  def_init(&make_dataset<ByteLabels>);
  def_init(&make_dataset<Int32Labels>);
  dataset.def("use_keys", &use_keys, "multipliers"_a);
  dataset.def(
      "rows_beside",
      [](const Dataset& self, const std::vector<std::uint32_t>& tests) {
        return self.rows_beside(tests);
      },
      "tests"_a);
  dataset.def_prop_ro("n_rows", &Dataset::n_rows)
      .def_prop_ro("n_features", &Dataset::n_features)
      .def_prop_ro("n_classes", &Dataset::n_classes)
      .def_prop_ro("complete", &Dataset::complete)
      .def_prop_ro("n_distinct_rows", &Dataset::n_distinct_rows)
      .def_prop_ro("n_distinct_columns", &Dataset::n_columns)
      .def_prop_ro("total_weight", &Dataset::total_weight)
      .def_prop_ro("n_bytes", &Dataset::bytes)
      .def_prop_ro("peak_bytes", &Dataset::peak_bytes);

  nb::class_<Prior>(m, "Prior")
      .def(
          "__init__",
          [](Prior* self, double alpha, double beta, const Reals& rho) {
            new (self) Prior{alpha, beta, {rho.data(), rho.data() + rho.shape(0)}};
          },
          "alpha"_a, "beta"_a, "rho"_a)
      .def_static(
          "of_numbers",
          [](double alpha, double beta, double kappa, double nu, double lambda, double steps) {
            return Prior{alpha, beta, {1}, NumberLeaves{kappa, nu, lambda, steps}};
          },
          "alpha"_a, "beta"_a, "kappa"_a, "nu"_a, "lam"_a, "steps"_a)
      .def_static(
          "of_counts",
          [](double alpha, double beta, double shape, double rate, double units) {
            return Prior{alpha, beta, {1}, CountLeaves{shape, rate, units}};
          },
          "alpha"_a, "beta"_a, "shape"_a, "rate"_a, "units"_a);

  nb::class_<Options> options(m, "Options");
  options
      .def("__init__",
           [](Options* self, const nb::kwargs& kwargs) {
             new (self) Options(make_options(Options{}, kwargs));
           })
      .def_static("paper",
                  [](const nb::kwargs& kwargs) { return make_options(Options::paper(), kwargs); })
      .def_ro("max_depth", &Options::max_depth)
      .def_ro("min_samples_leaf", &Options::min_samples_leaf)
      .def_ro("max_leaves", &Options::max_leaves)
      .def_ro("leaf_price", &Options::leaf_price)
      .def_prop_ro("kernel", [](const Options& o) { return pair_kernel(o.kernel).name; });
  for (const auto& [field, member] : switches) options.def_ro(field, member);

  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, double seconds, std::int64_t max_expansions, std::int64_t memory,
             std::int64_t threads, double patience, double poll_seconds,
             const std::optional<nb::callable>& clock, std::int64_t work_per_reading) {
            new (self) Limits{seconds,  max_expansions, memory, threads,
                              patience, poll_seconds,   {},     work_per_reading};
            if (clock) self->clock = call_clock(*clock);
          },
          nb::kw_only(), "seconds"_a = HUGE_VAL, "max_expansions"_a = -1, "memory"_a = -1,
          "threads"_a = 1, "patience"_a = HUGE_VAL, "poll_seconds"_a = 0.05, "clock"_a = nb::none(),
          "work_per_reading"_a = Limits().work_per_reading);

  nb::class_<Progress>(m, "Progress")
      .def_ro("seconds", &Progress::seconds)
      .def_ro("expansions", &Progress::expansions)
      .def_ro("subproblems", &Progress::subproblems)
      .def_ro("bytes", &Progress::bytes)
      .def_ro("proved_depth", &Progress::proved_depth)
      .def_ro("leaves", &Progress::leaves)
      .def_prop_ro("lower", [](const Progress& p) { return p.lower.nats() + p.offset.nats(); })
      .def_prop_ro("upper", [](const Progress& p) { return p.upper.nats() + p.offset.nats(); });

  nb::class_<PyResult>(m, "Result")
      .def_prop_ro("status", [](const PyResult& r) { return name(r.core.status); })
      .def_prop_ro("lower",
                   [](const PyResult& r) { return r.core.lower.nats() + r.core.offset.nats(); })
      .def_prop_ro("upper",
                   [](const PyResult& r) { return r.core.upper.nats() + r.core.offset.nats(); })
      .def_prop_ro("proved_depth", [](const PyResult& r) { return r.core.proved_depth; })
      .def_prop_ro("expansions", [](const PyResult& r) { return r.core.expansions; })
      .def_prop_ro("subproblems", [](const PyResult& r) { return r.core.subproblems; })
      .def_prop_ro("seconds", [](const PyResult& r) { return r.core.seconds; })
      .def_prop_ro("peak_bytes", [](const PyResult& r) { return r.core.peak_bytes; })
      .def_prop_ro("clock_readings", [](const PyResult& r) { return r.core.clock.n_readings; })
      .def_prop_ro("most_work", [](const PyResult& r) { return r.core.clock.most_work; })
      .def_ro("trace", &PyResult::trace)
      .def_ro("feature", &PyResult::feature)
      .def_ro("left", &PyResult::left)
      .def_ro("right", &PyResult::right)
      .def_ro("counts", &PyResult::counts)
      .def_ro("gain", &PyResult::gain);

  m.def("search", &run_search, "dataset"_a, "prior"_a, "options"_a, "limits"_a,
        "on_progress"_a = nb::none(), "known"_a = nb::list());
  m.def("sweep_sizes", &run_sweep, "dataset"_a, "prior"_a, "options"_a, "limits"_a,
        "on_progress"_a = nb::none());
  add_rivals(m);
  add_routing(m);
  add_samplers(m);
}
