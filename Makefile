# Every target calls a script of scripts/ that can be run by hand as well.

.DEFAULT_GOAL := help
.PHONY: help run test setup fmt lint deny bench eval

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

run: ## Set up what is missing, build and start the server
	@bash scripts/run.sh

test: ## Set up what is missing and run every check and test
	@bash scripts/test.sh

setup: ## Set up what is missing: toolchain, runtime, web build tools
	@bash scripts/setup.sh

fmt: ## Format the Rust code
	@cargo fmt --all

lint: ## Check formatting, clippy and the documentation
	@bash scripts/lint.sh

deny: ## Check the dependencies' licences, sources and security advisories
	@bash scripts/deny.sh

bench: ## Measure recall, ingest, start and memory; prints a table
	@bash scripts/bench.sh

eval: ## Measure the quality of retrieval
	@bash scripts/eval.sh
