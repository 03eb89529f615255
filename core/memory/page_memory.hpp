// PageVector: a vector for large tables. Its memory comes from the system page by page, so it
//
//   is 0 without being written: a page is made when it is first touched, so that a table can be
//   filled piece by piece with the clock read in between, and one that is never filled costs
//   nothing;
//   goes back to the system as soon as it is freed. malloc would keep it, and what is freed of one
//   table rarely has room for the next: the process would hold three where two are alive;
//   may be made of huge pages, which cost a fraction to make and to give back.
//
// Values are not initialised on their own: PageVector<T>(n) and resize(n) give zeros.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace maptree {

// Zeroed memory of any size, and what all of it comes to now.
[[nodiscard]] void* take_pages(std::size_t bytes);
void give_pages(void* memory, std::size_t bytes) noexcept;
[[nodiscard]] std::size_t page_bytes() noexcept;

template <class T>
struct PageAllocator {
  static_assert(std::is_trivial_v<T>);
  using value_type = T;

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(take_pages(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) { give_pages(memory, n * sizeof(T)); }
  // Where no value is given, memory stays as it is: 0.
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    if constexpr (sizeof...(Values) > 0) new (at) U(std::forward<Values>(values)...);
  }

  bool operator==(const PageAllocator&) const { return true; }
};

template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace maptree
