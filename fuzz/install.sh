#!/bin/sh
# Installs what make fuzz-inputs and make test-sanitized need in addition to Python: clang, whose
# sanitizers and libFuzzer work together. A Debian package where the user is root, otherwise says so.
set -eu
if command -v clang++-19 > /dev/null && [ -f "$(clang++-19 -print-resource-dir)/lib/linux/libclang_rt.asan-$(uname -m).so" ]; then
  exit 0
fi
exec sh tests/support/debian_packages.sh "make fuzz-inputs" clang-19 libclang-rt-19-dev
