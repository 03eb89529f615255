// What the tests of the core have in addition where mutants are tried: the fuzzer's cases as tests,
// and a driver that runs the tests of many mutants, each mutant in a process of its own.
//
// The file that MAPTREE_MUTANTS_PLAN names has a line a test: its name and its usual seconds; then,
// after an empty line, a line a mutant: its number and those of the tests to try, in order. For
// each mutant a line is printed: "mutant", its number, and the test that noticed it or "-".
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutants.hpp>
#include <sstream>
#include <stdexcept>

#include "check.hpp"
#include "verify.hpp"

namespace {

void verify_cases(std::uint64_t seed) {
  for (std::uint64_t number = 0; number < 200; ++number) {
    fuzz::Random random(fuzz::Random(seed ^ (number << 32)).next());
    const std::string wrong = fuzz::verify(fuzz::random_problem(random));
    CHECK_EQUAL(wrong, std::string());
    if (!wrong.empty()) return;
  }
}

struct Planned {
  std::string name;
  double seconds = 0;  // of the processor, with no mutant on
  void (*run)() = nullptr;
};

double seconds_used() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  const auto of = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return of(use.ru_utime) + of(use.ru_stime);
}

// Ends the process at the first test that fails. What a mutant may do: loop for ever, wait for
// ever, fill the memory, crash.
[[noreturn]] void run_tests(const std::vector<const Planned*>& tests, int mutant, int tell) {
  setenv("MAPTREE_MUTANT", "1", 1);  // ends it at the first failure (check.hpp)
  mutants::run.mutant = mutant;
  const rlimit memory{rlim_t{1} << 32, rlim_t{1} << 32}, core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  for (const Planned* test : tests) {
    const std::string line = test->name + '\n';
    if (write(tell, line.data(), line.size()) < 0) _exit(2);
    const auto limit = static_cast<rlim_t>(seconds_used() + 2 + 10 * test->seconds);
    const rlimit time{limit, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &time);
    alarm(static_cast<unsigned>(30 + 60 * test->seconds));  // on a busy machine, too
    check::failures = 0;
    try {
      test->run();
    } catch (...) {
      _exit(1);
    }
  }
  _exit(0);
}

struct Tried {
  std::string noticed;  // the test that noticed, or "-"
  bool waited = false;  // it did not come back
};

Tried try_mutant(const std::vector<const Planned*>& tests, int mutant) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no fork");
  if (child == 0) {
    close(ends[0]);
    run_tests(tests, mutant, ends[1]);
  }
  close(ends[1]);
  std::string told;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    told.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {"-"};
  told.pop_back();
  return {told.substr(told.rfind('\n') + 1), WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM};
}

}  // namespace

TEST(random_problems_1) { verify_cases(101); }
TEST(random_problems_2) { verify_cases(102); }
TEST(random_problems_3) { verify_cases(103); }
TEST(random_problems_4) { verify_cases(105); }

TEST(mutants_as_planned) {
  const char* const plan = std::getenv("MAPTREE_MUTANTS_PLAN");
  if (plan == nullptr) return;
  std::ifstream in(plan);
  std::vector<Planned> all;
  std::string line;
  while (std::getline(in, line) && !line.empty()) {
    std::istringstream words(line);
    Planned& test = all.emplace_back();
    words >> test.name >> test.seconds;
    for (const check::Test& known : check::tests())
      if (known.name == test.name) test.run = known.run;
    if (test.run == nullptr) throw std::runtime_error("no test " + test.name);
  }
  std::freopen("/dev/null", "w", stderr);
  std::vector<const Planned*> lately;  // noticed the last ones: mutants come place by place
  std::vector<const Planned*> slow;  // noticed some by waiting for ever, which takes half a minute
  while (std::getline(in, line)) {
    std::istringstream words(line);
    int mutant = 0;
    words >> mutant;
    std::vector<const Planned*> tests;
    for (std::size_t n; words >> n;) tests.push_back(&all[n]);
    const auto is_in = [](const std::vector<const Planned*>& some) {
      return [&](const Planned* test) { return std::ranges::find(some, test) != some.end(); };
    };
    std::stable_partition(tests.begin(), tests.end(), is_in(lately));
    std::stable_partition(tests.begin(), tests.end(), std::not_fn(is_in(slow)));
    const auto [noticed, waited] = try_mutant(tests, mutant);
    std::cout << "mutant " << mutant << ' ' << noticed << std::endl;
    if (noticed == "-") continue;
    for (const Planned& test : all)
      if (test.name == noticed) {
        std::vector<const Planned*>& kind = waited ? slow : lately;
        std::erase(kind, &test);
        kind.push_back(&test);
      }
    if (lately.size() > 3) lately.erase(lately.begin());
  }
}
