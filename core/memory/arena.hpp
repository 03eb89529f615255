// Arena: memory in blocks of a few sizes, handed out from large chunks and taken back for reuse.
//
// Chunks grow to 2 MiB and are then aligned, so that the system can back them by huge pages:
// random access to the graph is faster, and giving gigabytes back at the end takes no time.
// What is counted is what was asked of the system, so a memory limit can be kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
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
  [[nodiscard]] std::size_t growth(std::size_t bytes) const { return growth(bytes, 1); }
  // The most that `count` such calls could.
  [[nodiscard]] std::size_t growth(std::size_t bytes, std::size_t count) const {
    const std::size_t size = (bytes + grain_ - 1) / grain_ * grain_;
    if (size == 0) return 0;
    std::size_t more = 0;
    bool use_spare = spare_ != nullptr && size <= huge_page;
    for (std::size_t left = left_; left / size < count;) {
      count -= left / size;
      left = use_spare ? huge_page : chunk_for(size, bytes_ + more);
      if (!std::exchange(use_spare, false)) more += left + note_;
    }
    return more;
  }

  // The system clears memory when it is first written, a large chunk for a millisecond or more.
  // Threads that share an arena under a lock do that without it, and hand in a spare chunk.
  struct Free {
    std::align_val_t alignment;
    void operator()(std::byte* chunk) const { ::operator delete(chunk, alignment); }
  };
  using Chunk = std::unique_ptr<std::byte, Free>;
  [[nodiscard]] bool wants_spare() const {
    return spare_ == nullptr && bytes_ >= huge_page && left_ < huge_page / 2;
  }
  [[nodiscard]] std::size_t spare_bytes() const { return huge_page + note_; }
  [[nodiscard]] static Chunk make_spare() {
    Chunk made = new_chunk(huge_page);
    for (std::size_t i = 0; i < huge_page; i += 4096) made.get()[i] = std::byte{1};
    return made;
  }
  void take_spare(Chunk chunk) {
    spare_ = std::move(chunk);
    bytes_ += spare_bytes();
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;

  struct FreeBlock {
    FreeBlock* next;
  };

  // Large chunks are whole huge pages. The allocator keeps its note on each in a page of its own.
  [[nodiscard]] std::size_t chunk_for(std::size_t size, std::size_t held) const {
    const std::size_t grown = std::min(huge_page, std::max(first_chunk_, held));
    const std::size_t unit = std::max(grown, size) >= huge_page ? huge_page : first_chunk_;
    return (std::max(grown, size) + unit - 1) / unit * unit;
  }
  [[nodiscard]] static Chunk new_chunk(std::size_t bytes) {
    const std::align_val_t alignment{bytes >= huge_page ? huge_page : alignof(std::max_align_t)};
    void* const memory = ::operator new(bytes, alignment);
#if defined(__linux__)
    if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish, no more
#endif
    return Chunk(static_cast<std::byte*>(memory), Free{alignment});
  }
  // What may throw comes first: without memory, nothing has changed.
  void add_chunk(std::size_t size) {
    const bool use_spare = spare_ != nullptr && size <= huge_page;
    const std::size_t bytes = use_spare ? huge_page : chunk_for(size, bytes_);
    Chunk made = use_spare ? Chunk() : new_chunk(bytes);
    Chunk& to = chunks_.emplace_back();
    if (!use_spare) bytes_ += bytes + note_;
    to = std::move(use_spare ? spare_ : made);
    next_ = to.get();
    left_ = bytes;
  }

  std::size_t grain_;
  std::size_t first_chunk_;
  std::size_t note_;  // what the allocator keeps on a chunk
  std::vector<Chunk> chunks_;
  Chunk spare_;
  std::vector<FreeBlock*> free_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace maptree
