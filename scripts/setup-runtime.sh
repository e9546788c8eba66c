#!/usr/bin/env bash
# Fetches PostgreSQL, ONNX Runtime and embedding models: scripts/setup-runtime.sh [MODEL,MODEL...]
#
# They go to POLYMNEMO_RUNTIME_DIR, else to `runtime` in the data directory. Without an argument the model is the one
# that the server is set to use.
. "$(dirname "$0")/lib.sh"

have python3 || fail "python3 is missing: run scripts/setup-toolchain.sh"

models=${1:-$(setting POLYMNEMO_EMBED_MODEL multilingual-e5-small)}
# A model in a directory of one's own needs none fetched.
if [ $# = 0 ] && [ -n "$(setting POLYMNEMO_EMBED_MODEL_DIR)" ]; then models=; fi

say "runtime in $(runtime_dir)"
PYTHONDONTWRITEBYTECODE=1 python3 server/setup/fetch_runtime.py --into "$(runtime_dir)" --models "$models"
