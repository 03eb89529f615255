// Control: what stops a run. Watch: how its loops learn of it.
//
// Work is counted, in units of roughly a nanosecond. The clock is read once for every
// Limits::work_per_reading of it, and decides nothing but when to stop and when to report. The
// core knows nothing of signals or Python: a monitor is called now and then, on the caller's own
// thread, and stops the run by returning true.
//
// Use: every loop that may take long says what it is about to do and leaves when told to:
//   for (...) { if (watch.stop(work)) return false; ... }
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace maptree {

// How a search ended. Stopping is a result, not an error.
enum class Status { optimal, time_limit, memory_limit, expansion_limit, patience, interrupted };

struct Limits {
  double seconds = std::numeric_limits<double>::infinity();  // from the construction of Control
  std::int64_t max_expansions = -1;                          // -1 = none
  std::int64_t memory_bytes = -1;                            // -1 = none
  std::int64_t threads = 1;
  // Where a proof is out of sight, a search ends at this multiple of the improver's work until it
  // found the tree; infinite = never (depth_first, improve)
  double patience = std::numeric_limits<double>::infinity();
  double poll_seconds = 0.05;  // between calls of the monitor

  // For tests: another clock, in seconds, which every thread may call; and how often it is read.
  std::function<double()> clock = {};
  std::int64_t work_per_reading = 100'000;
};

// How often the clock was read, and the most work that a thread did between two readings. A loop
// says no more at once than most_work_at_once, and some units a row of the table.
struct ClockUse {
  std::int64_t n_readings = 0;
  std::int64_t most_work = 0;
};
inline constexpr std::int64_t most_work_at_once = 2'000'000;

// What a caller is told from time to time; true: stop.
template <class Report>
using MonitorOf = std::function<bool(const Report&)>;

class Control {
 public:
  explicit Control(const Limits& limits);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // What is called with the time, every poll_seconds, on the caller's thread; true: stop.
  void set_poll(std::function<bool(double seconds)> poll) { poll_ = std::move(poll); }

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] double seconds() const { return now() - start_; }
  // Whether time or monitor ended the run, and which.
  [[nodiscard]] bool stopped() const { return stopped_.load() != Stop::no; }
  [[nodiscard]] Status reason() const {
    return stopped_.load() == Stop::interrupted ? Status::interrupted : Status::time_limit;
  }
  // Says that this much work is left for after the run, whenever it stops: it stops earlier by
  // that.
  void owe(std::int64_t work) { owed_.fetch_add(work, std::memory_order_relaxed); }
  // All threads must return: the run is over.
  void end() { over_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] ClockUse clock_use() const { return {n_readings_.load(), most_work_.load()}; }

 private:
  friend class Watch;
  enum class Stop { no, late, interrupted };

  [[nodiscard]] double now() const;
  // True: stop. Reads the clock, and asks the monitor where it may.
  bool read(bool callers_thread);
  void note(std::int64_t work_unread);

  const Limits limits_;
  std::function<bool(double)> poll_;
  const double start_;
  double next_poll_ = 0;
  std::atomic<Stop> stopped_ = Stop::no;
  std::atomic<bool> over_ = false;
  std::atomic<std::int64_t> owed_ = 0;
  std::atomic<std::int64_t> n_readings_ = 0;
  std::atomic<std::int64_t> most_work_ = 0;
};

// One a thread. Once it has said stop, it says so always. A Watch of nothing never stops.
class Watch {
 public:
  Watch() = default;
  explicit Watch(Control& control, bool callers_thread = true)
      : control_(&control),
        callers_thread_(callers_thread),
        limit_(control.limits().work_per_reading),
        unread_(limit_) {}  // the first call reads the clock
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Says what work is done next; true: do not. It counts for work().
  bool stop(std::int64_t work) {
    work_ += work;
    return poll(work);
  }
  // The same for work that does not.
  bool poll(std::int64_t work) {
    unread_ += work;
    if (unread_ < limit_) [[likely]]
      return stopped_;
    return read(work);
  }
  // Reads the clock at once: after a wait, which does not count as work.
  bool check() { return control_ != nullptr && read(0); }
  // Counts work that is told piece by piece to poll().
  void count(std::int64_t work) { work_ += work; }

  [[nodiscard]] bool stopped() const { return stopped_; }
  // What was counted so far. Schedules go by it, so it does not depend on any clock.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  bool read(std::int64_t next);

  Control* control_ = nullptr;
  bool callers_thread_ = false;
  bool stopped_ = false;
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t unread_ = 0;  // since the clock was last read
  std::int64_t work_ = 0;
  bool first_ = true;
};

// For callers who do not want to stop anything.
inline Watch& no_watch() {
  static thread_local Watch nothing;
  return nothing;
}

}  // namespace maptree
