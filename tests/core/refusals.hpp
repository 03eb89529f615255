// Runs something again and again, and refuses it another request for memory or a thread each time:
// first that one alone, then that one and all that follow. Of a run of many requests it refuses
// some, evenly spread; with MAPTREE_FAULTS=1000000 in the environment, every single one.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>

#include "check.hpp"
#include "counted_memory.hpp"
#include "failing_memory.hpp"

namespace refusals {

// ThreadSanitizer takes some milliseconds a thread.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::int64_t usual = 60;
#else
inline constexpr std::int64_t usual = 300;
#endif

struct Tally {
  std::int64_t faults = 0, errors = 0;  // refused requests, and those that became std::bad_alloc
};

// run() returns what is to be looked at by check(outcome), once memory is there again; or it throws
// std::bad_alloc. All that was taken must have been given back. At most `most` requests are refused
// in each of the two ways, or as many as MAPTREE_FAULTS says.
template <class Run, class Check>
void inject(Tally& tally, const Run& run, const Check& check, std::int64_t most = usual) {
  using failing_memory::Failure;
  using failing_memory::Then;
  if (const char* wanted = std::getenv("MAPTREE_FAULTS")) most = std::atoll(wanted);
  std::int64_t n_requests = 0;
  {
    const Failure never(-1, Then::goes_on);
    static_cast<void>(run());
    n_requests = Failure::n_requests();
  }
  const std::int64_t step = n_requests / most + 1;
  for (const Then then : {Then::goes_on, Then::is_gone}) {
    for (std::int64_t nth = 1; nth <= n_requests; nth += step) {
      const std::size_t before = counted_memory::held();
      ++tally.faults;
      try {
        const auto outcome = [&] {
          const Failure failure(nth, then);
          return run();
        }();
        check(outcome);
      } catch (const std::bad_alloc&) {
        ++tally.errors;
      }
      CHECK_EQUAL(counted_memory::held(), before);
    }
  }
}

}  // namespace refusals
