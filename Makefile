# Everything that is done here by hand or by CI. `make help` lists it.

PYTHON ?= python3
DOCS ?=
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help install install-test demo up test test-quick lint types imports format lock schemas docs clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

include Makefile.test-deps.mk

install: $(VENV)/.installed ## Make .venv with all that `make demo` and `make up` need

install-test: $(VENV)/.installed-test

demo: install ## Ingest documents, ask questions, print cited answers (DOCS=folder or URL; default: these docs)
	@$(BIN)/kb demo $(if $(DOCS),--docs "$(DOCS)")

up: install ## Run everything on this machine until Ctrl-C
	@$(BIN)/kb up

test: install-test lint types imports ## Lint, types, import rules and all tests
	$(BIN)/pytest tests/unit tests/contract tests/integration --numprocesses 2 --dist loadfile
	$(BIN)/pytest tests/end_to_end

test-quick: install-test ## Unit and contract tests
	$(BIN)/pytest tests/unit tests/contract

lint: install-test ## Style and likely mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install-test ## Types
	$(BIN)/mypy

imports: install-test ## Rules of what may import what
	$(BIN)/lint-imports --no-cache

format: install-test ## Put the code in form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: install-test ## Write schemas/json anew from the events
	$(BIN)/python -m schemas.export

# Hashes of everything, so that an installation gets what was tested and nothing else. The first file is for all; the
# second is the part of it that a running system needs, with what builds and installs the project itself.
LOCK := printf 'hatchling>=1.27\neditables\nuv\n' | uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-annotate --no-header pyproject.toml -
lock: ## Choose the newest allowed versions of all packages anew (needs uv)
	$(LOCK) --extra local --extra embedded --extra test --upgrade --output-file constraints.txt
	$(LOCK) --extra local --extra embedded --constraints constraints.txt --output-file constraints-run.txt

docs: install-test ## Write the pages of docs/ that follow from the code anew
	$(BIN)/python -m services.cli.reference

clean: ## Remove what can be made again; the data in .kb stays
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv installs in a tenth of pip's time: the one on PATH, else one in .venv, and if it can't (it does not read pip's
# configuration of indexes) pip itself. Byte code is left to the first import: most modules are never imported.
define pip_install
	@set -e; run() { "$$@" --quiet $(1); }; \
	if [ -n "$(UV)" ]; then run $(UV) pip install --python $(BIN)/python; \
	elif ! run $(BIN)/uv pip install --python $(BIN)/python; then \
		echo "uv can't, so pip does"; run $(BIN)/python -m pip install --no-compile --disable-pip-version-check; fi
endef

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@echo "making $(VENV)"
ifneq ($(UV),)
	@$(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
	@awk '/^uv==/ { on = 1 } on; on && !/\\$$/ { exit }' constraints-run.txt > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
endif

$(VENV)/.installed: pyproject.toml constraints-run.txt | $(BIN)/python
	@echo "installing packages into $(VENV)"
	$(call pip_install,--require-hashes -r constraints-run.txt)
	$(call pip_install,--no-deps --no-build-isolation --editable .)
	@touch $@

$(VENV)/.installed-test: constraints.txt $(VENV)/.installed
	@echo "installing packages for tests into $(VENV)"
	$(call pip_install,--require-hashes -r constraints.txt)
	@touch $@
