// Team: the threads that work on a schedule's proofs beside the caller's own.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "schedule.hpp"

namespace maptree {

class Team {
 public:
  Team(Schedule& schedule, const Dataset& data, const Posterior& posterior, const Bounds& bounds,
       const Options& options, std::size_t n_helpers)
      : schedule_(schedule) {
    for (std::size_t i = 0; i < n_helpers; ++i)
      helpers_.push_back(std::make_unique<Helper>(schedule, data, posterior, bounds, options));
  }
  void start() {
    for (const auto& helper : helpers_)
      helper->thread = std::thread([this, at = helper.get()] { run(*at); });
  }
  // Stops at the next poll, a fraction of a millisecond.
  ~Team() {
    over_ = true;
    for (const auto& helper : helpers_)
      if (helper->thread.joinable()) helper->thread.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // With the schedule's lock held.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& helper : helpers_) total += helper->expander_bytes + helper->prover.bytes();
    return total;
  }

 private:
  struct Helper {
    Helper(Schedule& schedule, const Dataset& data, const Posterior& posterior,
           const Bounds& bounds, const Options& options)
        : expander(data, posterior, bounds, options),
          expander_bytes(expander.bytes()),
          prover(data, posterior, expander, schedule.desk()) {}
    Expander expander;
    const std::size_t expander_bytes;  // constant, but not to be asked while its thread is at work
    Prover prover;
    std::thread thread;
  };

  void run(Helper& helper) {
    constexpr std::int64_t slice = 20'000'000;
    const auto stop = [this](std::int64_t) { return over_.load(std::memory_order_relaxed); };
    auto lock = schedule_.lock();
    while (!over_ && !schedule_.is_over()) schedule_.work(helper.prover, lock, slice, stop);
  }

  Schedule& schedule_;
  std::atomic<bool> over_ = false;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace maptree
