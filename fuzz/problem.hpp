// Problem: one small search problem with everything that may change how it is solved: the form in
// which problems are generated, checked against brute force, shrunk, and kept as traces.
//
// A trace is text: one `name values` line each for what is not the default (`tests`: the weights of
// the columns; `use`: a letter for each, brute_force.hpp; `numbers` and `counts`: the parameters of
// such leaves), `#` comments, and after the line `rows` one line a row: its values, label and
// weight, then its number, or its count and exposure.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "brute_force.hpp"
#include "control/options.hpp"
#include "data/dataset.hpp"
#include "model/posterior.hpp"

namespace fuzz {

// Problem generators are pinned (signature, seeds of failures), and the distributions of <random>
// differ between libraries: so these are our own.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // 0 to n - 1.
  template <class T>
  T below(T n) {
    return static_cast<T>(next() % static_cast<std::uint64_t>(n));
  }
  // first to last, both included.
  template <class T>
  T between(T first, T last) {
    return first + below(static_cast<T>(last - first + 1));
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double log_uniform(double least, double most) {
    return least * std::pow(most / least, uniform());
  }
  bool chance(double p) { return uniform() < p; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

struct Problem {
  brute_force::Problem model;  // data, prior and constraints
  // The last columns of `model` may be the thresholds of ordered columns, which the core is given
  // as ranks: so many of each. "rank <= t" is 1, so a row has zeros and then ones.
  std::vector<std::size_t> ordered = {};
  maptree::Options options;       // switches and kernel; constraints are taken from `model`
  long max_expansions = -1;       // none
  long spare_bytes = -1;          // memory limit, above what the start takes; none
  long starved = -1;              // 1: a memory limit that does not even allow for a start
  long stop_at_poll = -1;         // the monitor stops the search there; never
  long threads = -1;              // one
  std::optional<double> optimum;  // where it is known from elsewhere
};

struct Switch {
  const char* name;
  bool maptree::Options::* member;
};
extern const std::vector<Switch> switches;

// What core calls need.
[[nodiscard]] maptree::Dataset make_dataset(const Problem& problem);
[[nodiscard]] maptree::Dataset make_dataset(const Problem& problem, maptree::Folding folding);
[[nodiscard]] maptree::Prior make_prior(const Problem& problem);
[[nodiscard]] maptree::Options make_options(const Problem& problem);

// Random data and prior of a kind that brute force can solve.
enum class Shape { tall, wide, shallow };  // 7 columns; 10 distinct rows; depth 2
[[nodiscard]] brute_force::Problem random_model(Random& random, Shape shape);
// Makes its last columns thresholds, keeping identical rows identical.
void make_ordered(Random& random, Problem& problem);
// What the cost of a tree may differ by from that of brute force, in nats.
[[nodiscard]] double tolerance_of(const Problem& problem);
// Weights of the columns, of a random kind: equal, a few values, coarse to fine, extreme.
void random_test_weights(Random& random, brute_force::Problem& model);
// Where columns may be tested; the thresholds of an ordered column in the same places.
void random_uses(Random& random, Problem& problem);
// An outcome that is a number or a count in place of the labels, of rows that have no ordered
// columns.
void random_amounts(Random& random, Problem& problem);
// The whole: also random constraints, switches, kernel and budgets, in a third weights of columns,
// in a quarter columns that may not be tested everywhere, and in a quarter numbers or counts. These
// are drawn apart, so that all that is drawn from `random` was the same before there were any.
[[nodiscard]] Problem random_problem(Random& random);
// Boards of finished games of noughts and crosses, x to move first; label: x has won.
[[nodiscard]] brute_force::Problem tic_tac_toe();

void write(std::ostream& out, const Problem& problem);
// Throws std::runtime_error for text that is not a trace.
[[nodiscard]] Problem read(std::istream& in);

}  // namespace fuzz
