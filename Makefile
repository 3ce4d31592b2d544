# Everything starts here; `make` alone prints the list.
PYTHON ?= python3
DATA ?= .data
PORT ?= 8443
BIN := .venv/bin
UV := .tools/bin/uv
TESTS ?= tests
# More than the cores of a small machine: many tests wait for a clock, a payer or another process.
WORKERS ?= 4
# `make cov` runs the tests without a server in three parts of about the same length at the same time, each of
# which reads its own files only. A folder that is not named here is in the third.
FIRST := tests/pipeline tests/enrollment tests/payers tests/payments tests/pdf tests/accounts
SECOND := tests/console tests/claims tests/store
THIRD := $(filter-out $(FIRST) $(SECOND) tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/)))
PARTS := $(if $(filter tests,$(TESTS)),THIRD SECOND FIRST,TESTS)
# Left out: a watching thread for each test, which costs more than many tests (tests/conftest.py ends one that
# hangs), and a plugin that only tests with a server use.
MARKS := not server and not witness
QUICK = -m pytest -q -m "$(MARKS)" -o faulthandler_timeout=0 -p no:schemathesis
in_parts = $(foreach part,$(PARTS),'$(1) $(QUICK) $($(part))')
SITE_TESTS := tests/docs/test_site_pages.py
# How long `make fuzz` runs.
SECONDS ?= 60
# Of which packages `make mutation` runs mutants (all if none is named), how many of each, and which ones.
PART ?=
SAMPLE ?= 500
SEED ?= 1
# How long `make soak` runs, and on how many nodes.
MINUTES ?= 30
NODES ?= 1

.DEFAULT_GOAL := help
.PHONY: help install run test thorough check quick cov bench soak fuzz docs release audit mutation format lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: .venv/.installed ## everything the other commands need, into .venv

# The development file holds the runtime pins too. uv is fetched beside the project; if it cannot
# be had, venv and pip do the same more slowly.
.venv/.installed: requirements-dev.txt pyproject.toml tools/install
	@PYTHON="$(PYTHON)" tools/install all
	@touch $@ .venv/.runtime

# What the service needs, and no test tools.
.venv/.runtime: requirements.txt requirements-build.txt pyproject.toml tools/install
	@PYTHON="$(PYTHON)" tools/install runtime
	@touch $@

run: .venv/.runtime ## install what the service needs, then start the sandbox on https://127.0.0.1:8443
	@mkdir -p scratch
	@$(BIN)/clearlane serve --data $(DATA) --port $(PORT)

# Compiled tests are kept even if the environment says not to: the next run reads them. BESIDE="check cov", for CI, which runs
# these too, leaves out what `make cov` runs in the same size, and the site of the documentation, which `make check` builds.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/.installed ## install, then run every test
	@$(BIN)/python -m pytest $(TESTS) --workers $(WORKERS) $(if $(BESIDE),-m "not ($(MARKS)) or sized" --ignore=$(SITE_TESTS))

# What takes long in full size, in full size: every order of answers, every value of every field, 25,000 samples.
thorough: export CLEARLANE_TEST_PROFILE := thorough
thorough: test ## every test at full size: over an hour, before a release

# Not the tests that start a server or a process, nor those that ask another X12 library: tests/conftest.py
# marks both. Properties are tried on fewer examples.
quick: export PYTHONDONTWRITEBYTECODE :=
quick: export CLEARLANE_TEST_PROFILE := quick
quick: MARKS += and not slow
quick: .venv/.installed ## format, lint, types, architecture and the quick tests: no server, no other X12 library
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@tools/side_by_side $(BIN)/mypy '$(BIN)/python $(QUICK) $(TESTS) --workers 2'

cov: export PYTHONDONTWRITEBYTECODE :=
cov: export CLEARLANE_TEST_PROFILE := quick
cov: .venv/.installed ## branch coverage of the quick tests, held against the minimums in pyproject.toml
	@rm -f .coverage .coverage.*
	@tools/side_by_side $(call in_parts,$(BIN)/coverage run)
	@$(BIN)/python tools/coverage_minimums.py

# All tests are collected, so that each is compiled here, once, and not by all that CI then runs at the same time.
check: export PYTHONDONTWRITEBYTECODE :=
check: .venv/.installed ## format, lint, types, architecture, docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@tools/side_by_side $(BIN)/mypy '$(BIN)/python -m pytest -q -p no:cacheprovider -k "architecture or test_site_pages"'

# With AGAINST, both checkouts in turns: bench/against.py.
bench: .venv/.installed ## one line a measurement: BENCH <name> <value> <unit> ratio=<r> vs=<what> (ONLY=names AGAINST=checkout)
	@$(BIN)/python -m bench $(if $(AGAINST),--against $(AGAINST)) $(ONLY)

# Nothing may grow after the first third: the rule is in bench/growth.py.
soak: .venv/.installed ## a steady load, fails if memory, descriptors, WAL or latency grow (MINUTES=30 NODES=1)
	@$(BIN)/python -m bench.soak --minutes $(MINUTES) --nodes $(NODES)

# Coverage-guided with atheris if that is installed; otherwise by Hypothesis.
fuzz: .venv/.installed ## a minute of hostile input for reader, checker, acknowledger and decoders (SECONDS=600 for longer)
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

docs: .venv/.installed ## write the generated reference pages, build the reference viewer and the site into the package
	@$(BIN)/python -m tools.docs.generate
	@$(BIN)/python -m tools.docs.client_types
	@$(BIN)/python -m tools.docs.viewer
	@$(BIN)/python -m tools.docs.site

# What it does is in tools/release; without FINAL=1 it is a rehearsal, which publishes nothing either.
release: .venv/.installed .tools/release/.installed ## build twice, compare, check, describe, install and use what is published, into dist/ (FINAL=1)
	@$(BIN)/python -m tools.release $(if $(FINAL),--final)

# Asks a database of known weaknesses, so it needs a network. A package that the database does not know fails it.
audit: .tools/release/.installed ## compare the pinned versions with known weaknesses
	@.tools/release/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.txt

mutation: .venv/.installed ## change one thing at a time, run the tests that reach it; fails if they notice under 90 % (PART="x12 vault" SAMPLE=500 SEED=1)
	@$(BIN)/python -m tests.mutation $(PART) --mutants $(SAMPLE) --seed $(SEED)

.tools/release/.installed: requirements-release.txt tools/install
	@PYTHON="$(PYTHON)" tools/install release
	@touch $@

format: .venv/.installed ## format, repair what can be repaired, and write the client for threads
	@$(BIN)/ruff check --fix -q . || true
	@$(BIN)/ruff format -q .
	@$(BIN)/python -m tools.sync_client

lock: .venv/.installed ## pin the dependencies again
	@tools/lock

clean: ## remove the environment (never the data)
	@rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache
