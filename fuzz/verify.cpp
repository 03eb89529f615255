#include "verify.hpp"

#include <exception>
#include <map>
#include <sstream>

#include "search/search.hpp"

namespace fuzz {

namespace {

using maptree::Cost;
using maptree::Result;
using maptree::Status;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
void require(bool good, const Parts&... parts) {
  if (good) return;
  std::ostringstream text;
  text.precision(17);
  (text << ... << parts);
  throw Wrong(text.str());
}

// With what all trees have in common.
double lower_of(const Result& result) { return result.lower.nats() + result.offset.nats(); }
double upper_of(const Result& result) { return result.upper.nats() + result.offset.nats(); }

class Verifier {
 public:
  explicit Verifier(const Problem& problem)
      : problem_(problem), data_(make_dataset(problem)), solver_(problem.model) {
    optimum_ = solver_.optimum();
    tolerance_ = tolerance_of(problem);
  }

  void run() {
    if (problem_.optimum)
      require(std::abs(*problem_.optimum - optimum_) < 1e-6, "brute force finds ", optimum_,
              ", the trace says ", *problem_.optimum);
    maptree::Limits limits = start_limits();
    const Result result = search(limits, problem_.stop_at_poll);
    check(result, limits, problem_.stop_at_poll >= 0);
    const bool repeats = problem_.stop_at_poll < 0 && limits.threads == 1;
    if (repeats && result.status != Status::time_limit) check_repeated(result, limits);
    check_plain_optimum(result);
  }

 private:
  [[nodiscard]] maptree::Limits start_limits() const {
    maptree::Limits limits;
    limits.poll_seconds = 0;
    limits.threads = std::max(1L, problem_.threads);
    if (problem_.spare_bytes >= 0) {
      limits.max_expansions = 0;
      limits.memory_bytes =
          maptree::search(data_, make_prior(problem_), make_options(problem_), limits).peak_bytes +
          problem_.spare_bytes;
      limits.seconds = 2;  // what has to be found again and again may take for ever
    }
    if (problem_.starved >= 0) limits.memory_bytes = 0;
    limits.max_expansions = problem_.max_expansions;
    return limits;
  }

  Result search(const maptree::Limits& limits, long stop_at_poll) const {
    long polls = 0;
    // Densities have no bound before there are tables.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double lower = problem_.model.has_amounts() ? -infinity : 0, upper = infinity;
    std::int64_t proved_depth = 0;
    return maptree::search(
        data_, make_prior(problem_), make_options(problem_), limits,
        [&](const maptree::Progress& progress) {
          const double next_lower = progress.lower.nats() + progress.offset.nats();
          const double next_upper = progress.upper.nats() + progress.offset.nats();
          check_bounds("at a poll: ", next_lower, next_upper);
          check_tighter("at a poll: ", lower, upper, next_lower, next_upper);
          lower = next_lower;
          upper = next_upper;
          require(progress.proved_depth >= proved_depth, "the proved depth fell from ",
                  proved_depth, " to ", progress.proved_depth);
          proved_depth = progress.proved_depth;
          // While the tables are filled there is no tree yet.
          if (std::isfinite(upper)) check_depth("at a poll: ", proved_depth, upper);
          return ++polls == stop_at_poll;
        });
  }

  void check_bounds(const char* when, double lower, double upper) const {
    require(lower <= optimum_ + tolerance_, when, "lower bound ", lower, " > optimum ", optimum_);
    require(upper >= optimum_ - tolerance_, when, "upper bound ", upper, " < optimum ", optimum_);
    require(lower <= upper, when, "lower bound ", lower, " > upper bound ", upper);
  }
  static void check_tighter(const char* when, double lower, double upper, double next_lower,
                            double next_upper) {
    require(next_lower >= lower, when, "lower bound fell from ", lower, " to ", next_lower);
    require(next_upper <= upper, when, "upper bound rose from ", upper, " to ", next_upper);
  }

  void check_depth(const char* when, std::int64_t depth, double upper) const {
    brute_force::Problem shallow = problem_.model;
    if (shallow.max_depth < 0 || shallow.max_depth > depth) shallow.max_depth = depth;
    const auto [known, fresh] = best_of_depth_.try_emplace(shallow.max_depth, 0.0);
    if (fresh) known->second = brute_force::Solver(shallow).optimum();
    require(known->second >= upper - tolerance_, when, "a tree of depth ", depth, " at most costs ",
            known->second, " < ", upper);
  }

  void check(const Result& result, const maptree::Limits& limits, bool may_interrupt) const {
    // V1
    check_bounds("at the end: ", lower_of(result), upper_of(result));
    require((result.status == Status::optimal) == (result.lower == result.upper),
            "status does not say whether the bounds meet");
    require(result.status != Status::time_limit || std::isfinite(limits.seconds),
            "stopped by a clock that has no limit");
    require(result.status != Status::memory_limit || limits.memory_bytes >= 0,
            "stopped by a memory limit that was not set");
    require(result.status != Status::patience || std::isfinite(limits.patience),
            "out of patience that has no end");
    require(result.status != Status::interrupted || may_interrupt, "interrupted by nobody");
    require(result.status != Status::expansion_limit || result.expansions == limits.max_expansions,
            "stopped by the number of expansions at ", result.expansions, " of ",
            limits.max_expansions);
    require(!result.trace.empty(), "no trace");
    for (std::size_t i = 0; i < result.trace.size(); ++i) {
      const auto& point = result.trace[i];
      check_bounds("in the trace: ", point[2], point[3]);
      if (i == 0) continue;
      const auto& before = result.trace[i - 1];
      check_tighter("in the trace: ", before[2], before[3], point[2], point[3]);
      require(point[0] >= before[0] && point[1] >= before[1], "the trace goes back in time");
    }
    if (result.status == Status::optimal)
      require(
          result.trace.back()[2] == lower_of(result) && result.trace.back()[3] == upper_of(result),
          "the trace does not end at the result");

    // V2
    const double cost = solver_.cost(result.tree);
    require(std::abs(cost - upper_of(result)) <= tolerance_, "the tree costs ", cost, ", not ",
            upper_of(result));
    // Without any bound there was no memory for the tables, or no time.
    require(std::isfinite(lower_of(result)) || result.status == Status::memory_limit ||
                result.status == Status::time_limit || result.status == Status::interrupted,
            "no lower bound");

    // V3
    if (result.proved_depth >= 0) {
      check_depth("at the end: ", result.proved_depth, upper_of(result));
    } else {
      require(result.status == Status::optimal, "proved for every depth, but not optimal");
    }

    // V4
    require(limits.max_expansions < 0 || result.expansions <= limits.max_expansions,
            "more expansions than asked for: ", result.expansions);
    require(limits.memory_bytes <= 0 || result.peak_bytes <= limits.memory_bytes, "held ",
            result.peak_bytes, " bytes of ", limits.memory_bytes);
  }

  // V5
  void check_repeated(const Result& result, maptree::Limits limits) const {
    const Result again = search(limits, -1);
    require(again.lower == result.lower && again.upper == result.upper &&
                again.expansions == result.expansions && again.subproblems == result.subproblems &&
                again.tree.feature == result.tree.feature,
            "a second run differs");
    if (result.status != Status::expansion_limit) return;
    limits.max_expansions = 2 * result.expansions + 1;
    const Result more = search(limits, -1);
    check(more, limits, false);
    if (more.status == Status::time_limit) return;
    check_tighter("with a larger budget: ", lower_of(result), upper_of(result), lower_of(more),
                  upper_of(more));
  }

  // V6
  void check_plain_optimum(const Result& result) const {
    Problem plain = problem_;
    plain.options = maptree::Options{};
    plain.options.kernel = maptree::Kernel::plain;
    const maptree::Dataset data = make_dataset(plain);
    const Result optimal = maptree::search(data, make_prior(plain), make_options(plain), {});
    check(optimal, {}, false);
    require(optimal.status == Status::optimal, "without a limit the search did not end optimal");
    // Offsets are of the rows as they are folded.
    const Cost lower = result.lower + result.offset, upper = result.upper + result.offset;
    const Cost best = optimal.upper + optimal.offset;
    const bool exact = lower <= best && best <= upper;
    // Where there is no memory for the tables, or no time, a leaf's cost is rounded as a whole.
    const bool only_leaf = problem_.model.max_depth == 0 || problem_.model.max_leaves == 1;
    const bool searched = !only_leaf && std::isfinite(lower_of(result)) &&
                          (result.status != Status::memory_limit || result.expansions > 0);
    require(exact || !searched, "with other switches the optimum is ", best.units(),
            " units, outside ", lower.units(), " to ", upper.units());
  }

  const Problem& problem_;
  maptree::Dataset data_;
  mutable brute_force::Solver solver_;
  mutable std::map<long, double> best_of_depth_;
  double optimum_ = 0;
  double tolerance_ = 0;
};

}  // namespace

std::string verify(const Problem& problem) {
  try {
    Verifier(problem).run();
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return {};
}

}  // namespace fuzz
