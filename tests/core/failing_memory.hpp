// Memory and threads that the system refuses, where a test wants it to: the nth request from now on
// fails, or all from the nth on. Requests are those of operator new, of the page memory of large
// tables (where no sanitizer stands in front of it) and of new threads, in whatever thread.
#pragma once

#include <cstdint>

namespace failing_memory {

enum class Then { goes_on, is_gone };  // after the nth request

// From here to the end of the scope.
class Failure {
 public:
  Failure(std::int64_t nth, Then then);
  ~Failure();
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;

  [[nodiscard]] static std::int64_t n_requests();  // since it began
};

// Whether the request that is being made is to fail.
[[nodiscard]] bool strikes();

}  // namespace failing_memory
