#!/usr/bin/env bash
# Checks the dependencies: scripts/deny.sh [CHECK...], by default licences, bans, sources and security advisories.
# The advisories are a git repository that is fetched; `scripts/deny.sh licenses bans sources` needs no network.
. "$(dirname "$0")/lib.sh"

cargo deny --version >/dev/null 2>&1 || bash scripts/setup-cargo-tool.sh deny
say "cargo deny"
cargo deny --log-level error check "$@"
