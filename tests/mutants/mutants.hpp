// What a mutated copy of the core calls at every point (mutation_points.py). One mutant is on in
// a process: the one whose number MAPTREE_MUTANT gives.
//
// In an unnamed namespace, because the kernels are compiled for newer processors than the rest.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace mutants {

inline constexpr int most = 1 << 14;

struct Run {
  Run() {
    if (const char* number = std::getenv("MAPTREE_MUTANT")) mutant = std::atoi(number);
    // A mutant may loop for ever, or fill the memory.
    if (const char* seconds = std::getenv("MAPTREE_MUTANT_SECONDS")) {
      const auto n = static_cast<rlim_t>(std::atoi(seconds));
      const rlimit time{n, n + 1}, memory{rlim_t{1} << 32, rlim_t{1} << 32}, core{0, 0};
      setrlimit(RLIMIT_CPU, &time);
      setrlimit(RLIMIT_AS, &memory);
      setrlimit(RLIMIT_CORE, &core);
    }
  }
  // Which points were reached, for the choice of tests.
  ~Run() {
    const char* path = std::getenv("MAPTREE_MUTANTS_REACHED");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    for (int i = 0; i < most; ++i)
      if (reached[i]) std::fprintf(file, "%d\n", i);
    std::fclose(file);
  }
  int mutant = -1;
  bool reached[most] = {};
};
inline Run run;

namespace {

constexpr bool on(int number) {
  if (std::is_constant_evaluated()) return false;
  run.reached[number] = true;  // by several threads, perhaps: all write the same
  return number == run.mutant;
}

#define MAPTREE_MUTANT_OF(name, sign, other)                             \
  template <class A, class B>                                            \
  constexpr auto name(int number, const A& a, const B& b) {              \
    if constexpr (requires { a other b; })                               \
      if (on(number)) return static_cast<decltype(a sign b)>(a other b); \
    return a sign b;                                                     \
  }
MAPTREE_MUTANT_OF(less, <, <=)
MAPTREE_MUTANT_OF(less_equal, <=, <)
MAPTREE_MUTANT_OF(greater, >, >=)
MAPTREE_MUTANT_OF(greater_equal, >=, >)
MAPTREE_MUTANT_OF(equal, ==, !=)
MAPTREE_MUTANT_OF(not_equal, !=, ==)
MAPTREE_MUTANT_OF(plus, +, -)
MAPTREE_MUTANT_OF(minus, -, +)
#undef MAPTREE_MUTANT_OF
// A place in an array that is written to.
template <class A, std::size_t n, class B>
constexpr A* plus(int number, A (&a)[n], const B& b) {
  return plus(number, &a[0], b);
}

template <class A, class B>
constexpr decltype(auto) add_to(int number, A&& a, B&& b) {
  if constexpr (requires { a = static_cast<std::remove_cvref_t<A>>(a - b); })
    if (on(number)) return a = static_cast<std::remove_cvref_t<A>>(a - b);
  return a += b;
}
template <class A, class B>
constexpr decltype(auto) take_from(int number, A&& a, B&& b) {
  if constexpr (requires { a += b; })
    if (on(number)) return a += b;
  return a -= b;
}

template <class T, class U>
constexpr T number(int n, T value, U other) {
  return on(n) ? static_cast<T>(other) : value;
}

// The maximum; the second, where the type of lanes has none.
template <class L, class T>
T least_lanes(int number, T a, T b) {
  if (!on(number)) return L::min(a, b);
  if constexpr (requires { L::max(a, b); })
    return L::max(a, b);
  else
    return b;
}

template <class T>
constexpr auto unit_more(int number, T value) {
  return on(number) ? static_cast<T>(value + T(1)) : value;
}

}  // namespace
}  // namespace mutants
