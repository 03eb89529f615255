// Varying: which columns are not constant on a set of rows, the set V of the prior.
//
// Comparing some rows side by side finds most of the columns that vary; only the others are
// followed through the whole set. On a part of a set no column varies that did not on the whole,
// so only the columns of the parent are candidates.
#pragma once

#include <cstdint>
#include <vector>

#include "control/control.hpp"
#include "data/dataset.hpp"

namespace maptree {

using ColumnSet = std::vector<Word>;  // a bit a column

[[nodiscard]] ColumnSet all_columns(const Dataset& data);
// The columns of `among` that vary on the rows; the sum of their weights, or -1 where the watch
// said stop.
std::int64_t find_varying(const Dataset& data, const RowSet& rows, const ColumnSet& among,
                          ColumnSet& varying, Watch& watch);
// The sum of the weights of a set of columns.
[[nodiscard]] std::int64_t weight_of(const Dataset& data, const ColumnSet& columns);
// The column with a share of these weights in which `at` lies: below the sum of all, so that one
// that is drawn evenly draws a column by its weight.
[[nodiscard]] std::int32_t column_at(const Dataset& data, const ColumnSet& columns, std::size_t at);

}  // namespace maptree
