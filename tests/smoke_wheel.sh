#!/bin/sh
# Installs the wheels of a directory into an empty environment of each Python given, where no compiler
# can be found, and runs the README from there. Without Pythons: those of 3.11 to 3.14 that are found.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(sh "$root/tests/support/pythons.sh" 3.11 3.12 3.13 3.14)
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT

# A PATH of the few programs that virtual environments take, and compilers that fail if asked anyway.
mkdir "$empty/bin"
for program in sh env dirname uname; do ln -s "$(command -v "$program")" "$empty/bin/"; done
without_compiler() {
  env -u PYTHONPATH PATH="$empty/bin" CC=/bin/false CXX=/bin/false "$@"
}
for compiler in cc c++ gcc g++ clang clang++ cmake ninja; do
  if without_compiler sh -c "command -v $compiler"; then
    echo "a compiler can be found: the test shows nothing"
    exit 1
  fi
done

for wheel in "$dist"/maptree-*.whl; do
  echo "$(basename "$wheel"): $(($(wc -c < "$wheel") / 1024)) KiB"
done

for python in "$@"; do
  rm -rf "$empty/venv" "$empty/wheel"
  "$python" -m venv "$empty/venv"
  pip="$empty/venv/bin/python -m pip --quiet --disable-pip-version-check"
  # The wheel that pip chooses for this Python; --only-binary: it must not fall back on sources.
  without_compiler $pip download --no-index --no-deps --only-binary :all: --find-links "$dist" \
    --dest "$empty/wheel" maptree
  wheel=$(echo "$empty"/wheel/*.whl)
  without_compiler $pip install --only-binary :all: "$wheel"
  cd "$empty"
  without_compiler "$empty/venv/bin/python" - <<'PYTHON'
import maptree
from maptree.datasets import load_tic_tac_toe

data = load_tic_tac_toe()
model = maptree.MAPTreeClassifier(time_limit=None).fit(data.data, data.target)
assert model.certificate_.optimal
assert abs(model.certificate_.log_posterior + 300.9038) < 1e-4, model.certificate_
assert "<svg" in model.to_html()  # the pieces of the page are in the wheel
PYTHON
  # The command without its extra says what to install.
  code=0
  without_compiler "$empty/venv/bin/maptree" demo 2> "$empty/said" || code=$?
  [ "$code" -eq 3 ]
  grep -q "pip install" "$empty/said"
  without_compiler $pip install --only-binary :all: "${wheel}[cli,plot]"
  without_compiler "$empty/venv/bin/maptree" demo --model demo.json > /dev/null
  without_compiler "$empty/venv/bin/maptree" show demo.json > /dev/null
  if ! without_compiler "$empty/venv/bin/python" "$root/tests/readme_from_wheel.py" "$root/README.md" \
    > "$empty/said" 2>&1; then
    cat "$empty/said"
    exit 1
  fi
  echo "$(basename "$wheel"): $(tail -n 1 "$empty/said")"
done
