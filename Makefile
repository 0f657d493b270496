# One command for each job. All the thinking is done by tools/setup_env.py, which needs only Python; on a machine without make run
#   py -3.11 tools/setup_env.py lab      (or: test, test-quick, check, ...)
#
# PYTHON=python3.12 make test            another Python; it gets an environment of its own (.venv-3.12) if .venv has another version
# make lab LAB_ARGS="--no-browser"       arguments for JupyterLab
# make test TEST_ARGS="-k labels"        arguments for pytest

export PYTHONUTF8 = 1
# Any Python can start the script: it finds one that suits, or says what is missing.
BOOT := $(shell for python in "$(PYTHON)" python3 python python3.13 python3.12 python3.11; do \
	if [ -n "$$python" ] && "$$python" -c "" 2>/dev/null; then echo "$$python"; break; fi; done)
SETUP = $(if $(BOOT),"$(BOOT)" tools/setup_env.py --python "$(PYTHON)",@echo "No Python found: install Python 3.11, 3.12 or 3.13, or name it: make lab PYTHON=/path/to/python3.11" >&2; exit 1; :)
RUN = $(SETUP) run

.PHONY: help lab test test-quick test-oldest check lint format notebooks outputs assets assets-data bench fault-table measure lock clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 14
	@echo
	@sed -n 's/^# \(PYTHON=.*\)/\1/p; s/^# \(make .*\)/\1/p' Makefile

lab: ## set up (the first time) and open JupyterLab on the start page
	@$(SETUP) lab $(LAB_ARGS)

test: ## set up, all checks, all tests, all notebooks
	@$(SETUP) test $(TEST_ARGS)

test-quick: ## the checks and the tests that are not slow
	@$(SETUP) test-quick $(TEST_ARGS)

test-oldest: ## unit tests and lesson 01 with the oldest versions allowed
	@$(SETUP) test-oldest $(TEST_ARGS)

check: ## notebooks against their sources, course.toml, data, linter, formatter
	@$(SETUP) check

lint: ## linter
	@$(RUN) -m ruff check

format: ## formatter and the linter's safe repairs
	@$(RUN) -m ruff check --fix
	@$(RUN) -m ruff format

notebooks: ## sources -> notebooks, keeping outputs
	@$(RUN) -m helpers.build.notebooks convert

outputs: ## run the notebooks whose source changed and store their outputs
	@$(RUN) -m helpers.build.notebooks outputs

assets: ## make the data and pretrain the checkpoint anew
	@$(RUN) -m helpers.build.mini_mnli
	@$(RUN) -m helpers.build.mini_distilbert

assets-data: ## make only the data anew
	@$(RUN) -m helpers.build.mini_mnli

bench: ## the figures in the README
	@$(RUN) -m helpers.build.bench

fault-table: ## which probe reveals which fault: measured, and printed
	@$(RUN) -m helpers.build.fault_table

measure: ## rates and long measurements: data, every fault on three seeds, the checks' errors (about an hour and a half)
	@$(RUN) -m helpers.build.measure
	@$(RUN) -m helpers.build.two_ways
	@$(RUN) -m helpers.build.check_rates

lock: ## write constraints.txt and constraints-oldest.txt anew
	@$(SETUP) lock

clean: ## remove environments and caches
	rm -rf .venv .venv-* .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
