// Control: what stops a search. Work is counted; the clock is only read to stop, and to report.
//
// The core knows nothing of signals or Python: a monitor is called now and then with a report and
// stops the search by returning true. What a report says (but for its seconds) is the caller's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

#include "cost.hpp"

namespace maptree {

// How a search ended. Stopping is a result, not an error.
enum class Status { optimal, time_limit, memory_limit, expansion_limit, interrupted };

struct Limits {
  double seconds = std::numeric_limits<double>::infinity();  // from the construction of Control
  std::int64_t max_expansions = -1;                          // -1 = none
  std::int64_t memory_bytes = -1;                            // -1 = none
  std::int64_t threads = 1;
  double poll_seconds = 0.05;  // between calls of the monitor
};

struct Progress {
  double seconds = 0;
  std::int64_t expansions = 0;
  std::int64_t subproblems = 0;
  std::int64_t bytes = 0;
  Cost lower;
  Cost upper;
  std::int64_t proved_depth = 0;
  std::int64_t leaves = 0;  // of the best tree
};

template <class Report>
using MonitorOf = std::function<bool(const Report&)>;
using Monitor = MonitorOf<Progress>;

template <class Report>
class ControlOf {
 public:
  ControlOf(const Limits& limits, MonitorOf<Report> monitor)
      : limits_(limits), monitor_(std::move(monitor)), start_(Clock::now()) {}

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

  // True once the time is up or the monitor has asked to stop. `work` is in units of roughly
  // a nanosecond; the clock is looked at once for many calls. `progress` fills in the rest.
  template <class FillIn>
  bool stop(std::int64_t work, FillIn&& progress) {
    if (stopped_) return true;
    work_ += work;
    if (work_ < work_between_looks) return false;
    work_ = 0;
    const double now = seconds();
    if (now >= limits_.seconds) {
      reason_ = Status::time_limit;
      return stopped_ = true;
    }
    if (monitor_ && now >= next_poll_) {
      Report report = progress();
      report.seconds = now;
      if (monitor_(report)) {
        reason_ = Status::interrupted;
        stopped_ = true;
      }
      next_poll_ = seconds() + limits_.poll_seconds;
    }
    return stopped_;
  }
  // For other threads, which do not ask the monitor.
  [[nodiscard]] bool is_late() const { return seconds() >= limits_.seconds; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] Status reason() const { return reason_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t work_between_looks = 100'000;

  Limits limits_;
  MonitorOf<Report> monitor_;
  Clock::time_point start_;
  std::int64_t work_ = work_between_looks;  // the first call looks
  double next_poll_ = 0;
  bool stopped_ = false;
  Status reason_ = Status::time_limit;
};

using Control = ControlOf<Progress>;

}  // namespace maptree
