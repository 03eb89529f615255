"""Writing files atomically, and reading untrusted JSON with every value checked."""
