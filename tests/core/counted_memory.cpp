#include "counted_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "failing_memory.hpp"
#include "memory/page_memory.hpp"

namespace counted_memory {

namespace {

std::atomic<std::size_t> asked = 0, most = 0, all = 0;

void note_peak() {
  const std::size_t now = held();
  std::size_t before = most.load(std::memory_order_relaxed);
  while (now > before && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

// The size lies in front of the block, which keeps its alignment.
void* take(std::size_t bytes, std::size_t alignment) {
  if (failing_memory::strikes()) throw std::bad_alloc();
  const std::size_t front = alignment < 16 ? 16 : alignment;
  void* const memory =
      alignment <= 16
          ? std::malloc(bytes + front)
          : std::aligned_alloc(alignment, (bytes + front + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  char* const block = static_cast<char*>(memory) + front;
  *reinterpret_cast<std::size_t*>(block - sizeof(std::size_t)) = bytes;
  asked.fetch_add(bytes, std::memory_order_relaxed);
  all.fetch_add(bytes, std::memory_order_relaxed);
  note_peak();
  return block;
}

void give_back(void* block, std::size_t alignment) noexcept {
  if (block == nullptr) return;
  char* const at = static_cast<char*>(block);
  asked.fetch_sub(*reinterpret_cast<std::size_t*>(at - sizeof(std::size_t)),
                  std::memory_order_relaxed);
  std::free(at - (alignment < 16 ? 16 : alignment));
}

}  // namespace

std::size_t held() { return asked.load(std::memory_order_relaxed) + maptree::page_bytes(); }
std::size_t peak() {
  note_peak();
  return most.load(std::memory_order_relaxed);
}
std::size_t in_all() { return all.load(std::memory_order_relaxed); }
void start() {
  most.store(held(), std::memory_order_relaxed);
  all.store(0, std::memory_order_relaxed);
}

}  // namespace counted_memory

void* operator new(std::size_t bytes) { return counted_memory::take(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_memory::take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { counted_memory::give_back(block, 16); }
void operator delete(void* block, std::size_t) noexcept { counted_memory::give_back(block, 16); }
void operator delete(void* block, std::align_val_t alignment) noexcept {
  counted_memory::give_back(block, static_cast<std::size_t>(alignment));
}
void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
  counted_memory::give_back(block, static_cast<std::size_t>(alignment));
}
