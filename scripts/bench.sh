#!/usr/bin/env bash
# Measures the server through its HTTP endpoint and prints a table. Arguments go to the benchmark.
. "$(dirname "$0")/lib.sh"

bash scripts/setup-toolchain.sh
bash scripts/setup-runtime.sh multilingual-e5-small,all-MiniLM-L6-v2
POLYMNEMO_RUNTIME_DIR=$(runtime_dir)
export POLYMNEMO_RUNTIME_DIR
cargo bench --package polymnemo --bench performance -- "$@"
