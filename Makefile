# Each target creates the checkout's .venv if it is missing and adds what it needs. `run` lets Python translate packages
# when it first imports them: most of their files it never does, and pip would take seconds for all.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
HASHED := $(PIP) --no-deps --require-hashes --requirement
BASE := $(VENV)/.base
DEV := $(VENV)/.dev
RLLIB := $(VENV)/rllib
INTO_RLLIB := $(RLLIB)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps

.PHONY: run test check bench soak device site visit viewer gpu rllib audit pins clean

run: $(BASE)
	@exec $(BIN)/donkey_sim --scene generated_track --pace-car --drive mycar $(ARGS)

# Each of some sixty processes would translate the package anew where people keep Python from writing what it translated.
test: export PYTHONDONTWRITEBYTECODE =
test: $(DEV)
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 src
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m supply licences

bench: $(DEV)
	$(BIN)/python -m benchmarks $(ARGS)

soak: $(DEV)
	$(BIN)/python -m pytest -m soak -s --timeout 3600 $(ARGS)

# Batches on a device, with this machine's cores as the device.
device: $(DEV)
	$(BIN)/python -m pytest -m "device and not gpu and not soak" -n auto $(ARGS)

# The simulator in a page: a folder for any server of files. Then: python -m http.server --directory site
site: $(DEV)
	$(BIN)/donkey site --out site $(ARGS)

# Pages in a browser; half a minute of it compiles kernels for those that simulate. `make test` has the control page.
visit: $(DEV)
	$(BIN)/python -m pytest -m visit -n auto tests/e2e/visit $(ARGS)

# What the pages' viewer takes from three.js, as one file of the package; needs Node.js, which nothing else does.
viewer:
	cd supply/viewer && npm ci --ignore-scripts && node node_modules/esbuild/install.js && npm run --silent build
	cd supply/viewer && sha256sum build.js package.json package-lock.json three.js ../../src/donkeysim/web/static/viewer/three.js > SHA256SUMS

# On a machine with an NVIDIA GPU.
gpu: $(DEV)
	$(HASHED) requirements/gpu.txt
	$(BIN)/python -m pytest -m gpu -n 0 -s --timeout 3600 tests/gpu $(ARGS)

# The example of RLlib, in an environment of its own, as RLlib takes one older Gymnasium only.
rllib: $(RLLIB)/.made
	$(RLLIB)/bin/python examples/rllib_ppo.py $(ARGS)

# Licences, then known faults; the second asks a service on the internet and says so when it cannot.
audit: $(DEV)
	$(BIN)/python -m supply licences
	$(BIN)/python -m supply faults

# After a change of dependencies in pyproject.toml or of a version in constraints.txt: writes the hashes.
pins: | $(VENV)/bin/python
	$(HASHED) requirements/dev.txt
	$(BIN)/python -m supply pins

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "donkeysim needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; run: make PYTHON=python3.11 run")'
	@echo "Making a Python environment in $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing donkeysim into $(VENV) (once, about 150 MB to download)"
	@$(PIP) --no-compile --constraint constraints.txt --editable .
	@touch $@

# Everything with hashes; a CPU build of torch where pip is offered one, else torch of the package index.
$(DEV): pyproject.toml $(wildcard requirements/*.txt) | $(VENV)/bin/python
	@echo "Installing donkeysim with its test and benchmark tools into $(VENV) (once)"
	$(HASHED) requirements/dev.txt
	@$(HASHED) requirements/torch-cpu.txt 2>/dev/null || $(HASHED) requirements/torch.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip --disable-pip-version-check check
	@touch $(BASE) $@

$(RLLIB)/.made: pyproject.toml requirements/rllib.txt | $(VENV)/bin/python
	@echo "Installing donkeysim and RLlib into $(RLLIB) (once)"
	@$(BIN)/python -m venv $(RLLIB)
	@$(INTO_RLLIB) --require-hashes --requirement requirements/rllib.txt
	@$(INTO_RLLIB) --require-hashes --requirement requirements/torch-cpu.txt 2>/dev/null || $(INTO_RLLIB) --require-hashes --requirement requirements/torch.txt
	@$(INTO_RLLIB) --no-build-isolation --editable .
	@touch $@

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis src/donkeysim/.kernels
