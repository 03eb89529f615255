#include "memory/page_memory.hpp"

#include <atomic>
#include <cstring>

// The address sanitizer knows where its own blocks end, so it gets to see them.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_ADDRESS__)
#define MAPTREE_PAGES 1
#include <sys/mman.h>
#endif

namespace maptree {

namespace {

// Not all systems have both.
[[maybe_unused]] constexpr std::size_t least_bytes = 1 << 16;  // below, a page more or less matters
[[maybe_unused]] constexpr std::size_t huge_page = std::size_t{1} << 21;
std::atomic<std::size_t> held = 0;

}  // namespace

std::size_t page_bytes() noexcept { return held.load(std::memory_order_relaxed); }

void* take_pages(std::size_t bytes) {
#ifdef MAPTREE_PAGES
  if (bytes >= least_bytes) {
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
#if defined(__linux__)
    if (bytes >= 4 * huge_page) madvise(pages, bytes, MADV_HUGEPAGE);  // a wish, no more
#endif
    held.fetch_add(bytes, std::memory_order_relaxed);
    return pages;
  }
#endif
  void* const memory = ::operator new(bytes);
  std::memset(memory, 0, bytes);
  return memory;
}

void give_pages(void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MAPTREE_PAGES
  if (bytes >= least_bytes) {
    munmap(memory, bytes);
    held.fetch_sub(bytes, std::memory_order_relaxed);
    return;
  }
#endif
  ::operator delete(memory);
}

}  // namespace maptree
