// The part of the module that lists the best trees.
#pragma once

#include <nanobind/nanobind.h>

void add_rivals(nanobind::module_& m);
