// A clock that a test turns: it stands still for some readings, and then it is past every limit.
// So a run can be stopped anywhere, on any machine, and what it does until then can be counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "control/control.hpp"

class TurnedClock {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() - 1;

  // The reading of this number, from 0 on, is the first one past the limit.
  explicit TurnedClock(std::int64_t late_from = never) : state_(std::make_shared<State>()) {
    state_->late_from = late_from + 1;  // one is read when a run starts
  }

  // Limits under this clock. Every poll reads it, unless work_per_reading says otherwise.
  [[nodiscard]] maptree::Limits limits(maptree::Limits limits = {},
                                       std::int64_t work_per_reading = 0) const {
    limits.seconds = 1;
    limits.work_per_reading = work_per_reading;
    limits.clock = [state = state_] { return state->read++ < state->late_from ? 0.0 : 2.0; };
    return limits;
  }
  [[nodiscard]] std::int64_t n_readings() const { return state_->read - 1; }

 private:
  struct State {
    std::atomic<std::int64_t> read = 0;
    std::int64_t late_from = 0;
  };
  std::shared_ptr<State> state_;
};
