// Fuzz: random problems against brute force (verify.hpp), until one fails. A failure is made as
// small as it gets while it still fails, printed, and kept as a trace that core_test replays.
//
//   fuzz [--cases N] [--seed S] [--traces DIR]     N cases, else until Ctrl-C
//   fuzz --replay FILE                             one trace
//
// Endless runs start from the clock, counted ones from seed 1. Problems run in a process of their
// own where the system has fork: a failed assertion, a report of a sanitizer and a search that does
// not end are shrunk like any other failure.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "scan/pair_kernel.hpp"
#include "verify.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#define MAPTREE_FORK 1
#endif

namespace {

using fuzz::Problem;
using fuzz::Random;

struct Arguments {
  long cases = -1;
  std::uint64_t seed = 0;
  std::string traces;
  std::string replay;
};

volatile std::sig_atomic_t interrupted = 0;  // by Ctrl-C: finish the batch and report

#if MAPTREE_FORK
constexpr unsigned patience = 10;  // seconds; a problem takes milliseconds

// Runs `work` apart and returns what it returned, or how it died; what it prints on the way is
// noise.
template <class Work>
std::string apart(const Work& work, unsigned n_problems = 1) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no fork");
  if (child == 0) {
    close(ends[0]);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    std::signal(SIGINT, SIG_IGN);
    alarm(patience * n_problems);
    const std::string wrong = work();
    const bool sent = write(ends[1], wrong.data(), wrong.size()) >= 0;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::string wrong;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    wrong.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "the search does not end";
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return "crashed: a failed assertion or a report of a sanitizer (run --replay to see it)";
  return wrong;
}
#else
template <class Work>
std::string apart(const Work& work, unsigned = 1) {
  return work();
}
#endif

// Removes row `r` for each r in [first, last).
Problem without_rows(const Problem& problem, std::size_t first, std::size_t last) {
  Problem out = problem;
  const auto cut = [&](auto& v) {
    if (v.empty()) return;
    v.erase(v.begin() + static_cast<std::ptrdiff_t>(first),
            v.begin() + static_cast<std::ptrdiff_t>(last));
  };
  cut(out.model.x);
  cut(out.model.y);
  cut(out.model.weight);
  cut(out.model.amount);
  cut(out.model.exposure);
  return out;
}

Problem without_column(const Problem& problem, std::size_t column) {
  Problem out = problem;
  const auto cut = [&](auto& v) {
    if (!v.empty()) v.erase(v.begin() + static_cast<std::ptrdiff_t>(column));
  };
  for (auto& row : out.model.x) cut(row);
  cut(out.model.test_weight);
  cut(out.model.use);
  // A threshold less is one rank less.
  std::size_t end = problem.model.n_columns();
  for (std::size_t o = out.ordered.size(); o-- > 0;) {
    end -= out.ordered[o];
    if (column < end) continue;
    if (--out.ordered[o] == 0)
      out.ordered.erase(out.ordered.begin() + static_cast<std::ptrdiff_t>(o));
    break;
  }
  return out;
}

// Every way to make a problem a little smaller or plainer, the larger steps first.
std::vector<Problem> smaller(const Problem& problem) {
  std::vector<Problem> out;
  const std::size_t n = problem.model.x.size();
  for (std::size_t size = (n + 1) / 2; size > 0; size /= 2)
    for (std::size_t first = 0; first + size <= n && n > size; first += size)
      out.push_back(without_rows(problem, first, first + size));
  for (std::size_t c = 0; c < problem.model.n_columns(); ++c)
    out.push_back(without_column(problem, c));
  const auto change = [&](auto edit) {
    Problem edited = problem;
    edit(edited);
    out.push_back(std::move(edited));
  };
  for (const fuzz::Switch& s : fuzz::switches)
    if (!(problem.options.*s.member)) change([&](Problem& p) { p.options.*s.member = true; });
  const auto reset = [&](long Problem::* member) {
    if (problem.*member != -1) change([&](Problem& p) { p.*member = -1; });
  };
  reset(&Problem::max_expansions);
  reset(&Problem::spare_bytes);
  reset(&Problem::starved);
  reset(&Problem::stop_at_poll);
  reset(&Problem::threads);
  const brute_force::Problem usual;
  if (problem.options.kernel != maptree::Kernel::plain)
    change([](Problem& p) { p.options.kernel = maptree::Kernel::plain; });
  if (problem.model.max_depth != -1) change([](Problem& p) { p.model.max_depth = -1; });
  if (problem.model.min_leaf != 1) change([](Problem& p) { --p.model.min_leaf; });
  if (problem.model.alpha != usual.alpha) change([&](Problem& p) { p.model.alpha = usual.alpha; });
  if (problem.model.beta != usual.beta) change([&](Problem& p) { p.model.beta = usual.beta; });
  for (std::size_t k = 0; k < problem.model.rho.size(); ++k)
    if (problem.model.rho[k] != 2.5) change([&](Problem& p) { p.model.rho[k] = 2.5; });
  for (std::size_t r = 0; r < n; ++r)
    if (problem.model.weight[r] != 1) change([&](Problem& p) { p.model.weight[r] = 1; });
  if (!problem.model.test_weight.empty()) change([](Problem& p) { p.model.test_weight.clear(); });
  for (std::size_t c = 0; c < problem.model.test_weight.size(); ++c)
    if (problem.model.test_weight[c] > 1) change([&](Problem& p) { p.model.test_weight[c] = 1; });
  if (!problem.model.use.empty()) change([](Problem& p) { p.model.use.clear(); });
  if (problem.model.has_amounts()) {
    for (double brute_force::Problem::* member :
         {&brute_force::Problem::kappa, &brute_force::Problem::nu, &brute_force::Problem::lambda,
          &brute_force::Problem::steps, &brute_force::Problem::shape, &brute_force::Problem::rate,
          &brute_force::Problem::units})
      if (problem.model.*member != usual.*member)
        change([&](Problem& p) { p.model.*member = usual.*member; });
    const auto shorten = [&](std::vector<std::int64_t> brute_force::Problem::* member,
                             std::int64_t least) {
      const std::vector<std::int64_t>& of = problem.model.*member;
      if (std::ranges::any_of(of, [&](std::int64_t a) { return std::abs(a) > 1; }))
        change([&](Problem& p) {
          for (std::int64_t& a : p.model.*member) a = a < 0 ? a / 2 : std::max(a / 2, least);
        });
      for (std::size_t r = 0; r < of.size(); ++r)
        if (of[r] != least) change([&](Problem& p) { (p.model.*member)[r] = least; });
    };
    shorten(&brute_force::Problem::amount, 0);
    shorten(&brute_force::Problem::exposure, 1);
  }
  const auto last = static_cast<int>(problem.model.n_classes()) - 1;
  if (last > 0 &&
      std::find(problem.model.y.begin(), problem.model.y.end(), last) == problem.model.y.end())
    change([](Problem& p) { p.model.rho.pop_back(); });
  // A problem needs a row, and brute force a problem that it can solve.
  std::erase_if(out, [](const Problem& p) {
    return std::all_of(p.model.weight.begin(), p.model.weight.end(),
                       [](long w) { return w == 0; }) ||
           (p.model.max_depth < 0 && p.model.n_columns() > 7 && p.model.x.size() > 30);
  });
  return out;
}

Problem shrink(Problem problem, std::string& wrong) {
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const Problem& candidate : smaller(problem)) {
      const std::string still = apart([&] { return fuzz::verify(candidate); });
      if (still.empty()) continue;
      problem = candidate;
      wrong = still;
      shrunk = true;
      break;
    }
  }
  return problem;
}

void keep(const Problem& problem, const std::string& wrong, const std::string& directory) {
  std::ostringstream text;
  text << "# " << wrong << '\n';
  fuzz::write(text, problem);
  std::cout << text.str();
  if (directory.empty()) return;
  std::filesystem::create_directories(directory);
  const auto name = "fuzz-" + std::to_string(std::hash<std::string>{}(text.str()) % 1000000);
  const auto path = std::filesystem::path(directory) / (name + ".trace");
  std::ofstream(path) << text.str();
  std::cout << "kept as " << path.string() << '\n';
}

std::map<std::string, long> kinds;  // how many cases were of each

void classify_outcome(const brute_force::Problem& model) {
  if (!model.has_amounts()) {
    ++kinds[std::to_string(model.n_classes()) + " classes"];
    return;
  }
  const bool numbers = model.outcome == brute_force::Outcome::numbers;
  const std::string name = numbers ? "numbers" : "counts";
  ++kinds[name];
  double sums[2] = {0, 0};
  std::map<std::vector<int>, std::int64_t> seen;  // by row
  std::map<std::int64_t, int> values;
  bool differ = false, exposed = false;
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    sums[0] += static_cast<double>(std::abs(model.amount[r]) * model.weight[r]);
    sums[1] += static_cast<double>(model.second(r)) * static_cast<double>(model.weight[r]);
    const auto [at, fresh] = seen.try_emplace(model.x[r], model.amount[r]);
    differ = differ || (!fresh && at->second != model.amount[r]);
    ++values[model.amount[r]];
    exposed = exposed || (!numbers && model.exposure[r] != 1);
  }
  kinds[name + ", all equal"] += values.size() == 1 && model.x.size() > 1;
  kinds[name + ", ties"] += values.size() > 1 && values.size() < model.x.size();
  kinds[name + ", equal rows that differ in it"] += differ;
  kinds["counts, exposure"] += exposed;
  kinds["sums too large for one number"] += std::log2(sums[0] + 1) + std::log2(sums[1] + 1) >= 63;
}

void classify(const Problem& problem) {
  const brute_force::Problem& model = problem.model;
  classify_outcome(model);
  std::map<std::vector<int>, std::vector<int>> labels;
  bool weights = false, repeated = false, impure = false;
  for (std::size_t r = 0; r < model.x.size(); ++r) {
    weights = weights || model.weight[r] != 1;
    std::vector<int>& of_row = labels[model.x[r]];
    repeated = repeated || !of_row.empty();
    impure = impure || (!of_row.empty() && of_row[0] != model.y[r]);
    of_row.push_back(model.y[r]);
  }
  kinds["weights"] += weights;
  kinds["weights of tests"] += !model.test_weight.empty();
  kinds["columns not tested everywhere"] += model.use.find_first_of("+-") != std::string::npos;
  kinds["ordered columns"] += !problem.ordered.empty();
  kinds["ordered columns, each row once"] += !problem.ordered.empty() && !repeated && !weights;
  kinds["repeated rows"] += repeated;
  kinds["impure rows"] += impure;
  kinds["over 7 columns"] += model.n_columns() > 7;
  kinds["over 60 rows"] += model.x.size() > 60;
  kinds["max_depth"] += model.max_depth >= 0;
  kinds["min_samples_leaf"] += model.min_leaf > 1;
  kinds["max_leaves"] += model.max_leaves >= 0;
  kinds["max_expansions"] += problem.max_expansions >= 0;
  kinds["memory limit"] += problem.spare_bytes >= 0 || problem.starved >= 0;
  kinds["interrupted"] += problem.stop_at_poll >= 0;
  kinds["several threads"] += problem.threads > 1;
  kinds["depth first"] += problem.options.depth_first;
  const long n_off =
      std::count_if(fuzz::switches.begin(), fuzz::switches.end(),
                    [&](const fuzz::Switch& s) { return !(problem.options.*s.member); });
  kinds["switches off"] += n_off > 0;
  ++kinds[std::string("kernel ") + maptree::pair_kernel(make_options(problem).kernel).name];
}

std::uint64_t seed_of(std::uint64_t seed, long number) {
  return Random(seed ^ (static_cast<std::uint64_t>(number) << 32)).next();
}

Problem problem_of(std::uint64_t seed, long number) {
  Random random(seed_of(seed, number));
  return fuzz::random_problem(random);
}

int run(const Arguments& arguments) {
  constexpr unsigned batch = 25;  // problems a process
  std::signal(SIGINT, [](int) { interrupted = 1; });
  auto next_line = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  long done = 0;
  while (interrupted == 0 && (arguments.cases < 0 || done < arguments.cases)) {
    const long end = arguments.cases < 0 ? done + batch : std::min(done + batch, arguments.cases);
    const std::string wrong = apart(
        [&] {
          for (long number = done; number < end; ++number) {
            const std::string found = fuzz::verify(problem_of(arguments.seed, number));
            if (!found.empty()) return found;
          }
          return std::string();
        },
        batch);
    for (long number = done; number < end; ++number) {
      const Problem problem = problem_of(arguments.seed, number);
      classify(problem);
      if (wrong.empty()) continue;
      std::string here = apart([&] { return fuzz::verify(problem); });
      if (here.empty()) continue;
      std::cout << "case " << number << " of seed " << arguments.seed << " fails: " << here
                << "\nshrinking\n";
      const Problem small = shrink(problem, here);
      keep(small, here, arguments.traces);
      return 1;
    }
    if (!wrong.empty()) {
      std::cout << "a batch of cases " << done << " to " << end - 1 << " of seed " << arguments.seed
                << " fails, but none of them alone: " << wrong << '\n';
      return 1;
    }
    done = end;
    if (std::chrono::steady_clock::now() >= next_line) {
      std::cout << done << " cases of seed " << arguments.seed << std::endl;
      next_line = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    }
  }
  std::cout << done << " cases passed (seed " << arguments.seed << ")\n";
  for (const auto& [kind, count] : kinds) std::cout << "  " << count << ' ' << kind << '\n';
  return 0;
}

int replay(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  const std::string wrong = fuzz::verify(fuzz::read(in));
  std::cout << path << ": " << (wrong.empty() ? "passed" : wrong) << '\n';
  return wrong.empty() ? 0 : 1;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  bool seeded = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--cases") {
      out.cases = std::stol(value);
    } else if (name == "--seed") {
      out.seed = std::stoull(value);
      seeded = true;
    } else if (name == "--traces") {
      out.traces = value;
    } else if (name == "--replay") {
      out.replay = value;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  const auto clock = std::chrono::system_clock::now().time_since_epoch().count();
  if (!seeded) out.seed = out.cases < 0 ? static_cast<std::uint64_t>(clock) % 1000000000 : 1;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    return arguments.replay.empty() ? run(arguments) : replay(arguments.replay);
  } catch (const std::exception& error) {
    std::cerr << "fuzz: " << error.what() << '\n';
    return 2;
  }
}
