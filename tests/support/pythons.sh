#!/bin/sh
# Prints, for each version given, an interpreter that runs, in PATH or among those of pyenv; nothing
# for a version that there is none of.
for version in "$@"; do
  for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
    if "$python" -c "" > /dev/null 2>&1; then
      command -v "$python"
      break
    fi
  done
done
