#include "sample/particle_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace maptree {

namespace {

#if defined(MAPTREE_SMALL_BLOCKS)
constexpr bool small_limits = true;  // so that tests get there
#else
constexpr bool small_limits = false;
#endif
// Bytes of options, before all are forgotten and found again where they are needed.
constexpr std::size_t options_limit = small_limits ? 1 << 12 : 1 << 26;
// Nodes, before those that no particle has are searched for.
constexpr std::size_t least_room = small_limits ? 64 : 1 << 14;
constexpr std::size_t counts_limit = std::size_t{1} << 22;  // of all of these nodes

std::uint64_t split_key(ParticleNodes::Id id, std::uint32_t column) {
  return std::uint64_t{static_cast<std::uint32_t>(id)} << 32 | column;
}

}  // namespace

std::uint32_t ParticleNodes::Options::draw(Random& random) const {
  if (sums.empty()) return columns[random.below(columns.size())];
  const double at = random.uniform() * sums.back();
  const auto found = std::upper_bound(sums.begin(), sums.end(), at);
  const auto i =
      std::min<std::size_t>(static_cast<std::size_t>(found - sums.begin()), columns.size() - 1);
  return columns[i];
}

ParticleNodes::ParticleNodes(const Dataset& data, const Posterior& posterior, bool weigh)
    : data_(data),
      posterior_(posterior),
      weigh_(weigh),
      n_classes_(static_cast<std::size_t>(data.n_classes())),
      all_columns_(all_columns(data)),
      all_rows_(data.all_rows()),
      split_gains_(data, posterior),
      side_counts_(n_classes_) {
  intern(all_rows_, {});
  room_ = fewest_room();
}

// Fewer where a node has many counts.
std::size_t ParticleNodes::fewest_room() const {
  return std::min(least_room, std::max<std::size_t>(64, counts_limit / n_classes_));
}

ParticleNodes::Id ParticleNodes::intern(const RowSet& rows, Node node) {
  const Id next{static_cast<std::uint32_t>(nodes_.size())};
  const auto [found, is_new] = by_rows_.try_emplace(data_.key(rows), next);
  node.divisible = data_.count(rows, side_counts_) > 1;
  if (!is_new) {  // what is known of the key's rows must be true of these
    const Id old = found->second;
    if (at(old).divisible != node.divisible || !std::ranges::equal(counts(old), side_counts_))
      throw KeyCollision();
    return old;
  }
  node.likelihood = posterior_.leaf(side_counts_);
  nodes_.push_back(std::move(node));
  counts_.insert(counts_.end(), side_counts_.begin(), side_counts_.end());
  return next;
}

bool ParticleNodes::find_rows(Id id, Watch& watch) {
  if (rows_of_ == id) return true;
  path_.clear();
  for (Id step = id; step != Id::root; step = at(step).parent) path_.push_back(step);
  rows_of_ = Id::none;
  const RowSet* from = &all_rows_;
  for (; !path_.empty(); path_.pop_back()) {
    if (watch.poll(static_cast<std::int64_t>(from->n_stored()))) return false;
    const Node& node = at(path_.back());
    other_.assign_side(*from, data_.column(node.column), node.side);
    std::swap(rows_, other_);
    from = &rows_;
  }
  if (from == &all_rows_) rows_ = all_rows_;
  rows_of_ = id;
  return true;
}

const ParticleNodes::Options* ParticleNodes::options(Id id, Watch& watch) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (node.options != nullptr) return node.options.get();
  if (!find_rows(id, watch)) return nullptr;
  std::int64_t weight = 0;
  double sum = 0;
  if (weigh_) {
    if (!split_gains_.find(rows_, counts(id), found_.columns, found_.sums, watch)) return nullptr;
    const double most = *std::max_element(found_.sums.begin(), found_.sums.end());
    for (std::size_t i = 0; i < found_.sums.size(); ++i) {
      const std::int32_t of_column = data_.test_weight(found_.columns[i]);
      weight += of_column;
      found_.sums[i] = sum += of_column * std::exp(found_.sums[i] - most);
    }
    found_.log_mean = most + std::log(sum / static_cast<double>(weight));
  } else {
    weight = find_varying(data_, rows_, all_columns_, varying_, watch);
    if (weight < 0) return nullptr;
    found_.columns.clear();
    found_.sums.clear();
    for (std::size_t w = 0; w < varying_.size(); ++w)
      for_each_slot(varying_[w], w * word_bits, [&](std::size_t c) {
        found_.columns.push_back(static_cast<std::uint32_t>(c));
        if (data_.weighted()) found_.sums.push_back(sum += data_.test_weight(c));
      });
  }
  if (options_bytes_ + found_.bytes() > options_limit) {
    for (Node& other : nodes_) other.options.reset();
    options_bytes_ = 0;
  }
  options_bytes_ += found_.bytes();
  node.varying_weight = static_cast<std::uint32_t>(weight);
  node.options = std::make_unique<Options>(found_);
  return node.options.get();
}

ParticleNodes::Children ParticleNodes::children(Id id, std::uint32_t column, Watch& watch) {
  const std::uint64_t key = split_key(id, column);
  if (const auto known = children_.find(key); known != children_.end()) return known->second;
  Id child[2] = {Id::none, Id::none};
  if (!find_rows(id, watch)) return {Id::none, Id::none};
  for (int side = 0; side < 2; ++side) {
    if (watch.poll(static_cast<std::int64_t>(2 * rows_.n_stored() + n_classes_)))
      return {Id::none, Id::none};
    other_.assign_side(rows_, data_.column(column), side);
    Node node;
    node.parent = id;
    node.column = column;
    node.side = static_cast<std::uint8_t>(side);
    child[side] = intern(other_, std::move(node));
  }
  return children_.emplace(key, Children{child[0], child[1]}).first->second;
}

std::vector<ParticleNodes::Id> ParticleNodes::keep(std::vector<bool> used) {
  used[static_cast<std::size_t>(Id::root)] = true;
  // A node comes after those on its path.
  for (std::size_t n = used.size() - 1; n > 0; --n)
    if (used[n]) used[static_cast<std::size_t>(nodes_[n].parent)] = true;

  std::vector<Id> number(nodes_.size(), Id::none);
  std::size_t n_kept = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!used[n]) {
      if (nodes_[n].options != nullptr) options_bytes_ -= nodes_[n].options->bytes();
      continue;
    }
    number[n] = Id{static_cast<std::uint32_t>(n_kept)};
    if (n > 0) nodes_[n].parent = number[static_cast<std::size_t>(nodes_[n].parent)];
    if (n > n_kept) {
      nodes_[n_kept] = std::move(nodes_[n]);
      std::copy_n(&counts_[n * n_classes_], n_classes_, &counts_[n_kept * n_classes_]);
    }
    ++n_kept;
  }
  nodes_.resize(n_kept);
  counts_.resize(n_kept * n_classes_);
  for (auto entry = by_rows_.begin(); entry != by_rows_.end();) {
    entry->second = number[static_cast<std::size_t>(entry->second)];
    entry = entry->second == Id::none ? by_rows_.erase(entry) : std::next(entry);
  }
  std::unordered_map<std::uint64_t, Children> children;
  for (const auto& [key, old] : children_) {
    const Id id = number[key >> 32];
    const Children now = {number[static_cast<std::size_t>(old.first)],
                          number[static_cast<std::size_t>(old.second)]};
    if (id != Id::none && now.first != Id::none && now.second != Id::none)
      children.emplace(split_key(id, static_cast<std::uint32_t>(key)), now);
  }
  children_ = std::move(children);
  rows_of_ = Id::none;
  room_ = std::max(fewest_room(), 2 * n_kept);
  return number;
}

}  // namespace maptree
