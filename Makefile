# Everything runs in .venv, made from the committed locks; nothing outside the checkout is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint lock clean help

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/.run: requirements/run.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once) …"
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) with the development tools (once) …"
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run  ## grade a shipped sample of real traces and print the report
	@$(BIN)/toolgrade demo

test: $(VENV)/.dev  ## lint, types, layers, and the whole suite
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev  ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock:  ## resolve pyproject.toml again into the two locks (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate pyproject.toml requirements/build.in -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --extra dev pyproject.toml requirements/build.in -o requirements/dev.txt

clean:  ## remove the environment and what the tools left
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
