# Concord. `make help` lists what there is.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ADDRESS ?= 127.0.0.1
PORT ?= 8501
PARALLEL ?= -n auto --maxprocesses 4 --dist loadfile  # tests on several cores, one file on one core

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all lint format bench clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/.installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Concord needs Python 3.11 or newer; this is $$($(PYTHON) --version). Name another one with: make PYTHON=python3.11 run"; exit 1; }
	@command -v git >/dev/null || { echo "Concord keeps documents in git, and git is not installed."; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "Installing packages (some minutes the first time) ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.tested: $(VENV)/.installed tests/requirements.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

setup: $(VENV)/.installed ## install packages and fetch model weights
	@$(PY) -m core models fetch

run: setup ## set everything up and open the app on http://127.0.0.1:8501
	@$(PY) -m core init
	@$(PY) -m core reindex
	@$(PY) -m streamlit run streamlit_app.py --server.address $(ADDRESS) --server.port $(PORT)

test: setup $(VENV)/.tested ## everything quick: units, laws, doctests, architecture, pages, browser
	@$(PY) -m pytest -m "not slow" $(PARALLEL)

test-all: setup $(VENV)/.tested ## also what takes long: hundreds of kills, large collections
	@$(PY) -m pytest $(PARALLEL)

lint: $(VENV)/.tested ## ruff and mypy
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

format: $(VENV)/.tested ## let ruff format the code
	@$(PY) -m ruff check --fix . ; $(PY) -m ruff format .

bench: setup ## measure speed beside the peers; prints ratios and writes docs/benchmarks.md
	@$(PY) -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	@$(PY) -m bench

clean: ## remove what was built; the workspace in data/ stays
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
