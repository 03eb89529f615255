#include "particle_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace maptree {

namespace {

// Of options, before they are dropped and found again where they are needed.
constexpr std::size_t options_limit = std::size_t{1} << 26;

// 128 bits that name a set. By words and not by rows as Dataset::key: there are few rows in a word
// on average, but far fewer words than rows in a large set.
RowKey key_of(const RowSet& rows) {
  constexpr std::uint64_t a = 0x9e3779b97f4a7c15ULL, b = 0xd1b54a32d192ed03ULL;
  RowKey key;
  for (std::size_t i = 0; i < rows.n_stored(); ++i) {
    const Word word = rows.stored(i);
    if (word == 0) continue;
    const std::uint64_t place = rows.place(i) + 1;
    key.high += mix(mix(word + a * place) + a);
    key.low += mix(mix(word ^ (b * place)) + b);
  }
  return key;
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
      side_counts_(n_classes_) {
  intern(all_rows_, {});
}

ParticleNodes::Id ParticleNodes::intern(const RowSet& rows, Node node) {
  const Id next{static_cast<std::uint32_t>(nodes_.size())};
  const auto [found, is_new] = by_rows_.try_emplace(key_of(rows), next);
  if (!is_new) return found->second;
  node.divisible = data_.count(rows, side_counts_) > 1;
  node.likelihood = posterior_.leaf(side_counts_);
  nodes_.push_back(node);
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
    if (watch.stop(static_cast<std::int64_t>(from->n_stored()))) return false;
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
  const auto number = static_cast<std::uint32_t>(id);
  if (const auto known = options_.find(number); known != options_.end()) return &known->second;
  Options found;
  if (!find_rows(id, watch)) return nullptr;
  const std::int64_t n = find_varying(data_, rows_, all_columns_, varying_, watch);
  if (n < 0) return nullptr;
  found.columns.reserve(static_cast<std::size_t>(n));
  for (std::size_t w = 0; w < varying_.size(); ++w)
    for_each_slot(varying_[w], w * word_bits,
                  [&](std::size_t c) { found.columns.push_back(static_cast<std::uint32_t>(c)); });
  if (weigh_ && !weigh(id, found, watch)) return nullptr;
  const std::size_t bytes = 100 + 12 * found.columns.size();
  if (options_bytes_ + bytes > options_limit) {
    options_.clear();
    options_bytes_ = 0;
  }
  options_bytes_ += bytes;
  return &options_.emplace(number, std::move(found)).first->second;
}

bool ParticleNodes::weigh(Id id, Options& options, Watch& watch) {
  const std::size_t n_words = rows_.n_stored();
  const std::span<const std::int64_t> all = counts(id);
  options.sums.reserve(options.columns.size());
  std::vector<std::int64_t> zeros(n_classes_);
  double most = -HUGE_VAL;
  for (const std::uint32_t column : options.columns) {
    if (watch.stop(static_cast<std::int64_t>(n_words))) return false;
    const Word* const words = data_.column(column);
    std::fill(side_counts_.begin(), side_counts_.end(), 0);
    std::size_t i = 0;
    for (const Segment& segment : data_.segments()) {
      std::int64_t n = 0;
      const std::size_t end = segment.first_word + segment.n_words;
      for (; i < n_words && rows_.place(i) < end; ++i)
        n += popcount(rows_.stored(i) & words[rows_.place(i)]);
      if (n == 0) continue;
      for (std::size_t k = 0; k < n_classes_; ++k) side_counts_[k] += n * segment.counts[k];
    }
    for (std::size_t k = 0; k < n_classes_; ++k) zeros[k] = all[k] - side_counts_[k];
    const Cost parts = posterior_.leaf(side_counts_) + posterior_.leaf(zeros);
    options.sums.push_back((likelihood(id) - parts).nats());
    most = std::max(most, options.sums.back());
  }
  double sum = 0;
  for (double& ratio : options.sums) ratio = sum += std::exp(ratio - most);
  options.log_mean = most + std::log(sum / static_cast<double>(options.columns.size()));
  return true;
}

ParticleNodes::Children ParticleNodes::children(Id id, std::uint32_t column, Watch& watch) {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(id)} << 32 | column;
  if (const auto known = children_.find(key); known != children_.end()) return known->second;
  Id child[2] = {Id::none, Id::none};
  if (!find_rows(id, watch)) return {Id::none, Id::none};
  for (int side = 0; side < 2; ++side) {
    if (watch.stop(static_cast<std::int64_t>(2 * rows_.n_stored()))) return {Id::none, Id::none};
    other_.assign_side(rows_, data_.column(column), side);
    child[side] = intern(other_, {id, column, static_cast<std::uint8_t>(side), false, {}});
  }
  return children_.emplace(key, Children{child[0], child[1]}).first->second;
}

}  // namespace maptree
