#include "control/control.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "control/exceptions.hpp"

namespace maptree {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

bool ready_to_throw() noexcept {
  void* const volatile trial = std::malloc(4096);  // more than it takes; volatile: it is asked for
  std::free(trial);
  return trial != nullptr && std::uncaught_exceptions() >= 0;
}

Control::Control(const Limits& limits) : limits_(limits), start_(now()) {
  static_cast<void>(ready_to_throw());
}

double Control::now() const { return limits_.clock ? limits_.clock() : steady_seconds(); }

bool Control::read(bool callers_thread) {
  if (over_.load(std::memory_order_relaxed) || stopped()) return true;
  n_readings_.fetch_add(1, std::memory_order_relaxed);
  const double at = seconds();
  Stop none = Stop::no;
  if (at + 1e-9 * static_cast<double>(owed_.load(std::memory_order_relaxed)) >= limits_.seconds) {
    stopped_.compare_exchange_strong(none, Stop::late);
    return true;
  }
  if (!callers_thread || !poll_ || at < next_poll_) return false;
  const bool stop = poll_(at);
  next_poll_ = seconds() + limits_.poll_seconds;
  if (stop) stopped_.compare_exchange_strong(none, Stop::interrupted);
  return stop;
}

void Control::note(std::int64_t work_unread) {
  std::int64_t most = most_work_.load(std::memory_order_relaxed);
  while (work_unread > most && !most_work_.compare_exchange_weak(most, work_unread)) {
  }
}

Watch::~Watch() {
  if (control_ != nullptr && !first_) control_->note(unread_);
}

// The work that was just said is still to come.
bool Watch::read(std::int64_t next) {
  if (!std::exchange(first_, false)) control_->note(unread_ - next);
  unread_ = next;
  return stopped_ = stopped_ || control_->read(callers_thread_);
}

}  // namespace maptree
