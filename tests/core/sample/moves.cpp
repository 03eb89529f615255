// Moves: where each leads and how often, transcribed from its definition (moves.hpp), against every
// way that the chains' own code can take. Rows and varying columns are those of brute force: the
// transcription shares no code with the core.
#include "sample/moves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "check.hpp"
#include "every_tree.hpp"
#include "transitions.hpp"

using every_tree::Features;
using maptree::Move;

namespace {

using Set = brute_force::Set;
using Proposals = std::map<Features, double>;  // tree: probability of proposing it

// A tree as its definition has it: a column and two subtrees, or a leaf.
struct Node {
  int column = -1;
  std::vector<Node> child;  // where the column is 0, where it is 1

  [[nodiscard]] bool leaf() const { return child.empty(); }
};

Node parse(const Features& feature, std::size_t& at) {
  Node node{feature[at++], {}};
  if (node.column < 0) return node;
  node.child.push_back(parse(feature, at));
  node.child.push_back(parse(feature, at));
  return node;
}

void print(const Node& node, Features& feature) {
  feature.push_back(node.column);
  for (const Node& child : node.child) print(child, feature);
}

class Definition {
 public:
  explicit Definition(const brute_force::Problem& problem) : solver_(problem) {}

  Proposals propose(Move move, const Features& from) {
    std::size_t at = 0;
    tree_ = parse(from, at);
    proposals_.clear();
    // Each node of its kind is equally likely, and so is each of its choices.
    std::vector<std::pair<Node*, Set>> kind;
    visit(tree_, solver_.all(), [&](Node& node, const Set& rows) {
      for (std::size_t i = count(move, node, rows); i > 0; --i) kind.emplace_back(&node, rows);
    });
    for (auto& [node, rows] : kind)
      apply(move, *node, rows, 1.0 / static_cast<double>(kind.size()));
    return proposals_;
  }

 private:
  template <class Visit>
  void visit(Node& node, const Set& rows, const Visit& see) {
    see(node, rows);
    if (node.leaf()) return;
    for (int side = 0; side < 2; ++side)
      visit(node.child[static_cast<std::size_t>(side)],
            solver_.side(rows, static_cast<std::size_t>(node.column), side), see);
  }

  // How often the move may choose this node; swap chooses a parent once for every inner child.
  std::size_t count(Move move, const Node& node, const Set& rows) const {
    switch (move) {
      case Move::grow:
        return node.leaf() && !solver_.varying(rows).empty() ? 1 : 0;
      case Move::prune:
        return !node.leaf() && node.child[0].leaf() && node.child[1].leaf() ? 1 : 0;
      case Move::change:
        return node.leaf() ? 0 : 1;
      case Move::swap:
        return node.leaf() ? 0 : 2u - node.child[0].leaf() - node.child[1].leaf();
    }
    return 0;
  }

  void apply(Move move, Node& node, const Set& rows, double probability) {
    const Node before = node;
    if (move == Move::grow || move == Move::change) {
      const std::vector<std::size_t> columns = solver_.varying(rows);
      double weight = 0;  // and so is each unit of its columns' weight
      for (const std::size_t column : columns)
        weight += static_cast<double>(solver_.problem().test_weight_of(column));
      for (const std::size_t column : columns) {
        node.column = static_cast<int>(column);
        if (move == Move::grow) node.child = {Node{}, Node{}};
        add(probability * static_cast<double>(solver_.problem().test_weight_of(column)) / weight);
        node = before;
      }
    } else if (move == Move::prune) {
      node = Node{};
      add(probability);
    } else {
      // Each inner child in turn; children of one column are swapped together.
      const bool both = !node.child[0].leaf() && node.child[0].column == node.child[1].column;
      const double n = 2.0 - node.child[0].leaf() - node.child[1].leaf();
      for (std::size_t side = 0; side < 2; ++side) {
        if (before.child[side].leaf()) continue;
        node.column = before.child[side].column;
        for (std::size_t s = 0; s < 2; ++s)
          if (both || s == side) node.child[s].column = before.column;
        add(probability / n);
        node = before;
      }
    }
    node = before;
  }

  void add(double probability) {
    Features feature;
    print(tree_, feature);
    proposals_[feature] += probability;
  }

  brute_force::Solver solver_;
  Node tree_;
  Proposals proposals_;
};

maptree::Tree tree_of(const Features& feature) {
  maptree::Forest forest;
  forest.add(std::vector<std::int32_t>(feature.begin(), feature.end()), {}, maptree::Cost());
  return forest.tree(0);
}

}  // namespace

TEST(moves_are_proposed_as_defined) {
  std::vector<fuzz::Problem> problems = every_tree::tiny_problems();
  for (const fuzz::Problem& problem : every_tree::random_problems(40, 200))
    problems.push_back(problem);
  std::size_t n_compared[4] = {};
  for (const fuzz::Problem& problem : problems) {
    const maptree::Dataset data = every_tree::dataset_of(problem);
    const maptree::Prior prior = fuzz::make_prior(problem);
    Definition definition(problem.model);
    std::map<Features, double> possible;
    for (const every_tree::Entry& state : every_tree::enumerate(problem.model))
      possible[state.feature] = state.cost;
    for (const auto& [from, cost] : possible) {
      for (const Move move : {Move::grow, Move::prune, Move::change, Move::swap}) {
        // Every other tree that the definition names and that is possible, and no other.
        Proposals expected = definition.propose(move, from), proposed;
        std::erase_if(expected, [&](const auto& entry) {
          return entry.first == from || !possible.contains(entry.first);
        });
        for (const auto& way : maptree::mcmc_transitions(data, prior, tree_of(from), move)) {
          const Features to(way.tree.feature.begin(), way.tree.feature.end());
          if (to != from) proposed[to] += way.proposal_probability;
        }
        CHECK_EQUAL(proposed.size(), expected.size());
        for (const auto& [to, probability] : expected) {
          CHECK(std::abs(proposed[to] - probability) < 1e-12);
          ++n_compared[static_cast<int>(move)];
        }
      }
    }
  }
  for (const std::size_t n : n_compared) CHECK(n > 1000);
}
