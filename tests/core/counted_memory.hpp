// Every byte that the test program asks for, counted where it is asked for: by operator new, and
// by the page memory of large tables.
#pragma once

#include <cstddef>

namespace counted_memory {

// Held now, and the most since the last start().
[[nodiscard]] std::size_t held();
[[nodiscard]] std::size_t peak();
void start();

}  // namespace counted_memory
