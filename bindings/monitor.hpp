// Signals and Python callbacks as monitor and clock of the core, which knows of neither.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "control/control.hpp"

// A clock of Python's, for tests. The limits may outlive it, and be copied without the GIL.
inline std::function<double()> call_clock(const nanobind::callable& clock) {
  namespace nb = nanobind;
  const auto held = std::shared_ptr<nb::callable>(new nb::callable(clock), [](nb::callable* last) {
    nb::gil_scoped_acquire acquire;
    delete last;
  });
  return [held] {
    nb::gil_scoped_acquire acquire;
    return nb::cast<double>((*held)());
  };
}

// What went wrong in Python while the core worked; it goes on once the core has returned.
class Raised {
 public:
  void keep(std::exception_ptr error) { error_ = std::move(error); }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

// Both arguments have to outlive the monitor.
template <class Report>
maptree::MonitorOf<Report> watch_python(const std::optional<nanobind::callable>& on_progress,
                                        Raised& raised) {
  namespace nb = nanobind;
  return [&](const Report& report) {
    nb::gil_scoped_acquire acquire;
    // Ctrl-C, seen in the main thread only. Swallowed: the caller learns it from the status.
    if (PyErr_CheckSignals() != 0) {
      if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        return true;
      }
      raised.keep(std::make_exception_ptr(nb::python_error()));
      return true;
    }
    if (!on_progress) return false;
    try {
      return nb::cast<bool>(nb::bool_((*on_progress)(report)));
    } catch (...) {
      raised.keep(std::current_exception());
      return true;
    }
  };
}
