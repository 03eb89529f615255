// Results cross to Python as arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

// Hands a vector over to NumPy without a copy.
template <class T>
nanobind::object to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* owner = new std::vector<T>(std::move(values));
  nanobind::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::ndarray<nanobind::numpy, T>(owner->data(), shape.size(), shape.begin(), free)
      .cast();
}
