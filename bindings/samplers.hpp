// The samplers' part of the module.
#pragma once

#include <nanobind/nanobind.h>

void add_samplers(nanobind::module_& m);
