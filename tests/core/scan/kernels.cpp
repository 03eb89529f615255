// Pair kernels: every one gives the integers of the scalar bounds.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "check.hpp"
#include "model/bounds.hpp"
#include "problem.hpp"
#include "scan/pair_kernel.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Bounds;
using maptree::Cost;
using maptree::Dataset;
using maptree::Kernel;
using maptree::RowSet;
using maptree::SetCounts;

namespace {

constexpr Kernel all_kernels[] = {Kernel::plain, Kernel::avx2, Kernel::avx512, Kernel::automatic};

struct Buffers {
  std::vector<std::int32_t> classes, distinct, rest;
  std::vector<std::int64_t> groups;
  Buffers(std::size_t n_classes, std::size_t stride)
      : classes(n_classes * stride), distinct(stride), rest(n_classes * stride), groups(stride) {}
  maptree::PairCounts counts() {
    return {classes.data(), distinct.data(), rest.data(), groups.data()};
  }
};

// A random node: some rows of a random dataset, laid out as the kernels want it.
class Node {
 public:
  Node(const Problem& problem, Random& random, bool mark_folded)
      : data(fuzz::make_dataset(problem)),
        options(fuzz::make_options(problem)),
        posterior(fuzz::make_prior(problem), data),
        bounds(posterior, data, options),
        depth(std::min(random.between<std::size_t>(0, 3), posterior.max_depth())),
        stride((data.n_columns() + maptree::lanes - 1) / maptree::lanes * maptree::lanes),
        rows(data.n_words()),
        n_classes(static_cast<std::size_t>(data.n_classes())) {
    const double share = random.one_of({1.0, 0.7, 0.1});
    for (std::size_t w = 0; w < data.n_words(); ++w)
      maptree::for_each_slot(data.all_rows().word(w), w * 64, [&](std::size_t slot) {
        if (random.chance(share)) rows.insert(slot);
      });
    words.assign(2 * data.n_words() * stride, 0);
    for (std::size_t c = 0; c < data.n_columns(); ++c) {
      for (std::size_t w = 0; w < data.n_words(); ++w) {
        const maptree::Word word = data.column(c)[w] & rows.word(w);
        words[2 * w * stride + c] = static_cast<std::uint32_t>(word);
        words[(2 * w + 1) * stride + c] = static_cast<std::uint32_t>(word >> 32);
      }
    }
    multiplicity.assign(stride, 0);
    for (std::size_t c = 0; c < data.n_columns(); ++c) multiplicity[c] = data.multiplicity(c);
    test_cost.assign(stride, 0);
    for (std::size_t c = 0; c < data.n_columns(); ++c)
      test_cost[c] = posterior.test_costs()[c].units();
    for (std::size_t s = 0; s < data.segments().size(); ++s) {
      const maptree::Segment& segment = data.segments()[s];
      maptree::PairRun run;
      run.first = static_cast<std::uint32_t>(2 * segment.first_word);
      run.last = static_cast<std::uint32_t>(2 * (segment.first_word + segment.n_words));
      run.unit_class = segment.unit_class;
      run.pattern = segment.pattern.data();
      run.n_classes = segment.pattern.size();
      run.group_floor = bounds.group_floor(s).units();
      folded = folded || run.unit_class < 0;
      runs.push_back(run);
    }
    folded = folded || mark_folded;
    leaves_only = !bounds.may_split(depth) && bounds.stop_lower(depth) == bounds.stop_upper(depth);
    total = count(rows);
    const maptree::Posterior::TwoClassTable& small = posterior.two_class_table();
    use_two_class = n_classes == 2 && total.classes[0] < small.limit[0] &&
                    total.classes[1] < small.limit[1] && random.chance(0.7);
    for (int k = 0; k < data.n_classes(); ++k) {
      mixed.push_back(posterior.mixed_table(k));
      pure.push_back(posterior.pure_table(k));
    }
    if (data.has_amounts()) lay_out_amounts(random);
  }

  // By place, both amounts apart; and together where that is possible.
  void lay_out_amounts(Random& random) {
    const std::size_t places = 64 * data.n_words();
    bits.assign(places * stride / 8, 0);
    std::int64_t sizes[2] = {0, 0};
    for (std::size_t v = 0; v < 2; ++v) values[v].assign(places, 0);
    for (std::size_t w = 0; w < data.n_words(); ++w)
      maptree::for_each_slot(rows.word(w), w * 64, [&](std::size_t slot) {
        for (std::size_t c = 0; c < data.n_columns(); ++c)
          if ((data.column(c)[slot / 64] >> (slot % 64) & 1) != 0)
            bits[slot * stride / 8 + c / 8] |= static_cast<std::uint8_t>(1u << (c % 8));
        for (std::size_t v = 0; v < 2; ++v) {
          values[v][slot] = data.amounts(slot).of[v];
          sizes[v] += std::abs(values[v][slot]);
        }
      });
    const auto width = [](std::int64_t x) {
      return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(x)));
    };
    const unsigned first = width(sizes[0]) + 1;
    if (first + width(sizes[1]) >= 64) return;
    if (random.chance(0.3)) return;  // in two passes what would fit into one
    shift = first;
    for (std::size_t i = 0; i < places; ++i)
      values[0][i] += values[1][i] * (std::int64_t{1} << shift);
  }

  [[nodiscard]] SetCounts count(const RowSet& set) const {
    SetCounts out;
    out.clear(n_classes);
    for (std::size_t s = 0; s < runs.size(); ++s) {
      const maptree::Segment& segment = data.segments()[s];
      std::int32_t n = 0;
      for (std::size_t w = segment.first_word; w < segment.first_word + segment.n_words; ++w)
        maptree::for_each_slot(set.word(w), 0, [&](std::size_t) { ++n; });
      out.add(segment.pattern, n, runs[s].group_floor);
    }
    for (std::size_t w = 0; data.has_amounts() && w < data.n_words(); ++w)
      maptree::for_each_slot(set.word(w), w * 64, [&](std::size_t slot) {
        for (int v = 0; v < 2; ++v) out.amounts[v] += data.amounts(slot).of[v];
      });
    return out;
  }
  [[nodiscard]] RowSet side(const RowSet& from, std::size_t column, int value) const {
    RowSet out;
    out.assign_side(from, data.column(column), value);
    return out;
  }

  [[nodiscard]] maptree::PairScan scan() const {
    maptree::PairScan s;
    s.words = words.data();
    s.stride = stride;
    s.runs = runs.data();
    s.n_runs = runs.size();
    s.n_classes = data.n_classes();
    s.folded = folded;
    s.grouped = total.groups != 0;
    s.leaves_only = leaves_only;
    s.multiplicity = multiplicity.data();
    s.test_cost = data.weighted() ? test_cost.data() : nullptr;
    s.rising = posterior.rising_table();
    s.mixed = mixed.data();
    s.pure = pure.data();
    const maptree::Posterior::TwoClassTable& small = posterior.two_class_table();
    s.two_class = use_two_class ? small.entries.data() : nullptr;
    s.two_class_stride = small.stride;
    const maptree::LevelBounds& level = bounds.level(depth);
    s.floor = level.floor.data();
    s.floor_cap = maptree::floor_cap;
    s.stop_lower = bounds.stop_lower(depth).units();
    s.stop_upper = bounds.stop_upper(depth).units();
    s.min_leaf = static_cast<std::int32_t>(options.min_samples_leaf);
    return s;
  }

  Dataset data;
  maptree::Options options;
  maptree::Posterior posterior;
  Bounds bounds;
  std::size_t depth;  // of the grandchildren
  std::size_t stride;
  RowSet rows;
  std::size_t n_classes;
  std::vector<std::uint32_t> words;
  std::vector<maptree::PairRun> runs;
  std::vector<std::int32_t> multiplicity;
  std::vector<std::int64_t> test_cost;
  bool folded = false;
  bool use_two_class = false;
  bool leaves_only = false;
  mutable SetCounts total;
  std::vector<const std::int64_t*> mixed, pure;
  std::vector<std::uint8_t> bits;       // by place, as PairAmounts::rows
  std::vector<std::int64_t> values[2];  // by place
  unsigned shift = 0;
};

// What a scan of rows with amounts needs.
struct AmountBuffers {
  std::vector<std::int64_t> one[2], both[2], listed[2];
  std::vector<std::uint32_t> places;
  maptree::PairAmounts scan;
  AmountBuffers(const Node& node, const SetCounts& total) : places(64 * node.data.n_words()) {
    scan.rows = node.bits.data();
    scan.row_bytes = node.stride / 8;
    scan.shift = node.shift;
    scan.places = places.data();
    scan.costs = *node.posterior.sum_costs();
    for (int v = 0; v < 2; ++v) {
      one[v].assign(node.stride, 0);
      for (std::size_t c = 0; c < node.data.n_columns(); ++c)
        one[v][c] = node.count(node.side(node.rows, c, 1)).amounts[v];
      both[v].assign(maptree::rows_at_once * node.stride, 0);
      listed[v].assign(64 * node.data.n_words(), 0);
      scan.values[v] = node.values[v].data();
      scan.one[v] = one[v].data();
      scan.both[v] = both[v].data();
      scan.listed[v] = listed[v].data();
      scan.total[v] = total.amounts[v];
    }
  }
};

struct Found {
  std::vector<std::int64_t> lower[2], upper[2];
  std::vector<std::int32_t> varying[2];
  explicit Found(std::size_t stride) {
    for (int side = 0; side < 2; ++side) {
      lower[side].assign(stride, Cost::infinity().units());
      upper[side].assign(stride, Cost::infinity().units());
      varying[side].assign(stride, 0);
    }
  }
};

// What the header promises, pair by pair and with the scalar bounds.
Found expected(const Node& node) {
  Found out(node.stride);
  for (std::size_t j = 0; j < node.data.n_columns(); ++j) {
    for (int side = 0; side < 2; ++side) {
      const RowSet child = node.side(node.rows, j, side);
      for (std::size_t i = 0; i < node.data.n_columns(); ++i) {
        if (i == j) continue;
        Cost lower(node.test_cost[i]), upper(node.test_cost[i]);
        std::int32_t least = INT32_MAX;
        for (int value = 0; value < 2; ++value) {
          const SetCounts set = node.count(node.side(child, i, value));
          const maptree::Bracket bracket = node.bounds.bracket(set, node.depth);
          lower += bracket.lower;
          upper += bracket.upper;
          least = std::min(least, set.weight);
        }
        if (least > 0) out.varying[side][j] += node.multiplicity[i];
        if (least < node.options.min_samples_leaf) continue;
        out.lower[side][j] = std::min(out.lower[side][j], lower.units());
        out.upper[side][j] = std::min(out.upper[side][j], upper.units());
      }
    }
  }
  return out;
}

void check_counts(const Node& node, const Buffers& found, std::size_t column, const SetCounts& set,
                  bool grouped) {
  for (std::size_t k = 0; k < node.n_classes; ++k) {
    CHECK_EQUAL(found.classes[k * node.stride + column], set.classes[k]);
    if (grouped) CHECK_EQUAL(found.rest[k * node.stride + column], set.rest[k]);
  }
  if (node.folded) CHECK_EQUAL(found.distinct[column], set.distinct);
  if (grouped) CHECK_EQUAL(found.groups[column], set.groups);
}

void check_kernel(const Node& node, const maptree::PairKernel& kernel, const Found& right,
                  std::size_t n_open, std::size_t at_once) {
  const std::size_t n_columns = node.data.n_columns();
  maptree::PairScan scan = node.scan();
  Buffers one(node.n_classes, node.stride);
  Buffers both(node.n_classes, maptree::rows_at_once * node.stride);
  scan.one = one.counts();
  scan.both = both.counts();
  scan.total = {node.total.classes.data(), &node.total.distinct, node.total.rest.data(),
                &node.total.groups};
  std::optional<AmountBuffers> amounts;
  if (node.data.has_amounts()) scan.amounts = &amounts.emplace(node, node.total).scan;
  scan.leaves_only = false;
  // In parts of any size.
  const std::size_t cut = node.stride / maptree::lanes / 2 * maptree::lanes;
  kernel.count_columns(scan, one.counts(), 0, cut);
  kernel.count_columns(scan, one.counts(), cut, node.stride);
  scan.leaves_only = node.leaves_only;
  for (std::size_t c = 0; c < n_columns; ++c)
    check_counts(node, one, c, node.count(node.side(node.rows, c, 1)), scan.grouped);
  if (n_columns > 0) {
    const std::size_t with = at_once % n_columns;
    kernel.count_with(scan, with, 0, cut);
    kernel.count_with(scan, with, cut, node.stride);
    const RowSet ones = node.side(node.rows, with, 1);
    for (std::size_t c = 0; c < n_columns; ++c) {
      const SetCounts set = node.count(node.side(ones, c, 1));
      check_counts(node, both, c, set, scan.grouped && !node.leaves_only);
      for (int v = 0; v < 2 && amounts; ++v) CHECK_EQUAL(amounts->both[v][c], set.amounts[v]);
    }
  }

  Found found(node.stride);
  for (int side = 0; side < 2; ++side) {
    scan.lower[side] = node.leaves_only ? nullptr : found.lower[side].data();
    scan.upper[side] = found.upper[side].data();
    scan.varying[side] = found.varying[side].data();
  }
  for (std::size_t i = 0; i < n_open; i += at_once)
    for (const auto& [first, last] : {std::pair(std::size_t{0}, cut), std::pair(cut, node.stride)})
      kernel.scan_rows(scan, i, std::min(at_once, n_open - i), first, last);
  for (std::size_t c = 0; c < n_open; ++c) {
    for (int side = 0; side < 2; ++side) {
      // A split that is barred may be a test's cost below infinity.
      const auto told = [](std::int64_t units) {
        return Cost(units).finite() ? units : Cost::infinity().units();
      };
      CHECK_EQUAL(told((node.leaves_only ? found.upper : found.lower)[side][c]),
                  right.lower[side][c]);
      CHECK_EQUAL(told(found.upper[side][c]), right.upper[side][c]);
      CHECK_EQUAL(found.varying[side][c], right.varying[side][c]);
    }
  }
}

Problem random_node_problem(Random& random, std::size_t n_classes) {
  Problem problem;
  problem.model = fuzz::random_model(
      random, random.one_of({fuzz::Shape::tall, fuzz::Shape::wide, fuzz::Shape::shallow}));
  problem.model.rho.assign(n_classes, random.log_uniform(0.1, 20));
  for (int& label : problem.model.y) label = random.below(static_cast<int>(n_classes));
  problem.model.min_leaf = random.between(1L, 5L);
  problem.model.max_depth = random.chance(0.5) ? random.between(0L, 2L) : -1;
  problem.options.fold_rows = random.chance(0.6);
  problem.options.fold_columns = random.chance(0.6);
  problem.options.equivalent_rows_bound = random.chance(0.8);
  if (random.chance(0.5)) fuzz::random_test_weights(random, problem.model);
  return problem;
}

}  // namespace

TEST(every_kernel_gives_the_scalar_bounds) {
  Random random(41);
  int folded = 0, not_folded = 0, grouped = 0, two_class = 0, leaves_only = 0, weighted = 0;
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_node_problem(random, static_cast<std::size_t>(round % 6 + 1));
    const Node node(problem, random, random.chance(0.1));
    ++(node.folded ? folded : not_folded);
    grouped += node.total.groups != 0;
    two_class += node.use_two_class;
    leaves_only += node.leaves_only;
    weighted += node.data.weighted();
    const Found right = expected(node);
    const std::size_t n_columns = node.data.n_columns();
    const std::size_t n_open = random.chance(0.5) ? n_columns : random.below(n_columns + 1);
    const auto at_once = random.between<std::size_t>(1, 2 * maptree::rows_at_once + 1);
    for (const Kernel kernel : all_kernels)
      if (maptree::kernel_available(kernel))
        check_kernel(node, maptree::pair_kernel(kernel), right, n_open, at_once);
  }
  CHECK(std::min({folded, not_folded, grouped, two_class, leaves_only, weighted}) > 20);
}

TEST(every_kernel_gives_the_scalar_bounds_of_numbers_and_counts) {
  Random random(43);
  int in_one = 0, in_two = 0, counts = 0, folded = 0, leaves_only = 0, weighted = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem = random_node_problem(random, 1);
    fuzz::random_amounts(random, problem);
    const Node node(problem, random, random.chance(0.1));
    ++(node.shift > 0 ? in_one : in_two);
    counts += problem.model.outcome == brute_force::Outcome::counts;
    folded += node.folded;
    leaves_only += node.leaves_only;
    weighted += node.data.weighted();
    const Found right = expected(node);
    const std::size_t n_columns = node.data.n_columns();
    const std::size_t n_open = random.chance(0.5) ? n_columns : random.below(n_columns + 1);
    const auto at_once = random.between<std::size_t>(1, 2 * maptree::rows_at_once + 1);
    for (const Kernel kernel : all_kernels)
      if (maptree::kernel_available(kernel))
        check_kernel(node, maptree::pair_kernel(kernel), right, n_open, at_once);
    if (check::failures > 0) {
      fuzz::write(std::cout, problem);
      return;
    }
  }
  CHECK(std::min({in_one, in_two, counts, folded, leaves_only, weighted}) > 20);
}

// Any values, and any number of rows, none included, with bits that begin anywhere in a row.
TEST(every_kernel_sums_rows_alike) {
  Random random(44);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n_rows = random.between<std::size_t>(1, 70);
    const std::size_t row_bytes = random.between<std::size_t>(maptree::lanes / 8, 9);
    const std::size_t first = random.below(row_bytes - maptree::lanes / 8 + 1);
    std::vector<std::uint8_t> rows(n_rows * row_bytes);
    for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>(random.next());
    const std::size_t n = random.below(n_rows + 1);
    std::vector<std::uint32_t> places(n);
    std::vector<std::int64_t> values(n);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = static_cast<std::uint32_t>(random.below(n_rows));
      values[i] = static_cast<std::int64_t>(random.next() >> random.between(7, 60)) *
                  random.one_of({1, -1});
    }
    for (const Kernel kernel : all_kernels) {
      if (!maptree::kernel_available(kernel)) continue;
      std::vector<std::int64_t> sums(maptree::lanes, 99);
      maptree::pair_kernel(kernel).sum_rows(rows.data() + first, row_bytes, places.data(),
                                            values.data(), n, sums.data());
      for (std::size_t c = 0; c < maptree::lanes; ++c) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < n; ++i)
          if ((rows[places[i] * row_bytes + first + c / 8] >> (c % 8) & 1) != 0) sum += values[i];
        CHECK_EQUAL(sums[c], sum);
      }
    }
  }
}

// The first of two sums is signed, the second is not negative.
TEST(sums_in_one_number_are_parted) {
  Random random(45);
  for (int round = 0; round < 2000; ++round) {
    const unsigned shift = random.between(1u, 62u);
    std::int64_t packed[maptree::lanes], second[maptree::lanes], right[2][maptree::lanes];
    for (std::size_t l = 0; l < maptree::lanes; ++l) {
      const std::int64_t most = (std::int64_t{1} << (shift - 1)) - 1;
      right[0][l] = random.one_of({-most, most, std::int64_t{0}, random.between(-most, most)});
      const std::int64_t most_second = (std::int64_t{1} << (63 - shift)) - 1;
      right[1][l] = random.one_of({std::int64_t{0}, random.between(std::int64_t{0}, most_second)});
      packed[l] = right[1][l] * (std::int64_t{1} << shift) + right[0][l];
    }
    maptree::unpack_amounts(shift, packed, second);
    for (std::size_t l = 0; l < maptree::lanes; ++l) {
      CHECK_EQUAL(packed[l], right[0][l]);
      CHECK_EQUAL(second[l], right[1][l]);
    }
  }
}

TEST(kernels_that_cannot_run_are_refused) {
  CHECK(maptree::kernel_available(Kernel::plain));
  CHECK(maptree::kernel_available(Kernel::automatic));
  const std::string names[] = {"plain", "avx2", "avx512"};  // in the order of all_kernels
  std::string best;
  for (std::size_t i = 0; i < 3; ++i) {
    if (maptree::kernel_available(all_kernels[i]))
      CHECK_EQUAL(best = maptree::pair_kernel(all_kernels[i]).name, names[i]);
    else
      CHECK_THROWS(std::invalid_argument, maptree::pair_kernel(all_kernels[i]));
  }
  CHECK_EQUAL(maptree::pair_kernel(Kernel::automatic).name, best);
}

// As the system tells it: a kernel that is thought to be missing would not be tried by any test.
TEST(kernels_are_available_where_the_processor_has_what_they_need) {
#if MAPTREE_X86_KERNELS
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line) && line.rfind("flags", 0) != 0) {
  }
  if (line.rfind("flags", 0) != 0) return;
  std::istringstream words(line);
  const std::set<std::string> flags(std::istream_iterator<std::string>(words), {});
  const auto has = [&](std::initializer_list<const char*> wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const char* flag) { return flags.contains(flag); });
  };
  CHECK_EQUAL(maptree::kernel_available(Kernel::avx2), has({"avx2"}));
  CHECK_EQUAL(maptree::kernel_available(Kernel::avx512),
              has({"avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vpopcntdq"}));
#endif
}
