# Every target sets up what it needs first, so `make demo` and `make test` work in a fresh clone.
# What is set up is remembered by three stamps in .venv; a newer lock or pyproject.toml makes them stale.

PYTHON := .venv/bin/python
LAB := .venv/.lab
PACKAGES := .venv/.packages
DRIVER := .venv/.driver
PLAIN := MESA_GL_VERSION_OVERRIDE=3.3 MESA_GLSL_VERSION_OVERRIDE=330 LP_NUM_THREADS=0

.PHONY: help demo test sweep bench docs lint format lock clean

help: ## list the targets (the default)
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

demo: $(DRIVER) ## show what glla does on this machine
	@$(PYTHON) -m glla demo

test: $(PACKAGES) $(DRIVER) ## run everything that must pass: style, types, all tests
	@sh .ci/setup xvfb
	@sh .ci/setup browser
	@sh .ci/test

sweep: $(PACKAGES) $(DRIVER) ## run the tests that take minutes, which `make test` leaves out
	@$(PLAIN) $(PYTHON) -m pytest -m sweep -s
	@echo "All other tests, where llvmpipe plays a GPU: what is chosen on hardware alone."
	@$(PLAIN) GLLA_TESTS_AS_GPU=1 $(PYTHON) -m pytest -n auto --timeout 300 -q tests

# Small systems run faster on llvmpipe without threads of its own, which it asks for once in a process.
bench: $(DRIVER) ## verify, then time everything here; figures go to benchmarks/results
	@$(PYTHON) -m benchmarks operations
	@LP_NUM_THREADS=0 $(PYTHON) -m benchmarks operations --operations small,stack_1000,stack_100,stack_64

docs: $(PACKAGES) $(DRIVER) ## build the site; nothing comes from the network
	@$(PLAIN) $(PYTHON) -m sphinx -q -W --keep-going -j auto -b html docs build/site
	@echo "the site is in build/site/index.html"

lint: $(PACKAGES) ## check style and types only
	@$(PYTHON) -m ruff check
	@$(PYTHON) -m ruff format --check
	@$(PYTHON) -m mypy

format: $(PACKAGES) ## put the code into the project's style
	@$(PYTHON) -m ruff check --fix --exit-zero
	@$(PYTHON) -m ruff format

# uv writes one list for every Python from 3.11 on, Linux and macOS; pip reads it. "fewest" gives all of them the same
# NumPy and SciPy, so that results do not depend on the Python.
lock: $(PACKAGES) ## choose the newest versions anew: requirements.lock
	@$(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install -qq --disable-pip-version-check uv
	@{ echo "# Written by \`make lock\` from pyproject.toml: exact versions for Python 3.11 and newer." && \
		.venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
		--no-header --no-annotate --all-extras --group dev pyproject.toml; } > .venv-lock/requirements.lock
	@mv .venv-lock/requirements.lock requirements.lock
	@rm -r .venv-lock

clean: ## remove .venv and everything that was built
	rm -rf .venv .venv-lock dist build docs/examples docs/course/shaders docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis demo.png
	find . -name __pycache__ -prune -exec rm -rf {} +

$(LAB): requirements.lock pyproject.toml
	@sh .ci/setup lab
	@touch $@

$(PACKAGES): $(LAB)
	@sh .ci/setup packages
	@touch $@

$(DRIVER): $(LAB)
	@sh .ci/setup driver
	@touch $@
