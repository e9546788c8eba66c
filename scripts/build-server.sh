#!/usr/bin/env bash
# Builds the server and the programs that its tests need beside it, for tests: target/debug/polymnemo and
# target/debug/examples. With the features that the tests are built with, so that nothing is compiled twice.
. "$(dirname "$0")/lib.sh"

say "building the server"
cargo build --quiet "${host_crates[@]}" --bin polymnemo --example conformance --example github
