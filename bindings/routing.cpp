#include "routing.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "data/route.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace maptree;

namespace {

using Int32s = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::device::cpu>;
// Values, what is asked, the bound (one value of the same type), where values are missing.
using Test = std::tuple<Values, std::string, Values, std::optional<Flags>>;

Asks asks_named(const std::string& wanted) {
  if (wanted == "at most") return Asks::at_most;
  if (wanted == "equals") return Asks::equals;
  if (wanted == "missing") return Asks::is_nan;
  throw std::invalid_argument("a test asks at most, equals or missing, not " + wanted);
}

template <class T>
bool read_test(const Test& test, ColumnTest& out) {
  const auto& [values, asks, bound, missing] = test;
  if (values.dtype() != nb::dtype<T>()) return false;
  TestOf<T> read{static_cast<const T*>(values.data()), values.stride(0), asks_named(asks),
                 *static_cast<const T*>(bound.data())};
  if (missing) {
    read.missing = reinterpret_cast<const std::uint8_t*>(missing->data());
    read.missing_stride = missing->stride(0);
  }
  out = read;
  return true;
}

template <class... Types>
ColumnTest read_test(const Test& test, std::size_t n_rows, const std::variant<TestOf<Types>...>&) {
  const auto& [values, asks, bound, missing] = test;
  if (values.shape(0) != n_rows || (missing && missing->shape(0) != n_rows))
    throw nb::value_error("a column has another number of rows than the table");
  if (bound.shape(0) != 1 || bound.dtype() != values.dtype())
    throw nb::type_error("a bound is one value of the column's type");
  ColumnTest out;
  if (!(read_test<Types>(test, out) || ...))
    throw nb::type_error("a column must hold integers or floats of at most 64 bits");
  return out;
}

nb::object route_rows(std::size_t n_rows, const Int32s& test, const Int32s& no, const Int32s& yes,
                      const std::vector<Test>& tests) {
  std::vector<ColumnTest> read;
  for (const Test& one : tests) read.push_back(read_test(one, n_rows, ColumnTest()));
  const auto span = [](const Int32s& a) { return std::span(a.data(), a.shape(0)); };
  std::vector<std::int64_t> leaves(n_rows);
  {
    nb::gil_scoped_release release;
    route({span(test), span(no), span(yes)}, read, leaves);
  }
  return to_numpy(std::move(leaves), {n_rows});
}

}  // namespace

void add_routing(nb::module_& m) {
  m.def("route", &route_rows, "n_rows"_a, "test"_a, "no"_a, "yes"_a, "tests"_a);
}
