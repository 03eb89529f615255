// Check: just enough of a test framework. TEST(name) { ... } registers itself; CHECK and its kin
// report and go on; an exception ends its test. core_test.cpp has the main function.
#pragma once

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};
inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
struct Registration {
  Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

inline int failures = 0;  // of the running test

template <class... Parts>
void report(const char* file, int line, const Parts&... parts) {
  if (++failures > 5) return;  // a loop that fails says enough
  std::cout << file << ':' << line << ": ";
  (std::cout << ... << parts) << '\n';
}

}  // namespace check

#define TEST(name)                                                 \
  static void name();                                              \
  static const check::Registration name##_registered{#name, name}; \
  static void name()

#define CHECK(condition) ((condition) ? void() : check::report(__FILE__, __LINE__, #condition))

#define CHECK_EQUAL(left, right)                                                                  \
  do {                                                                                            \
    const auto& left_value = (left);                                                              \
    const auto& right_value = (right);                                                            \
    if (!(left_value == right_value))                                                             \
      check::report(__FILE__, __LINE__, #left " = ", left_value, ", " #right " = ", right_value); \
  } while (false)

#define CHECK_THROWS(Exception, ...)                                              \
  try {                                                                           \
    static_cast<void>(__VA_ARGS__);                                               \
    check::report(__FILE__, __LINE__, #__VA_ARGS__ " did not throw " #Exception); \
  } catch (const Exception&) {                                                    \
  }
