# Each target creates the checkout's .venv if it is missing and adds what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BASE := $(VENV)/.base
DEV := $(VENV)/.dev

.PHONY: run test check bench soak clean

run: $(BASE)
	exec $(BIN)/donkey_sim --scene generated_track --pace-car --drive mycar $(ARGS)

test: $(DEV)
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV)
	$(BIN)/python -m benchmarks $(ARGS)

soak: $(DEV)
	$(BIN)/python -m pytest -m soak -s --timeout 3600 $(ARGS)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "donkeysim needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; run: make PYTHON=python3.11 run")'
	$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing donkeysim into $(VENV) (once)"
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing donkeysim with its test and benchmark tools into $(VENV) (once)"
	$(PIP) --constraint constraints.txt --editable '.[dev,bench,learn,race,rl,window]'
	@touch $(BASE) $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/donkeysim/.kernels
