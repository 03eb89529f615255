#!/bin/sh
# Installs the programs that tests/system runs: Debian packages where the user is root, otherwise
# says what to install. The first argument is the folder for what comes from npm.
set -eu
node_folder=$1

missing=""
# need <command that succeeds if it is there> <Debian packages>
need() {
  sh -c "$1" > /dev/null 2>&1 || missing="$missing $2"
}
need "command -v cc" "gcc libc6-dev"
need "command -v node" "nodejs"
need "command -v npm" "npm"
need "ls /usr/lib/postgresql/*/bin/initdb || command -v initdb" "postgresql"
need "command -v dot" "graphviz"
need "command -v chromium || command -v chromium-browser || command -v google-chrome" "chromium"
need "command -v pdflatex && kpsewhich forest.sty && kpsewhich elocalloc.sty" \
  "texlive-latex-base texlive-latex-extra texlive-pictures"

if [ -n "$missing" ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "make test-system needs programs that only an administrator can install:" >&2
    echo "  apt-get install --no-install-recommends$missing" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing > /dev/null
fi

# Mermaid has no other parser than itself, and outside of a page it needs jsdom.
if [ ! -d "$node_folder/node_modules/mermaid" ] || [ ! -d "$node_folder/node_modules/jsdom" ]; then
  mkdir -p "$node_folder"
  npm install --prefix "$node_folder" --no-audit --no-fund --silent mermaid@11 jsdom@26
fi
