#!/usr/bin/env bash
# Sets up everything that is missing; it can be interrupted and repeated: scripts/setup.sh [MODEL,MODEL...]
. "$(dirname "$0")/lib.sh"

bash scripts/setup-toolchain.sh
bash scripts/setup-runtime.sh "$@"
bash scripts/setup-web.sh
