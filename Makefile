.DEFAULT_GOAL := help
.PHONY: help demo test check bench faults pictures lock

# The virtual environment's tools by name, for us and for what we start.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

help: ## what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## a small shop of real Spark jobs, watched: shows the SLIs (ARGS=--once ends by itself)
	@scripts/setup.sh runtime
	@lineward demo $(ARGS)

test: ## everything that CI runs: check, then all tests, the slow ones in their short form
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory check
	@pytest -n 2 --dist loadgroup --no-loadscope-reorder -m "not alone" --durations=25 $(ARGS)
	@pytest -m alone $(ARGS)

check: ## style, types and the direction of imports
	@scripts/setup.sh test
	@ruff check .
	@ruff format --check --quiet .
	@mypy
	@lint-imports

bench: ## the budgets, measured: needs a quiet machine
	@scripts/setup.sh test
	@lineward bench ingest
	@lineward bench pipeline
	@lineward bench evaluate
	@lineward bench evidence
	@lineward bench freshness
	@lineward bench query

faults: ## the guarantees, in their long form: 200 collector kills, 30 driver kills, broken disks
	@scripts/setup.sh test
	@LINEWARD_KILLS=200 LINEWARD_DRIVER_KILLS=30 pytest -m faults -p no:randomly -rP $(ARGS)

pictures: ## docs/pictures, taken anew of the demo's pages
	@scripts/setup.sh test
	@python -m tests.e2e.pictures

lock: ## requirements with hashes, from pyproject.toml
	@uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal \
	  pyproject.toml -o requirements/runtime.txt
	@uv pip compile -q --generate-hashes --no-emit-index-url --no-header --universal \
	  --group dev pyproject.toml -o requirements/dev.txt
