// What a thread needs before it may run out of memory.
#pragma once

namespace maptree {

// The first exception in a thread takes memory for the thread's own variables, if the library was
// loaded at run time, and the C library ends the process where there is none. So that memory is
// taken here, at the start. False: there is none, and the thread had better do nothing.
[[nodiscard]] bool ready_to_throw() noexcept;

}  // namespace maptree
