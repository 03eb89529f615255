#!/bin/sh
# Installs what make fuzz-inputs and make test-sanitized need in addition to Python: clang, whose
# sanitizers and libFuzzer work together. A Debian package where the user is root, otherwise says so.
set -eu
packages="clang-19 libclang-rt-19-dev"
if command -v clang++-19 > /dev/null && [ -f "$(clang++-19 -print-resource-dir)/lib/linux/libclang_rt.asan-$(uname -m).so" ]; then
  exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo "make fuzz-inputs and make test-sanitized need clang, which only an administrator can install:" >&2
  echo "  apt-get install --no-install-recommends $packages" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $packages > /dev/null
