// Brute force: the cheapest tree by trying every split of every set of rows that splits can make.
//
// An oracle for the search, so it shares nothing with it: rows are vectors of 0 and 1, costs are
// doubles straight from the definition (docs/design/outcomes.md for numbers and counts), sets are
// strings compared letter by letter, and nothing is folded, pruned or bounded. A set is solved once
// a depth; that is the only shortcut. Meant for up to 7 columns, or up to 10 distinct rows, or a
// depth of 2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace brute_force {

enum class Outcome { classes, numbers, counts };

struct Problem {
  std::vector<std::vector<int>> x;  // rows of 0 and 1, all of the same length
  std::vector<int> y;               // 0 to n_classes() - 1
  std::vector<long> weight;         // of each row; 0: not there
  std::vector<long> test_weight;    // of each column, 1 or more; empty: all are 1
  // Of each column: '*' where trees may test it anywhere, '+' below the root, '-' nowhere.
  std::string use;  // empty: all anywhere
  double alpha = 0.95;
  double beta = 0.5;
  std::vector<double> rho = {2.5, 2.5};  // one per class
  long max_depth = -1;                   // none
  long min_leaf = 1;                     // weight of every leaf but a lone root
  long max_leaves = -1;                  // none
  double leaf_price = 0;                 // what every inner node pays more

  // Numbers and counts: all rows are of one class.
  Outcome outcome = Outcome::classes;
  std::vector<std::int64_t> amount;    // of each row: its number, in steps, or its count
  std::vector<std::int64_t> exposure;  // of each row, in units; of counts only
  double kappa = 0.1, nu = 3, lambda = 0.1, steps = 256;
  double shape = 1, rate = 1, units = 1;

  [[nodiscard]] std::size_t n_classes() const { return rho.size(); }
  [[nodiscard]] bool has_amounts() const { return outcome != Outcome::classes; }
  // The second amount of a row: its square, or its exposure.
  [[nodiscard]] std::int64_t second(std::size_t row) const {
    return outcome == Outcome::counts ? exposure[row] : amount[row] * amount[row];
  }
  [[nodiscard]] std::size_t n_columns() const { return x.empty() ? 0 : x[0].size(); }
  [[nodiscard]] long test_weight_of(std::size_t column) const {
    return test_weight.empty() ? 1 : test_weight[column];
  }
  [[nodiscard]] bool may_test(std::size_t column, long depth) const {
    return use.empty() || use[column] == '*' || (use[column] == '+' && depth > 0);
  }
};

using Set = std::string;  // '1' for each row that is in it

class Solver {
 public:
  explicit Solver(Problem problem) : p_(std::move(problem)) {
    long total = 0;
    for (const long w : p_.weight) total += w;
    double sum = 0;
    for (const double r : p_.rho) sum += r;
    log_rising_.push_back(rising(sum, total));
    for (const double r : p_.rho) log_rising_.push_back(rising(r, total));
  }

  [[nodiscard]] const Problem& problem() const { return p_; }
  [[nodiscard]] Set all() const {
    Set rows(p_.x.size(), '0');
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (p_.weight[r] > 0) rows[r] = '1';
    return rows;
  }
  [[nodiscard]] Set side(const Set& rows, std::size_t column, int value) const {
    Set out = rows;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (p_.x[r][column] != value) out[r] = '0';
    return out;
  }
  [[nodiscard]] std::vector<long> counts(const Set& rows) const {
    std::vector<long> c(p_.n_classes(), 0);
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r] == '1') c[static_cast<std::size_t>(p_.y[r])] += p_.weight[r];
    return c;
  }
  // What a tree has of each node: class counts, then the sums of both amounts.
  [[nodiscard]] std::vector<std::int64_t> sums(const Set& rows) const {
    const std::vector<long> n = counts(rows);
    std::vector<std::int64_t> out(n.begin(), n.end());
    if (!p_.has_amounts()) return out;
    out.resize(out.size() + 2, 0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (rows[r] != '1') continue;
      out[out.size() - 2] += p_.weight[r] * p_.amount[r];
      out[out.size() - 1] += p_.weight[r] * p_.second(r);
    }
    return out;
  }
  [[nodiscard]] std::vector<std::size_t> varying(const Set& rows) const {
    std::vector<std::size_t> v;
    const std::size_t first = rows.find('1');
    for (std::size_t f = 0; f < p_.n_columns(); ++f)
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r] == '1' && p_.x[r][f] != p_.x[first][f]) {
          v.push_back(f);
          break;
        }
    return v;
  }

  [[nodiscard]] double p_split(long depth) const {
    return p_.alpha * std::pow(1.0 + static_cast<double>(depth), -p_.beta);
  }
  [[nodiscard]] double likelihood(const std::vector<long>& c) const {
    long n = 0;
    long double cost = 0;
    for (std::size_t k = 0; k < c.size(); ++k) {
      cost -= log_rising_[k + 1][static_cast<std::size_t>(c[k])];
      n += c[k];
    }
    return static_cast<double>(cost + log_rising_[0][static_cast<std::size_t>(n)]);
  }
  // Minus the log density of n numbers, or minus the log probability of counts but for what all
  // trees have in common.
  [[nodiscard]] double likelihood_of_numbers(const Set& rows) const {
    const long double nu = p_.nu, scale = p_.nu * static_cast<long double>(p_.lambda);
    long double n = 0, sum = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (rows[r] != '1') continue;
      n += static_cast<long double>(p_.weight[r]);
      sum += static_cast<long double>(p_.weight[r]) * u(r);
    }
    // About the mean, and what the mean itself is away from 0: without large differences.
    const long double mean = sum / n;
    long double squares = n * p_.kappa / (n + p_.kappa) * mean * mean;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r] == '1')
        squares += static_cast<long double>(p_.weight[r]) * (u(r) - mean) * (u(r) - mean);
    return static_cast<double>(n / 2 * std::log(std::numbers::pi_v<long double> * scale) +
                               std::log1p(n / p_.kappa) / 2 + std::lgamma(nu / 2) -
                               std::lgamma((nu + n) / 2) +
                               (nu + n) / 2 * std::log1p(squares / scale));
  }
  [[nodiscard]] double likelihood_of_counts(const Set& rows) const {
    const long double shape = p_.shape, rate = p_.rate;
    const std::vector<std::int64_t> of = sums(rows);
    const auto events = static_cast<long double>(of[of.size() - 2]);
    const long double exposed = static_cast<long double>(of.back()) / p_.units;
    return static_cast<double>(std::lgamma(shape) - std::lgamma(shape + events) +
                               events * std::log(rate) +
                               (shape + events) * std::log1p(exposed / rate));
  }
  [[nodiscard]] double leaf(const Set& rows, long depth) const {
    const double data = p_.outcome == Outcome::numbers  ? likelihood_of_numbers(rows)
                        : p_.outcome == Outcome::counts ? likelihood_of_counts(rows)
                                                        : likelihood(counts(rows));
    return data + (varying(rows).empty() ? 0.0 : -std::log1p(-p_split(depth)));
  }
  // What an inner node itself pays that tests one of the columns that vary on it.
  [[nodiscard]] double inner(const std::vector<std::size_t>& varying, std::size_t tested,
                             long depth) const {
    double sum = 0;
    for (const std::size_t f : varying) sum += static_cast<double>(p_.test_weight_of(f));
    return p_.leaf_price - std::log(p_.alpha) +
           p_.beta * std::log(1.0 + static_cast<double>(depth)) +
           std::log(sum / static_cast<double>(p_.test_weight_of(tested)));
  }

  [[nodiscard]] double optimum() { return optimum(all(), 0); }
  double optimum(const Set& rows, long depth) { return optimum(rows, depth, p_.max_leaves); }
  // Of trees of at most so many leaves; -1: any number.
  double optimum(const Set& rows, long depth, long leaves) {
    const auto key = std::make_tuple(depth, leaves, rows);
    if (const auto known = solved_.find(key); known != solved_.end()) return known->second;
    double best = leaf(rows, depth);
    if (leaves != 1 && (p_.max_depth < 0 || depth < p_.max_depth)) {
      const std::vector<std::size_t> columns = varying(rows);
      for (const std::size_t f : columns) {
        const Set zero = side(rows, f, 0), one = side(rows, f, 1);
        if (weight(zero) < p_.min_leaf || weight(one) < p_.min_leaf) continue;
        if (!p_.may_test(f, depth)) continue;
        const double above = inner(columns, f, depth);
        if (leaves < 0)
          best = std::min(best, above + optimum(zero, depth + 1, -1) + optimum(one, depth + 1, -1));
        for (long some = 1; some < leaves; ++some)
          best = std::min(best, above + optimum(zero, depth + 1, some) +
                                    optimum(one, depth + 1, leaves - some));
      }
    }
    solved_[key] = best;
    return best;
  }

  // The cost of a given tree; throws std::runtime_error where it is none of the allowed ones.
  // Arrays as in a flat tree: feature -1 at a leaf, left where the feature is 0; `counts` node by
  // node.
  template <class Tree>
  [[nodiscard]] double cost(const Tree& tree) const {
    std::size_t seen = 0;
    const double total = cost_below(tree, 0, all(), 0, seen);
    if (seen != tree.feature.size()) throw std::runtime_error("the tree has nodes out of reach");
    if (p_.max_leaves >= 0 && static_cast<long>(seen / 2) + 1 > p_.max_leaves)
      throw std::runtime_error("the tree has more leaves than max_leaves");
    return total;
  }

 private:
  // log(from (from + 1) ... (from + n - 1)) by n.
  static std::vector<long double> rising(double from, long total) {
    std::vector<long double> table(static_cast<std::size_t>(total) + 1, 0);
    for (std::size_t n = 1; n < table.size(); ++n)
      table[n] =
          table[n - 1] + std::log(static_cast<long double>(from) + static_cast<long double>(n - 1));
    return table;
  }
  [[nodiscard]] long weight(const Set& rows) const {
    long total = 0;
    for (const long c : counts(rows)) total += c;
    return total;
  }
  [[nodiscard]] long double u(std::size_t row) const {
    return static_cast<long double>(p_.amount[row]) / p_.steps;
  }

  template <class Tree>
  double cost_below(const Tree& tree, std::size_t node, const Set& rows, long depth,
                    std::size_t& seen) const {
    // Preorder: a node is met when as many were met before it as its number says.
    if (node != seen++) throw std::runtime_error("the tree is not in preorder");
    const std::vector<std::int64_t> c = sums(rows);
    for (std::size_t k = 0; k < c.size(); ++k)
      if (tree.counts.at(node * c.size() + k) != c[k])
        throw std::runtime_error("the tree's class counts or sums are wrong");
    if (weight(rows) < p_.min_leaf && depth > 0)
      throw std::runtime_error("a node is smaller than min_samples_leaf");
    if (tree.feature.at(node) < 0) {
      if (tree.left.at(node) != -1 || tree.right.at(node) != -1)
        throw std::runtime_error("a leaf has children");
      return leaf(rows, depth);
    }
    if (p_.max_depth >= 0 && depth >= p_.max_depth)
      throw std::runtime_error("the tree is deeper than max_depth");
    const auto f = static_cast<std::size_t>(tree.feature[node]);
    const std::vector<std::size_t> columns = varying(rows);
    if (std::find(columns.begin(), columns.end(), f) == columns.end())
      throw std::runtime_error("a split tests a column that does not vary");
    if (!p_.may_test(f, depth))
      throw std::runtime_error("a split tests a column that may not be tested there");
    const double zero = cost_below(tree, static_cast<std::size_t>(tree.left.at(node)),
                                   side(rows, f, 0), depth + 1, seen);
    const double one = cost_below(tree, static_cast<std::size_t>(tree.right.at(node)),
                                  side(rows, f, 1), depth + 1, seen);
    return inner(columns, f, depth) + zero + one;
  }

  Problem p_;
  std::vector<std::vector<long double>> log_rising_;  // of sum rho, then of each class's
  std::map<std::tuple<long, long, Set>, double> solved_;
};

}  // namespace brute_force
