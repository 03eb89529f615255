#include "prove/schedule.hpp"

#include <algorithm>
#include <utility>

namespace maptree {

namespace {

// The proof of everything is in sight if it needs at most this multiple of the work done so far.
// At first nothing can be told, and many proofs are there soon.
constexpr double in_sight = 16;
constexpr std::int64_t at_first = 100'000'000;
// The proof that comes second gets one part in this number.
constexpr std::int64_t share_of_second = 8;

}  // namespace

Schedule::Schedule(const Dataset& data, const Posterior& posterior, const Options& options,
                   std::int64_t max_expansions)
    : data_(data),
      posterior_(posterior),
      options_(options),
      desk_(posterior.test_costs()),
      whole_(std::make_unique<Proof>(data, posterior, options, depth_limit(options))) {
  desk_.max_expansions = max_expansions;
}

void Schedule::limit_leaves(std::uint32_t leaves) {
  if (desk_.broken || whole_->leaves == leaves) return;
  const Cost known = lower();
  done_.reserve(done_.size() + 2);  // where memory is refused, nothing has happened yet
  auto limited = std::make_unique<Proof>(data_, posterior_, options_, depth_limit(options_),
                                         Proof::Pace::evenly, leaves);
  limited->known = known;  // of all trees, so of these as well
  retire(std::exchange(whole_, std::move(limited)));
  if (graded_ != nullptr) retire(std::move(graded_));
}

// A prover may still stand on it.
void Schedule::retire(std::unique_ptr<Proof> proof) {
  if (proof->root != NodeId::none) std::erase(desk_.roots, proof->root);
  done_.push_back(std::move(proof));
}

void Schedule::drop_done() {
  std::erase_if(done_, [](const std::unique_ptr<Proof>& proof) { return proof->users == 0; });
}

void Schedule::set_goal(Cost goal) {
  goal_ = goal;
  settle();
}

bool Schedule::is_open(const Proof& proof) const {
  if (proof.root == NodeId::none) return true;
  return !root(proof).solved() && root(proof).lower < goal_;
}

Cost Schedule::lower() const {
  if (is_deep_enough()) return goal_;
  return whole_->root == NodeId::none ? whole_->least() : root(*whole_).lower;
}

bool Schedule::is_over() const {
  return desk_.out_of_memory || desk_.out_of_expansions || desk_.broken || !is_open(*whole_) ||
         is_deep_enough();
}

Proof& Schedule::choose() {
  // The first expansion for everything is also the proof for the smallest depths.
  if (graded_ == nullptr || !is_open(*graded_)) return *whole_;
  if (!is_open(*whole_)) return *graded_;
  if (!out_of_sight()) return graded_work_ * share_of_second < work_done() ? *graded_ : *whole_;
  return whole_work_ * share_of_second < work_done() ? *whole_ : *graded_;
}

bool Schedule::out_of_sight() const {
  return work_done() >= at_first &&
         whole_->forecast(lower(), goal_) >= in_sight * double(work_done());
}

void Schedule::work(Prover& prover, std::unique_lock<std::mutex>& lock, std::int64_t work,
                    Watch& watch) {
  Proof& proof = choose();
  std::int64_t& sum = &proof == whole_.get() ? whole_work_ : graded_work_;
  sum += prover.advance(lock, proof, goal_, work, watch);
  settle();
}

void Schedule::settle() {
  if (desk_.broken) return;
  drop_done();
  done_.reserve(done_.size() + 1);
  if (!options_.graded_proof || whole_->root == NodeId::none || !root(*whole_).expanded) return;
  // Expanding the root tells all trees of depth two (one, where rows are not folded).
  if (graded_depth_ == 0 && options_.pair_expansion && root(*whole_).upper >= goal_ &&
      data_.ordered().n_columns() == 0)
    graded_depth_ = data_.rows_folded() ? 2 : 1;
  if (graded_ != nullptr && graded_->root != NodeId::none && root(*graded_).lower >= goal_) {
    graded_depth_ = graded_->limit;
    desk_.store.set_least_limit(graded_->limit + 1);
    retire(std::move(graded_));
  }
  proved_depth_ = std::max(proved_depth_, graded_depth_);
  drop_done();
  const auto next = static_cast<std::uint32_t>(graded_depth_ + 1);
  const bool makes_sense = next < depth_limit(options_) && next < posterior_.max_depth() &&
                           (whole_->leaves == any_leaves || next < whole_->leaves);
  if (graded_ == nullptr && done_.empty() && makes_sense)
    graded_ = std::make_unique<Proof>(data_, posterior_, options_, next, Proof::Pace::by_splits,
                                      whole_->leaves);
}

bool Schedule::read_cheaper(Prover& prover, Tree& tree) {
  if (desk_.broken) return false;
  const Proof* best = nullptr;
  for (const Proof* proof :
       {static_cast<const Proof*>(whole_.get()), static_cast<const Proof*>(graded_.get())}) {
    if (proof == nullptr || proof->root == NodeId::none || root(*proof).upper >= goal_) continue;
    if (best == nullptr || root(*proof).upper < root(*best).upper) best = proof;
  }
  if (best != nullptr) prover.read_tree(*best, tree);
  return best != nullptr;
}

std::size_t Schedule::bytes_for(const Dataset& data, const Options& options) {
  return Store::first_bytes() + (options.graded_proof ? 2 : 1) * Bounds::bytes_for(data);
}

std::size_t Schedule::bytes() const {
  // Of a second proof from the start: a limit is kept more easily where little grows.
  return desk_.store.bytes() +
         ((options_.graded_proof ? 2 : 1) + done_.size()) * whole_->bounds.bytes();
}

}  // namespace maptree
