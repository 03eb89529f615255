#!/bin/sh
# Installs Debian packages where the user is root, otherwise says what to install:
#
#   sh tests/support/debian_packages.sh "make test-system" graphviz nodejs
set -eu
wanted_by=$1
shift
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo "$wanted_by needs programs that only an administrator can install:" >&2
  echo "  apt-get install --no-install-recommends $*" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" > /dev/null
