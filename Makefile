.DEFAULT_GOAL := help
.PHONY: help install demo test fetched collected nightly cluster-test durations check bench scale-test faults pictures chart lock

# The virtual environment's tools by name, for us and for what we start.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Without files of bytecode each process compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## install Lineward into .venv (docs/one-machine.md)
	@scripts/setup.sh runtime

demo: ## run a small shop of real Spark jobs and watch its SLIs (ARGS=--once ends by itself)
	@scripts/setup.sh runtime
	@lineward demo $(ARGS)

# Two workers begin with whole installations, which wait a lot; the others run all other tests.
LONG := LINEWARD_EXAMPLES=all LINEWARD_KILLS=200 LINEWARD_DRIVER_KILLS=30 LINEWARD_PART_KILLS=2
SPREAD := -n 4 --dist loadgroup --no-loadscope-reorder

test: ## run what CI runs: check, then all tests except nightly ones
	@scripts/setup.sh check
	@$(MAKE) --no-print-directory -j3 check fetched collected
	@pytest $(SPREAD) -m "not nightly and not cluster" --durations=25 --durations-to=build/durations/test.tsv $(ARGS)

# What tests need beside Python's packages, fetched while `check` runs.
fetched:
	@scripts/setup.sh test

# Python then has the bytecode of all tests: else each worker would compile it again.
collected:
	@found=$$(pytest --collect-only -q) || { echo "$$found" | tail -n 60; exit 1; }

nightly: ## run all tests, with repetitions and the long form of each guarantee (hours)
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory check
	@$(LONG) LINEWARD_PART_KILLS=20 pytest $(SPREAD) -m "not alone and not cluster" --durations=25 --durations-to=build/durations/nightly.tsv --statements-to=build/statements $(ARGS)
	@$(if $(ARGS),,python tests/suite/statements.py build/statements)
	@pytest -m alone --durations-to=build/durations/alone.tsv $(ARGS)

cluster-test: ## test the chart on a real Kubernetes API server (the first run builds it)
	@scripts/setup.sh test
	@scripts/build_cluster.sh
	@pytest -m cluster --durations=10 --durations-to=build/durations/cluster.tsv $(ARGS)

durations: ## compare the duration of each test with the run before
	@python tests/suite/durations.py build/durations/test.tsv

check: ## check style, types, import direction, language and the Dockerfile
	@scripts/setup.sh check
	@ruff check .
	@ruff format --check --quiet .
	@mypy
	@lint-imports
	@python -m tests.suite.language
	@hadolint Dockerfile

bench: ## measure the budgets of docs/benchmarks.md with lineward bench (quiet machine)
	@scripts/setup.sh test
	@lineward bench ingest
	@lineward bench pipeline
	@lineward bench evaluate
	@lineward bench evidence
	@lineward bench idle
	@lineward bench freshness
	@lineward bench query

scale-test: ## measure the cost of an event on PostgreSQL (quiet machine, 10 minutes)
	@scripts/setup.sh test
	@python -m tests.bench.postgres $(ARGS)

faults: ## run the long form of the guarantees: 200 collector kills, 30 driver kills, broken disks
	@scripts/setup.sh test
	@$(LONG) pytest -m faults -p no:randomly -rP $(ARGS)

pictures: ## take the pictures of docs/pictures again
	@scripts/setup.sh test
	@python -m tests.e2e.pictures

chart: ## generate rules, dashboards, README and golden file of helm/lineward
	@scripts/setup.sh test
	@python -m tests.helm.generate

lock: ## write requirements with hashes from pyproject.toml
	@uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal \
	  pyproject.toml -o requirements/runtime.txt
	@uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal \
	  --group dev pyproject.toml -o requirements/dev.txt
	@uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal \
	  --group image -o requirements/image.txt
	@uv pip compile -q --generate-hashes --no-emit-index-url --no-header --no-deps \
	  --group chart -o requirements/chart.txt
