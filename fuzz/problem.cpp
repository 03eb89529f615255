#include "problem.hpp"

#include <array>
#include <functional>
#include <initializer_list>
#include <istream>
#include <ostream>
#include <set>
#include <sstream>

#include "scan/pair_kernel.hpp"

namespace fuzz {

using maptree::Kernel;
using maptree::Options;

const std::vector<Switch> switches = {
    {"fold_columns", &Options::fold_columns},
    {"fold_rows", &Options::fold_rows},
    {"compact", &Options::compact},
    {"pair_expansion", &Options::pair_expansion},
    {"distinct_rows_bound", &Options::distinct_rows_bound},
    {"varying_bound", &Options::varying_bound},
    {"structure_bound", &Options::structure_bound},
    {"equivalent_rows_bound", &Options::equivalent_rows_bound},
    {"greedy_start", &Options::greedy_start},
    {"improve", &Options::improve},
    {"depth_first", &Options::depth_first},
    {"depth_transfer", &Options::depth_transfer},
    {"graded_proof", &Options::graded_proof},
    {"spans", &Options::spans},
    {"few_leaves_bound", &Options::few_leaves_bound},
};

namespace {

const std::array<std::pair<const char*, Kernel>, 4> kernel_names = {
    {{"automatic", Kernel::automatic},
     {"plain", Kernel::plain},
     {"avx2", Kernel::avx2},
     {"avx512", Kernel::avx512}}};

}  // namespace

maptree::Dataset make_dataset(const Problem& problem, maptree::Folding folding) {
  const brute_force::Problem& model = problem.model;
  std::size_t n_binary = model.n_columns();
  for (const std::size_t n : problem.ordered) n_binary -= n;
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<maptree::OrderedColumn> ordered;
  std::size_t first = n_binary;
  for (const std::size_t n : problem.ordered) {
    std::vector<std::uint32_t>& of = ranks.emplace_back();
    for (const std::vector<int>& row : model.x) {
      of.push_back(static_cast<std::uint32_t>(n));
      for (std::size_t t = 0; t < n; ++t) of.back() -= static_cast<std::uint32_t>(row[first + t]);
    }
    first += n;
  }
  for (std::size_t c = 0; c < ranks.size(); ++c)
    ordered.push_back({ranks[c], static_cast<std::uint32_t>(problem.ordered[c] + 1)});
  maptree::PackedTable table(model.x.size(), n_binary);
  for (std::size_t r = 0; r < table.n_rows; ++r)
    for (std::size_t c = 0; c < table.n_columns; ++c)
      if (model.x[r][c] == 1) table.column(c)[r / 64] |= maptree::Word{1} << (r % 64);
  const std::vector<std::int32_t> labels(model.y.begin(), model.y.end());
  const std::vector<std::int64_t> weights(model.weight.begin(), model.weight.end());
  const std::vector<std::uint32_t> tests(model.test_weight.begin(), model.test_weight.end());
  std::vector<maptree::Use> uses;
  const auto add_use = [&](std::size_t column) {
    if (model.use.empty()) return;
    const char use = model.use[column];
    uses.push_back(use == '*'   ? maptree::Use::anywhere
                   : use == '+' ? maptree::Use::below_root
                                : maptree::Use::nowhere);
  };
  for (std::size_t c = 0; c < n_binary; ++c) add_use(c);
  for (std::size_t c = n_binary, o = 0; o < problem.ordered.size(); c += problem.ordered[o++])
    add_use(c);  // thresholds of one column have one use
  std::vector<maptree::Amounts> amounts;
  for (std::size_t r = 0; model.has_amounts() && r < model.x.size(); ++r)
    amounts.push_back({{model.amount[r], model.second(r)}});
  return {std::move(table),
          ordered,
          labels,
          weights,
          static_cast<int>(model.n_classes()),
          folding,
          SIZE_MAX,
          maptree::no_watch(),
          tests,
          uses,
          amounts};
}

maptree::Dataset make_dataset(const Problem& problem) {
  return make_dataset(problem, {problem.options.fold_rows, problem.options.fold_columns});
}

maptree::Prior make_prior(const Problem& problem) {
  const brute_force::Problem& model = problem.model;
  maptree::Prior prior{model.alpha, model.beta, model.rho};
  if (model.outcome == brute_force::Outcome::numbers)
    prior.leaves = maptree::NumberLeaves{model.kappa, model.nu, model.lambda, model.steps};
  if (model.outcome == brute_force::Outcome::counts)
    prior.leaves = maptree::CountLeaves{model.shape, model.rate, model.units};
  return prior;
}

Options make_options(const Problem& problem) {
  Options options = problem.options;
  options.max_depth = problem.model.max_depth;
  options.min_samples_leaf = problem.model.min_leaf;
  options.max_leaves = problem.model.max_leaves;
  options.leaf_price = problem.model.leaf_price;
  // A trace from another machine still says something here.
  if (!maptree::kernel_available(options.kernel)) options.kernel = Kernel::automatic;
  return options;
}

namespace {

using Model = brute_force::Problem;

double random_rho(Random& random) {
  if (random.chance(0.1)) return random.one_of({1e-6, 1e6, 1e-9, 1e9});
  return random.chance(0.3) ? 2.5 : random.log_uniform(0.1, 20);
}

void random_prior(Random& random, Model& model) {
  model.alpha = random.one_of({0.95, 0.95, 0.5, 0.999, 0.01, random.uniform() * 0.98 + 0.01});
  model.beta = random.one_of({0.5, 0.5, 0.0, 2.0, 8.0, 3 * random.uniform()});
  const double same = random_rho(random);
  const bool equal = random.chance(0.7);
  model.rho.assign(random.between<std::size_t>(random.chance(0.1) ? 1 : 2, 4), same);
  if (!equal)
    for (double& r : model.rho) r = random_rho(random);
}

std::size_t random_row_count(Random& random, Shape shape) {
  if (shape == Shape::wide) return random.between<std::size_t>(1, 30);
  if (random.chance(0.2)) return random.one_of<std::size_t>({1, 63, 64, 65, 127, 128, 129, 140});
  return random.between<std::size_t>(1, 60);
}

// Independent columns, then copies, complements and constants of some of them.
void random_columns(Random& random, Model& model, std::size_t n_columns) {
  std::vector<double> ones(n_columns);
  for (double& p : ones) p = random.chance(0.5) ? 0.5 : random.uniform();
  for (auto& row : model.x)
    for (std::size_t c = 0; c < n_columns; ++c) row[c] = random.chance(ones[c]) ? 1 : 0;
  if (n_columns < 2 || random.chance(0.4)) return;
  for (std::size_t c = 1; c < n_columns; ++c) {
    if (random.chance(0.6)) continue;
    const std::size_t from = random.below(c);
    const int flip = random.below(2);
    const bool constant = random.chance(0.15), nearly = random.chance(0.3);
    for (auto& row : model.x) row[c] = constant ? flip : row[from] ^ flip;
    // Equal but for one row.
    if (nearly) model.x[random.below(model.x.size())][c] ^= 1;
  }
}

// Rows drawn from a few: identical ones, and with noisy labels impure ones.
void repeat_rows(Random& random, Model& model, std::size_t n_distinct) {
  const std::vector<std::vector<int>> pool(
      model.x.begin(),
      model.x.begin() + static_cast<std::ptrdiff_t>(std::min(n_distinct, model.x.size())));
  for (auto& row : model.x) row = pool[random.below(pool.size())];
}

void random_labels(Random& random, Model& model) {
  const auto n_classes = static_cast<int>(model.n_classes());
  const double noise = random.one_of({0.0, 0.05, 0.3, 1.0});
  const std::size_t n_columns = model.n_columns();
  std::vector<std::size_t> relevant;
  for (int i = random.between(0, 3); i > 0 && n_columns > 0; --i)
    relevant.push_back(random.below(n_columns));
  const bool parity = random.chance(0.5);
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    int value = 0;
    for (const std::size_t c : relevant) value = (parity ? value : 2 * value) + model.x[r][c];
    model.y.push_back(random.chance(noise) ? random.below(n_classes) : value % n_classes);
  }
}

void random_weights(Random& random, Model& model) {
  const long most = random.one_of<long>({1, 1, 1, 3, 10, 200});
  const double absent = random.one_of({0.0, 0.0, 0.2});
  for (std::size_t r = 0; r < model.x.size(); ++r)
    model.weight.push_back(random.chance(absent) ? 0 : random.between(1L, most));
  model.weight[random.below(model.weight.size())] = 1;
}

}  // namespace

Model random_model(Random& random, Shape shape) {
  Model model;
  random_prior(random, model);
  std::size_t n_columns = random.between<std::size_t>(random.chance(0.05) ? 0 : 1, 7);
  if (shape != Shape::tall)
    n_columns = random.between<std::size_t>(8, shape == Shape::wide ? 40 : 20);
  model.x.assign(random_row_count(random, shape), std::vector<int>(n_columns));
  random_columns(random, model, n_columns);
  if (shape == Shape::wide)
    repeat_rows(random, model, random.between<std::size_t>(1, 8));
  else if (random.chance(0.6))
    repeat_rows(random, model, random.between<std::size_t>(1, 40));
  random_labels(random, model);
  random_weights(random, model);
  if (shape == Shape::shallow)
    model.max_depth = random.between(0L, 2L);
  else if (random.chance(0.25))
    model.max_depth = random.between(0L, 5L);
  if (random.chance(0.25)) model.min_leaf = random.between(1L, 8L);
  return model;
}

void make_ordered(Random& random, Problem& problem) {
  std::size_t left = problem.model.n_columns();
  left -= random.below(left / 2 + 1);  // some stay as they are
  std::size_t first = problem.model.n_columns();
  while (left > 0) {
    const std::size_t n = random.between<std::size_t>(1, std::min<std::size_t>(left, 12));
    first -= n;
    left -= n;
    problem.ordered.insert(problem.ordered.begin(), n);
    for (auto& row : problem.model.x) {
      std::size_t rank = 0;
      for (std::size_t t = 0; t < n; ++t) rank += static_cast<std::size_t>(row[first + t]);
      for (std::size_t t = 0; t < n; ++t) row[first + t] = rank <= t ? 1 : 0;
    }
  }
  problem.options.fold_rows = problem.options.depth_first = true;
}

// Every row once, with weight 1: what bounds of rows that count one each are for.
void keep_distinct_rows(Model& model) {
  std::set<std::vector<int>> seen;
  std::size_t kept = 0;
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    if (!seen.insert(model.x[r]).second) continue;
    if (kept < r) model.x[kept] = std::move(model.x[r]);
    model.y[kept++] = model.y[r];
  }
  model.x.resize(kept);
  model.y.resize(kept);
  model.weight.assign(kept, 1);
}

void random_test_weights(Random& random, Model& model) {
  constexpr long heaviest = 1L << 30;
  const int kind = random.below(5);
  const long same = random.between(1L, 9L);
  model.test_weight.clear();
  for (std::size_t c = 0; c < model.n_columns(); ++c) {
    long weight = same;
    if (kind == 1) weight = random.between(1L, 3L);
    if (kind == 2) weight = 1L << random.below(12);
    if (kind == 3) weight = random.between(1L, 40'000'000L);
    // One that outweighs all others by far.
    if (kind == 4) weight = c == 0 ? heaviest : random.between(1L, 100L);
    model.test_weight.push_back(weight);
  }
  if (kind == 4 && model.n_columns() > 0)
    std::swap(model.test_weight[0], model.test_weight[random.below(model.n_columns())]);
}

void random_uses(Random& random, Problem& problem) {
  Model& model = problem.model;
  const double below = random.one_of({0.0, 0.3, 0.8}), nowhere = random.one_of({0.0, 0.2, 0.5});
  model.use.clear();
  for (std::size_t c = 0; c < model.n_columns(); ++c)
    model.use += random.chance(below) ? '+' : random.chance(nowhere) ? '-' : '*';
  std::size_t first = model.n_columns();
  for (std::size_t o = problem.ordered.size(); o-- > 0;) {
    first -= problem.ordered[o];
    std::fill_n(model.use.begin() + static_cast<std::ptrdiff_t>(first), problem.ordered[o],
                model.use[first]);
  }
}

Problem random_problem(Random& random) {
  Problem problem;
  problem.model =
      random_model(random, random.one_of({Shape::tall, Shape::tall, Shape::wide, Shape::shallow}));
  if (random.chance(0.1)) {
    problem.options = Options::paper();
  } else if (random.chance(0.7)) {
    const double off = random.one_of({0.1, 0.5});
    for (const Switch& s : switches) problem.options.*s.member = !random.chance(off);
  }
  problem.options.kernel = kernel_names[random.below(kernel_names.size())].second;
  if (random.chance(0.4)) problem.max_expansions = random.below(random.one_of<long>({3, 30, 300}));
  if (random.chance(0.3)) problem.spare_bytes = random.below(1L << random.between(10, 20));
  if (random.chance(0.03)) problem.starved = 1;
  if (random.chance(0.1)) problem.stop_at_poll = random.between(1L, 3L);
  // What most wants trying: proofs by depth, on several threads, in memory that has to be reused.
  if (random.chance(0.7)) problem.options.depth_first = true;
  if (problem.options.depth_first && random.chance(0.3)) problem.threads = random.between(2L, 3L);
  if (random.chance(0.3)) {
    make_ordered(random, problem);
    if (random.chance(0.5)) keep_distinct_rows(problem.model);
  }
  if (random.chance(0.33)) random_test_weights(random, problem.model);
  if (problem.options.depth_first && random.chance(0.3))
    problem.model.max_leaves = random.between(1L, 7L);
  if (random.chance(0.1)) problem.model.leaf_price = random.log_uniform(0.01, 10);
  if (random.chance(0.25)) random_uses(random, problem);
  Random apart(Random(random).next() ^ 0x6e756d62657273ULL);
  if (problem.ordered.empty() && apart.chance(0.36)) random_amounts(apart, problem);
  return problem;
}

Model tic_tac_toe() {
  using Board = std::array<int, 9>;  // 0 blank, 1 o, 2 x
  static constexpr int lines[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                      {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
  const auto has_won = [](const Board& board, std::size_t player) {
    return std::any_of(std::begin(lines), std::end(lines), [&](const int* line) {
      return std::all_of(line, line + 3, [&](int square) {
        return board[static_cast<std::size_t>(square)] == static_cast<int>(player);
      });
    });
  };
  std::set<Board> finished;
  const std::function<void(Board&, int)> play = [&](Board& board, int moves) {
    if (moves == 9 || has_won(board, 1) || has_won(board, 2)) {
      finished.insert(board);
      return;
    }
    for (int& square : board) {
      if (square != 0) continue;
      square = moves % 2 == 0 ? 2 : 1;
      play(board, moves + 1);
      square = 0;
    }
  };
  Board empty{};
  play(empty, 0);
  Model model;
  for (const Board& board : finished) {
    std::vector<int> row;
    for (const int square : board)
      for (int what = 0; what < 3; ++what) row.push_back(square == what ? 1 : 0);
    model.x.push_back(row);
    model.y.push_back(has_won(board, 2) ? 1 : 0);
    model.weight.push_back(1);
  }
  return model;
}

void write(std::ostream& out, const Problem& problem) {
  const Model& model = problem.model;
  out.precision(17);
  out << "alpha " << model.alpha << "\nbeta " << model.beta << "\nrho";
  for (const double r : model.rho) out << ' ' << r;
  out << '\n';
  if (!model.test_weight.empty()) out << "tests";
  for (const long w : model.test_weight) out << ' ' << w;
  if (!model.test_weight.empty()) out << '\n';
  if (!model.use.empty()) out << "use " << model.use << '\n';
  if (model.outcome == brute_force::Outcome::numbers)
    out << "numbers " << model.kappa << ' ' << model.nu << ' ' << model.lambda << ' ' << model.steps
        << '\n';
  if (model.outcome == brute_force::Outcome::counts)
    out << "counts " << model.shape << ' ' << model.rate << ' ' << model.units << '\n';
  const auto number = [&](const char* name, long value, long usual) {
    if (value != usual) out << name << ' ' << value << '\n';
  };
  number("max_depth", model.max_depth, -1);
  number("min_samples_leaf", model.min_leaf, 1);
  number("max_leaves", model.max_leaves, -1);
  if (model.leaf_price != 0) out << "leaf_price " << model.leaf_price << '\n';
  number("max_expansions", problem.max_expansions, -1);
  number("spare_bytes", problem.spare_bytes, -1);
  number("starved", problem.starved, -1);
  number("stop_at_poll", problem.stop_at_poll, -1);
  number("threads", problem.threads, -1);
  if (problem.optimum) out << "optimum " << *problem.optimum << '\n';
  for (const auto& [name, kernel] : kernel_names)
    if (kernel == problem.options.kernel && kernel != Kernel::automatic)
      out << "kernel " << name << '\n';
  for (const Switch& s : switches)
    if (!(problem.options.*s.member)) out << "off " << s.name << '\n';
  if (!problem.ordered.empty()) {
    out << "ordered";
    for (const std::size_t n : problem.ordered) out << ' ' << n;
    out << '\n';
  }
  out << "rows\n";
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    for (const int value : model.x[r]) out << value;
    out << (model.x[r].empty() ? "- " : " ") << model.y[r] << ' ' << model.weight[r];
    if (model.has_amounts()) out << ' ' << model.amount[r];
    if (model.outcome == brute_force::Outcome::counts) out << ' ' << model.exposure[r];
    out << '\n';
  }
}

Problem read(std::istream& in) {
  Problem problem;
  Model& model = problem.model;
  const auto fail = [](const std::string& line) {
    throw std::runtime_error("not a line of a trace: " + line);
  };
  bool in_rows = false;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, value;
    words >> name;
    if (in_rows) {
      std::vector<int> row;
      for (const char c : name)
        if (c != '-') row.push_back(c == '1' ? 1 : 0);
      model.x.push_back(row);
      words >> model.y.emplace_back() >> model.weight.emplace_back();
      if (model.has_amounts()) words >> model.amount.emplace_back();
      if (model.outcome == brute_force::Outcome::counts) words >> model.exposure.emplace_back();
      if (model.n_columns() != row.size()) fail(line);
    } else if (name == "rows") {
      in_rows = true;
      continue;
    } else if (name == "rho") {
      model.rho.clear();
      while (words >> value) model.rho.push_back(std::stod(value));
      continue;
    } else if (name == "ordered") {
      while (words >> value) problem.ordered.push_back(std::stoul(value));
      continue;
    } else if (name == "tests") {
      while (words >> value) model.test_weight.push_back(std::stol(value));
      continue;
    } else if (name == "numbers") {
      model.outcome = brute_force::Outcome::numbers;
      words >> model.kappa >> model.nu >> model.lambda >> model.steps;
    } else if (name == "counts") {
      model.outcome = brute_force::Outcome::counts;
      words >> model.shape >> model.rate >> model.units;
    } else if (name == "use") {
      words >> model.use;
    } else if (name == "off") {
      words >> value;
      const auto s = std::find_if(switches.begin(), switches.end(),
                                  [&](const Switch& other) { return value == other.name; });
      if (s == switches.end()) fail(line);
      problem.options.*s->member = false;
    } else if (name == "kernel") {
      words >> value;
      for (const auto& [kernel_name, kernel] : kernel_names)
        if (value == kernel_name) problem.options.kernel = kernel;
    } else if (name == "alpha") {
      words >> model.alpha;
    } else if (name == "beta") {
      words >> model.beta;
    } else if (name == "optimum") {
      words >> problem.optimum.emplace();
    } else if (name == "max_depth") {
      words >> model.max_depth;
    } else if (name == "min_samples_leaf") {
      words >> model.min_leaf;
    } else if (name == "max_leaves") {
      words >> model.max_leaves;
    } else if (name == "leaf_price") {
      words >> model.leaf_price;
    } else if (name == "max_expansions") {
      words >> problem.max_expansions;
    } else if (name == "spare_bytes") {
      words >> problem.spare_bytes;
    } else if (name == "starved") {
      words >> problem.starved;
    } else if (name == "stop_at_poll") {
      words >> problem.stop_at_poll;
    } else if (name == "threads") {
      words >> problem.threads;
    } else {
      fail(line);
    }
    if (words.fail()) fail(line);
  }
  if (model.x.empty()) throw std::runtime_error("a trace without rows");
  if (!model.test_weight.empty() && model.test_weight.size() != model.n_columns())
    throw std::runtime_error("a trace needs a weight a column");
  if (!model.use.empty() && model.use.size() != model.n_columns())
    throw std::runtime_error("a trace needs a use a column");
  return problem;
}

}  // namespace fuzz
