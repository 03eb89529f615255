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
  # shellcheck disable=SC2086
  sh tests/support/debian_packages.sh "make test-system" $missing
fi

# Mermaid has no other parser than itself, and outside of a page it needs jsdom.
if [ ! -d "$node_folder/node_modules/mermaid" ] || [ ! -d "$node_folder/node_modules/jsdom" ]; then
  mkdir -p "$node_folder"
  npm install --prefix "$node_folder" --no-audit --no-fund --silent mermaid@11 jsdom@26
fi
