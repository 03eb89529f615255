// Results cross to Python as arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

// Hands a vector over to NumPy without a copy.
template <class T, class Allocator>
nanobind::object to_numpy(std::vector<T, Allocator>&& values,
                          std::initializer_list<std::size_t> shape) {
  using Vector = std::vector<T, Allocator>;
  auto* owner = new Vector(std::move(values));
  nanobind::capsule free(owner, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return nanobind::ndarray<nanobind::numpy, T>(owner->data(), shape.size(), shape.begin(), free)
      .cast();
}
