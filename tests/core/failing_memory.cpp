#include "failing_memory.hpp"

#include <atomic>

#if defined(__linux__)
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#endif

namespace failing_memory {

namespace {

std::atomic<bool> on = false, all = false;
std::atomic<std::int64_t> asked = 0, first = 0;

}  // namespace

bool strikes() {
  if (!on.load(std::memory_order_relaxed)) return false;
  const std::int64_t number = asked.fetch_add(1, std::memory_order_relaxed) + 1;
  return number == first.load(std::memory_order_relaxed) ||
         (number > first.load(std::memory_order_relaxed) && all.load(std::memory_order_relaxed));
}

Failure::Failure(std::int64_t nth, Then then) {
  asked = 0;
  first = nth;
  all = then == Then::is_gone;
  on = true;
}
Failure::~Failure() { on = false; }
std::int64_t Failure::n_requests() { return asked.load(); }

}  // namespace failing_memory

// The program's own functions come before those of the C library.
#if defined(__linux__)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  if (failing_memory::strikes()) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, argument);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  if (failing_memory::strikes()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  using Map = void* (*)(void*, std::size_t, int, int, int, off_t);
  static const auto map = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  return map(address, bytes, protection, flags, file, offset);
}
#endif
#endif
