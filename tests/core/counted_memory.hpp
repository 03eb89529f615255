// Every byte that the test program asks for, counted where it is asked for: by operator new, and
// by the page memory of large tables.
#pragma once

#include <cstddef>

namespace counted_memory {

// Held now, and the most since the last start().
[[nodiscard]] std::size_t held();
[[nodiscard]] std::size_t peak();
// Asked for since the last start(), whether it is still held or not: what is copied is asked for
// again. Without page memory.
[[nodiscard]] std::size_t in_all();
void start();

}  // namespace counted_memory
