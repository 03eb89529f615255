#include "sample/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "control/exceptions.hpp"

namespace maptree {

void Sampling::offer(Cost cost, std::int64_t ahead) {
  if (cost.units() >= best_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (cost.units() >= best_.load(std::memory_order_relaxed)) return;
  best_.store(cost.units(), std::memory_order_relaxed);
  auto steps = static_cast<double>(steps_.load(std::memory_order_relaxed) + ahead);
  // Other threads' steps are counted now and then, so a later one may look earlier.
  if (!trace_.empty()) steps = std::max(steps, trace_.back()[1]);
  trace_.push_back({control_.seconds(), steps, cost.nats()});
}

SamplingProgress Sampling::progress(double seconds) const {
  SamplingProgress report;
  report.seconds = seconds;
  report.steps = steps_.load(std::memory_order_relaxed);
  report.total_steps = total_steps_;
  report.cost = Cost(best_.load(std::memory_order_relaxed));
  return report;
}

void Sampling::write(Samples& samples) const {
  if (full()) samples.status = SamplingStatus::memory_limit;
  if (control_.stopped())
    samples.status = control_.reason() == Status::interrupted ? SamplingStatus::interrupted
                                                              : SamplingStatus::time_limit;
  samples.seconds = control_.seconds();
  samples.clock = control_.clock_use();
  samples.trace = trace_;
  const SamplingProgress last = progress(samples.seconds);
  samples.trace.push_back({last.seconds, static_cast<double>(last.steps), last.cost.nats()});
}

namespace {

// Tasks in turn: one that has more to do goes to the end of the queue.
class Queue {
 public:
  explicit Queue(std::size_t n_tasks) : n_left_(n_tasks) {
    for (std::size_t task = 0; task < n_tasks; ++task) waiting_.push_back(task);
  }

  // Works until nothing waits, or the watch says stop.
  void work(const Advance& advance, Watch& watch) {
    while (!watch.poll(0)) {
      std::size_t task = 0;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return;
        task = waiting_.front();
        waiting_.pop_front();
      }
      const bool more = advance(task, watch);
      const std::lock_guard lock(mutex_);
      if (more)
        waiting_.push_back(task);
      else
        --n_left_;
      changed_.notify_all();
    }
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }
  // True once nothing is left to do; waits a little for a change.
  bool done() {
    std::unique_lock lock(mutex_);
    if (n_left_ == 0 || failure_) return true;
    if (waiting_.empty()) changed_.wait_for(lock, std::chrono::milliseconds(2));
    return n_left_ == 0 || failure_ != nullptr;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> waiting_;
  std::size_t n_left_;  // waiting or being worked on
  std::exception_ptr failure_;
};

}  // namespace

void share_out(Sampling& sampling, std::size_t n_tasks, const Advance& advance) {
  Queue queue(n_tasks);
  const auto help = [&] {
    if (!ready_to_throw()) return;
    try {
      Watch watch(sampling.control(), false);
      queue.work(advance, watch);
    } catch (...) {
      queue.fail(std::current_exception());
      sampling.control().end();
    }
  };
  std::vector<std::thread> helpers;
  const auto wanted =
      static_cast<std::size_t>(std::max<std::int64_t>(sampling.control().limits().threads, 1));
  helpers.reserve(std::min(wanted, n_tasks));
  try {
    while (helpers.size() + 1 < std::min(wanted, n_tasks)) helpers.emplace_back(help);
  } catch (const std::system_error&) {  // those there are will do
  } catch (const std::bad_alloc&) {
  }
  try {
    Watch watch(sampling.control());
    do queue.work(advance, watch);
    while (!queue.done() && !watch.check());
  } catch (...) {
    queue.fail(std::current_exception());
  }
  sampling.control().end();
  for (std::thread& helper : helpers) helper.join();
  queue.rethrow();
}

void check_folding(const Dataset& data) {
  bool folded = false;
  for (std::size_t c = 0; c < data.n_columns(); ++c)
    folded = folded || data.multiplicity(c) != data.test_weight(c);
  if (!data.rows_folded() || folded)
    throw std::invalid_argument("samplers need a dataset with rows folded and columns not folded");
  if (data.ordered().n_columns() > 0)
    throw std::invalid_argument("samplers need packed answers, not the ranks of ordered columns");
  if (data.has_amounts())
    throw std::invalid_argument("samplers draw trees for classes, not for numbers or counts");
  if (data.restricted())
    throw std::invalid_argument("samplers draw trees that may test every column everywhere");
}

void start_from_lone_leaf(Samples& samples, const Dataset& data, const Prior& prior,
                          Sampling& sampling) {
  const Cost cost = lone_leaf_cost(prior, data);
  const std::int32_t leaf = -1;
  samples.forest.add({&leaf, 1}, data.class_totals(), cost);
  sampling.offer(cost, 0);
  sampling.write(samples);
  if (samples.status == SamplingStatus::complete) samples.status = SamplingStatus::time_limit;
}

void check_cost(const Samples& samples, const Dataset& data, const Posterior& posterior) {
  const Tree tree = samples.forest.tree_without_counts(samples.best);
  if (score(tree, data, posterior).subtree[0] != samples.forest.cost(samples.best))
    throw std::logic_error("the best tree does not have the cost that was claimed for it");
}

}  // namespace maptree
