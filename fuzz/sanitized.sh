#!/bin/sh
# Runs a command with the extension of build/sanitized, which make builds:
#
#   sh fuzz/sanitized.sh .venv/bin/python -m pytest tests/engine
#
# The sanitizers' part of the process has to be there before Python is. libFuzzer comes first: some
# of its counters have stubs in the other library. Python itself and numpy do not free everything.
set -eu
build=$PWD/build/sanitized
runtime=$(clang++-19 -print-resource-dir)/lib/linux/libclang_rt.asan-$(uname -m).so
MAPTREE_CORE=$(ls "$build"/_core*.so)
export MAPTREE_CORE
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
exec env LD_PRELOAD="$build/libfuzzer.so $runtime" "$@"
