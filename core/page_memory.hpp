// PageVector: a vector whose memory goes back to the system as soon as it is freed.
//
// Arrays as large as the table follow each other while a Dataset is made. malloc keeps what is
// freed of them, and the next one rarely fits into the hole: the process would hold three where two
// are alive. Large blocks are therefore taken from the system page by page.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

// The address sanitizer knows where its own blocks end, so it gets to see them.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_ADDRESS__)
#define MAPTREE_PAGES 1
#include <sys/mman.h>
#endif

namespace maptree {

template <class T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::size_t least_bytes = 1 << 16;  // below, a page more or less matters

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
#ifdef MAPTREE_PAGES
    if (n * sizeof(T) >= least_bytes) {
      void* const pages =
          mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      return static_cast<T*>(pages);
    }
#endif
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }

  void deallocate(T* memory, [[maybe_unused]] std::size_t n) {
#ifdef MAPTREE_PAGES
    if (n * sizeof(T) >= least_bytes) {
      munmap(memory, n * sizeof(T));
      return;
    }
#endif
    ::operator delete(memory);
  }

  bool operator==(const PageAllocator&) const { return true; }
};

template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace maptree
