// Arena: memory in blocks of a few sizes, handed out from large chunks and taken back for reuse.
//
// Chunks grow to 2 MiB and are then aligned, so that the system can back them by huge pages:
// random access to the graph is faster, and giving gigabytes back at the end takes no time.
// What is counted is what was asked of the system, so a memory limit can be kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace maptree {

class Arena {
 public:
  // Blocks are multiples of `grain` bytes; the first chunk is a power of two.
  explicit Arena(std::size_t grain, std::size_t first_chunk = std::size_t{1} << 16)
      : grain_(grain), first_chunk_(first_chunk), note_(first_chunk / 16) {}

  [[nodiscard]] void* allocate(std::size_t bytes) {
    const std::size_t size_class = (bytes + grain_ - 1) / grain_;
    if (size_class < free_.size() && free_[size_class] != nullptr) {
      FreeBlock* block = free_[size_class];
      free_[size_class] = block->next;
      return block;
    }
    const std::size_t size = size_class * grain_;
    if (left_ < size) add_chunk(size);
    void* block = next_;
    next_ += size;
    left_ -= size;
    return block;
  }
  void release(void* block, std::size_t bytes) {
    const std::size_t size_class = (bytes + grain_ - 1) / grain_;
    if (size_class >= free_.size()) free_.resize(size_class + 1, nullptr);
    free_[size_class] = new (block) FreeBlock{free_[size_class]};
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // The most that allocate(bytes) could add to bytes().
  [[nodiscard]] std::size_t growth(std::size_t bytes) const {
    const std::size_t size = (bytes + grain_ - 1) / grain_ * grain_;
    return left_ >= size ? 0 : chunk_for(size, bytes_) + note_;
  }
  // The most that so many calls of it could.
  [[nodiscard]] std::size_t growth(std::size_t bytes, std::size_t count) const {
    const std::size_t size = (bytes + grain_ - 1) / grain_ * grain_;
    std::size_t more = 0;
    for (std::size_t left = left_; left / size < count;) {
      count -= left / size;
      left = chunk_for(size, bytes_ + more);
      more += left + note_;
    }
    return more;
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;

  struct FreeBlock {
    FreeBlock* next;
  };
  struct Free {
    void operator()(std::byte* chunk) const { std::free(chunk); }
  };

  // Large chunks are whole huge pages. The allocator keeps its note on each in a page of its own.
  [[nodiscard]] std::size_t chunk_for(std::size_t size, std::size_t held) const {
    const std::size_t grown = std::min(huge_page, std::max(first_chunk_, held));
    const std::size_t unit = std::max(grown, size) >= huge_page ? huge_page : first_chunk_;
    return (std::max(grown, size) + unit - 1) / unit * unit;
  }
  void add_chunk(std::size_t size) {
    const std::size_t chunk = chunk_for(size, bytes_);
#if defined(__linux__)
    void* memory = chunk >= huge_page ? std::aligned_alloc(huge_page, chunk) : std::malloc(chunk);
    if (memory == nullptr) throw std::bad_alloc();
    if (chunk >= huge_page) madvise(memory, chunk, MADV_HUGEPAGE);  // a wish, no more
#else
    void* memory = std::malloc(chunk);
    if (memory == nullptr) throw std::bad_alloc();
#endif
    chunks_.emplace_back(static_cast<std::byte*>(memory));
    next_ = chunks_.back().get();
    left_ = chunk;
    bytes_ += chunk + note_;
  }

  std::size_t grain_;
  std::size_t first_chunk_;
  std::size_t note_;  // what the allocator keeps on a chunk
  std::vector<std::unique_ptr<std::byte, Free>> chunks_;
  std::vector<FreeBlock*> free_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace maptree
