// What Python calls the ways in which a search ends.
#pragma once

#include "control/control.hpp"

inline const char* name(maptree::Status status) {
  using maptree::Status;
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::time_limit:
      return "time_limit";
    case Status::memory_limit:
      return "memory_limit";
    case Status::expansion_limit:
      return "expansion_limit";
    case Status::patience:
      return "patience";
    case Status::interrupted:
      return "interrupted";
  }
  return "";
}
