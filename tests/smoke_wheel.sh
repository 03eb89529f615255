#!/bin/sh
# Installs the wheel of a directory into an empty environment and fits one tree with it, from Python
# and, with the extra, from the command line.
set -eu
python=$1
dist=$(cd "$2" && pwd)
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
"$python" -m venv "$empty/venv"
"$empty/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$dist"/maptree-*.whl
cd "$empty"
"$empty/venv/bin/python" - <<'EOF'
import maptree
from maptree.datasets import load_tic_tac_toe

data = load_tic_tac_toe()
model = maptree.MAPTreeClassifier(time_limit=None).fit(data.data, data.target)
assert model.certificate_.optimal
assert abs(model.certificate_.log_posterior + 300.9038) < 1e-4, model.certificate_
assert "<svg" in model.to_html()  # the pieces of the page are in the wheel
print(f"maptree {maptree.__version__} from the wheel:", model.certificate_)
EOF
code=0
"$empty/venv/bin/maptree" demo || code=$?
[ "$code" -eq 3 ] # not installed, and it says so
"$empty/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$(echo "$dist"/maptree-*.whl)[cli]"
"$empty/venv/bin/maptree" demo --model demo.json | tail -n 3
"$empty/venv/bin/maptree" show demo.json > /dev/null
