// Sampling: what all chains or islands of one run share (clock, steps, best cost, trace), and the
// threads that advance them.
//
// Chains and islands are independent and draw from streams of their own, so what they return does
// not depend on how they are shared out; only the trace's times do.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "control/control.hpp"
#include "model/posterior.hpp"
#include "sample/samples.hpp"

namespace maptree {

// What the rows of all chains and the class counts of trees may take where no other limit is set.
inline constexpr std::int64_t most_sampling_bytes = std::int64_t{1} << 28;
// What is counted of a node of a tree: with thousands of classes a few hundred trees would take all
// memory, with few classes as many trees as are asked for are kept.
[[nodiscard]] constexpr std::size_t counted_per_node(std::size_t n_classes) {
  return n_classes <= 32 ? 0 : n_classes * sizeof(std::int64_t);
}
// The work that a run leaves for its end, where trees are merged, numbered, weighed and returned.
[[nodiscard]] constexpr std::int64_t owed_for_nodes(std::size_t n_nodes, std::size_t n_classes) {
  return static_cast<std::int64_t>(n_nodes * (40 + 10 * n_classes));
}
inline constexpr std::int64_t owed_for_tree = 400;
inline constexpr std::int64_t owed_for_sample = 20;
inline constexpr std::int64_t owed_for_iteration = 10;  // its cost
inline constexpr std::int64_t owed_for_particle = 200;  // and to make it

class Sampling {
 public:
  Sampling(const Limits& limits, const SamplingMonitor& monitor, std::int64_t total_steps)
      : control_(limits),
        total_steps_(total_steps),
        max_bytes_(limits.memory_bytes < 0 ? most_sampling_bytes : limits.memory_bytes) {
    if (monitor) control_.set_poll([this, monitor](double at) { return monitor(progress(at)); });
  }

  // Says that a tree of this cost was seen, `ahead` steps after those that were counted.
  void offer(Cost cost, std::int64_t ahead);
  // Counts memory that is held from now on, or is not any more.
  void hold(std::int64_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > max_bytes_) full_ = true;
  }
  // No more may be held: every task ends.
  [[nodiscard]] bool full() const { return full_.load(std::memory_order_relaxed); }
  void add_steps(std::int64_t n) { steps_.fetch_add(n, std::memory_order_relaxed); }

  [[nodiscard]] Control& control() { return control_; }
  [[nodiscard]] SamplingProgress progress(double seconds) const;
  // Once all threads are done.
  void write(Samples& samples) const;

 private:
  Control control_;
  const std::int64_t total_steps_;
  const std::int64_t max_bytes_;
  std::atomic<std::int64_t> bytes_ = 0;
  std::atomic<bool> full_ = false;
  std::atomic<std::int64_t> steps_ = 0;
  std::atomic<std::int64_t> best_ = Cost::infinity().units();
  std::mutex mutex_;  // of the trace
  std::vector<std::array<double, 3>> trace_;
};

// Calls advance(task, watch) for tasks 0 to n_tasks - 1, in turn, as long as it says that there is
// more to do and nothing stops; each task by one thread at a time.
using Advance = std::function<bool(std::size_t task, Watch& watch)>;
void share_out(Sampling& sampling, std::size_t n_tasks, const Advance& advance);

// Rows have to be folded: then two rows of a set are distinct, and it can be parted. Columns must
// not be: trees name the caller's own. Throws std::invalid_argument.
void check_folding(const Dataset& data);
// Fills in the lone leaf as the best tree, where there was no time for more.
void start_from_lone_leaf(Samples& samples, const Dataset& data, const Prior& prior,
                          Sampling& sampling);
// Throws std::logic_error where the best tree does not cost what is claimed for it.
void check_cost(const Samples& samples, const Dataset& data, const Posterior& posterior);

}  // namespace maptree
