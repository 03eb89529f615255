// Team: the threads that work on a schedule's proofs, in addition to the caller's own.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "control/control.hpp"
#include "control/exceptions.hpp"
#include "prove/schedule.hpp"

namespace maptree {

class Team {
 public:
  Team(Schedule& schedule, const Dataset& data, const Posterior& posterior, const Bounds& bounds,
       const Options& options, Control& control, std::size_t n_helpers)
      : schedule_(schedule), control_(control) {
    for (std::size_t i = 0; i < n_helpers; ++i)
      helpers_.push_back(std::make_unique<Helper>(schedule, data, posterior, bounds, options));
  }
  // Where the system has no more threads or no memory for one, those there are will do.
  void start() {
    try {
      for (const auto& helper : helpers_)
        helper->thread = std::thread([this, at = helper.get()] { run(*at); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
  }
  // What went wrong in a thread goes on in the caller's; with the schedule's lock held.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  // Ends the run: threads stop at their next reading of the clock, a fraction of a millisecond.
  // Without the lock.
  void stop() {
    control_.end();
    for (const auto& helper : helpers_)
      if (helper->thread.joinable()) helper->thread.join();
  }
  // Once stopped. A lack of memory takes nothing from what was proved before; a collision does.
  void rethrow_collision() const {
    try {
      rethrow();
    } catch (const std::bad_alloc&) {
    }
  }
  ~Team() { stop(); }
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
    if (!ready_to_throw()) return;
    Watch watch(control_, false);
    auto lock = schedule_.lock();
    try {
      while (!watch.stop(1000) && !schedule_.is_over())
        schedule_.work(helper.prover, lock, slice, watch);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      schedule_.desk().broken = true;
      failure_ = std::current_exception();
    }
  }

  Schedule& schedule_;
  Control& control_;
  std::exception_ptr failure_;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace maptree
