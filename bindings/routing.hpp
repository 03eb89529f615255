// The part of the module that routes rows of a table to leaves.
#pragma once

#include <nanobind/nanobind.h>

void add_routing(nanobind::module_& m);
