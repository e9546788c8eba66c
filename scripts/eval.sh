#!/usr/bin/env bash
# Measures the quality of retrieval through the real service and prints a table. Arguments go to the evaluation, which
# says where it looks for its data and ends quietly where there is none.
. "$(dirname "$0")/lib.sh"

bash scripts/setup-toolchain.sh
bash scripts/setup-runtime.sh multilingual-e5-small,all-MiniLM-L6-v2,use-multilingual-v3
POLYMNEMO_RUNTIME_DIR=$(runtime_dir)
export POLYMNEMO_RUNTIME_DIR
cargo bench --package polymnemo --bench retrieval -- "$@"
